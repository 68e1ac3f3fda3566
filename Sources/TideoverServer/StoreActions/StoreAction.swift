import TideoverAppStore
import TideoverCore
import TideoverGooglePlay

/// A change of one purchase that the operator requests from its store.
enum StoreAction: Hashable, Sendable {
    case extend(days: Int64, RenewalExtension.Reason)
    case accountToken(String)
    case consumption(ConsumptionInformation)
    case cancel(PlayAPI.Cancellation)
    case postpone(days: Int64)
    case revoke(PlayAPI.Refund)
    case refund(revokes: Bool)

    enum Kind: String, CaseIterable, Hashable, Sendable {
        case extend, accountToken, consumption, cancel
        case postpone = "defer"
        case revoke, refund

        /// The store that has this action.
        var store: Store {
            switch self {
            case .extend, .accountToken, .consumption: .appStore
            case .cancel, .postpone, .revoke, .refund: .googlePlay
            }
        }

        /// The required authorisation, so that a leaked secret key cannot refund money.
        var need: Need {
            switch self {
            // Payments deferred for a year are effectively refunded.
            case .revoke, .refund, .postpone: .admin
            case .extend, .accountToken, .consumption, .cancel: .secret
            }
        }

        /// Whether a second execution changes nothing more than the first.
        var isRepeatable: Bool {
            switch self {
            case .extend, .postpone: false
            case .accountToken, .consumption, .cancel, .revoke, .refund: true
            }
        }

        /// Whether the store's responses about the purchase change.
        var changesPurchase: Bool { self != .consumption }
    }

    var kind: Kind {
        switch self {
        case .extend: .extend
        case .accountToken: .accountToken
        case .consumption: .consumption
        case .cancel: .cancel
        case .postpone: .postpone
        case .revoke: .revoke
        case .refund: .refund
        }
    }

    /// The complete action in one line. Two actions of one kind with the same line are the same
    /// request.
    var detail: String {
        switch self {
        case .extend(let days, let reason): "by \(days) days, reason \(reason)"
        case .accountToken(let token): "to \(token)"
        case .consumption(let information): information.line
        case .cancel(let cancellation): "stops \(cancellation)"
        case .postpone(let days): "by \(days) days"
        case .revoke(.full): "with a full refund"
        case .revoke(.prorated): "with a prorated refund"
        case .revoke(.item(let product)): "with a refund of \(product)"
        case .refund(let revokes): revokes ? "and ends access" : "and leaves access"
        }
    }
}

extension ConsumptionInformation {
    /// The complete information in one line.
    var line: String {
        var parts = ["\(deliveryStatus)"]
        if let consumptionPercentage { parts.append("consumed \(consumptionPercentage) of 100000") }
        if let refundPreference { parts.append("prefers \(refundPreference)") }
        if sampleContentProvided { parts.append("sample provided") }
        return parts.joined(separator: ", ")
    }
}
