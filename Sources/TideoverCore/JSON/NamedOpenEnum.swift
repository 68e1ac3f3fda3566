import TideoverJSON

/// A value of the store's vocabulary that this version may not recognise.
///
/// In JSON a recognised value is its own name. An unrecognised one is the store's text after a `?`,
/// so that nothing is lost or mistaken for one of our names.
protocol NamedOpenEnum: Hashable, FormText {
    static var words: [(String, Self)] { get }
    static func unrecognised(_ value: String) -> Self
    var unrecognisedValue: String? { get }
}

extension NamedOpenEnum {
    package init?(formText: String) { self.init(word: formText) }

    package var formText: String { word }

    package init(written json: inout WrittenJSON) throws(WrittenJSON.Mismatch) {
        let text = try json.utf8()
        if text.first == UInt8(ascii: "?") {
            self = .unrecognised(String(decoding: text.dropFirst(), as: UTF8.self))
        } else if let known = Self.words.first(where: { $0.0.isWritten(as: text) }) {
            self = known.1
        } else {
            throw WrittenJSON.Mismatch()
        }
    }

    var word: String {
        if let unrecognisedValue { return "?\(unrecognisedValue)" }
        return Self.words.first { $0.1 == self }?.0 ?? ""
    }

    init?(word: String) {
        if word.hasPrefix("?") {
            self = .unrecognised(String(word.dropFirst()))
        } else if let known = Self.words.first(where: { $0.0 == word }) {
            self = known.1
        } else {
            return nil
        }
    }
}

extension Term.Plan: NamedOpenEnum {
    static let words: [(String, Self)] = [
        ("autoRenewable", .autoRenewable), ("nonRenewing", .nonRenewing),
        ("nonConsumable", .nonConsumable), ("consumable", .consumable),
    ]

    var unrecognisedValue: String? {
        if case .unrecognised(let value) = self { value } else { nil }
    }
}

extension Offer.Kind: NamedOpenEnum {
    static let words: [(String, Self)] = [
        ("introductory", .introductory), ("promotional", .promotional), ("code", .code),
        ("winBack", .winBack),
    ]

    var unrecognisedValue: String? {
        if case .unrecognised(let value) = self { value } else { nil }
    }
}

extension Offer.Discount: NamedOpenEnum {
    static let words: [(String, Self)] = [
        ("freeTrial", .freeTrial), ("payAsYouGo", .payAsYouGo), ("payUpFront", .payUpFront),
        ("oneTime", .oneTime),
    ]

    var unrecognisedValue: String? {
        if case .unrecognised(let value) = self { value } else { nil }
    }
}

extension Outlook.Lapse: NamedOpenEnum {
    static let words: [(String, Self)] = [
        ("cancelled", .cancelled), ("billingError", .billingError),
        ("priceIncrease", .priceIncrease), ("productUnavailable", .productUnavailable),
        ("other", .other), ("paused", .paused),
    ]

    var unrecognisedValue: String? {
        if case .unrecognised(let value) = self { value } else { nil }
    }
}

extension Condition.Status: NamedOpenEnum {
    static let words: [(String, Self)] = [
        ("active", .active), ("expired", .expired), ("retry", .retry), ("grace", .grace),
        ("revoked", .revoked),
    ]

    var unrecognisedValue: String? {
        if case .unrecognised(let value) = self { value } else { nil }
    }
}

extension Revocation.Cause: NamedOpenEnum {
    static let words: [(String, Self)] = [
        ("refund", .refund), ("proratedRefund", .proratedRefund),
        ("familyAccessRemoved", .familyAccessRemoved), ("assignmentRemoved", .assignmentRemoved),
        ("withdrawn", .withdrawn),
    ]

    var unrecognisedValue: String? {
        if case .unrecognised(let value) = self { value } else { nil }
    }
}

extension Term.Billing: NamedOpenEnum {
    static let words: [(String, Self)] = [
        ("upfront", .upfront),
        ("monthly", .monthly),
    ]

    var unrecognisedValue: String? {
        if case .unrecognised(let value) = self { value } else { nil }
    }
}

extension Inquiry.Outcome: NamedOpenEnum {
    static let words: [(String, Self)] = [
        ("answered", .answered),
        ("gone", .gone),
        ("unreachable", .unreachable),
        ("refused", .refused),
        ("throttled", .throttled),
    ]

    var unrecognisedValue: String? {
        if case .unrecognised(let value) = self { value } else { nil }
    }
}

extension PlaySubscription.State: NamedOpenEnum {
    static let words: [(String, Self)] = [
        ("pending", .pending),
        ("active", .active),
        ("paused", .paused),
        ("inGrace", .inGrace),
        ("onHold", .onHold),
        ("cancelled", .cancelled),
        ("expired", .expired),
        ("pendingCancelled", .pendingCancelled),
    ]

    var unrecognisedValue: String? {
        if case .unrecognised(let value) = self { value } else { nil }
    }
}

extension PlaySubscription.Cancellation: NamedOpenEnum {
    static let words: [(String, Self)] = [
        ("customer", .customer),
        ("system", .system),
        ("developer", .developer),
        ("replacement", .replacement),
    ]

    var unrecognisedValue: String? {
        if case .unrecognised(let value) = self { value } else { nil }
    }
}

extension PlayItem.Phase: NamedOpenEnum {
    static let words: [(String, Self)] = [
        ("base", .base),
        ("freeTrial", .freeTrial),
        ("introductory", .introductory),
        ("proration", .proration),
    ]

    var unrecognisedValue: String? {
        if case .unrecognised(let value) = self { value } else { nil }
    }
}

extension PlayItem.PriceChange.State: NamedOpenEnum {
    static let words: [(String, Self)] = [
        ("awaitsConsent", .awaitsConsent),
        ("announced", .announced),
        ("confirmed", .confirmed),
        ("applied", .applied),
        ("cancelled", .cancelled),
    ]

    var unrecognisedValue: String? {
        if case .unrecognised(let value) = self { value } else { nil }
    }
}

extension PlayPurchase.State: NamedOpenEnum {
    static let words: [(String, Self)] = [
        ("purchased", .purchased),
        ("pending", .pending),
        ("cancelled", .cancelled),
    ]

    var unrecognisedValue: String? {
        if case .unrecognised(let value) = self { value } else { nil }
    }
}

extension PlayNotice.Kind: NamedOpenEnum {
    static let words: [(String, Self)] = [
        ("recovered", .recovered),
        ("renewed", .renewed),
        ("cancelled", .cancelled),
        ("purchased", .purchased),
        ("onHold", .onHold),
        ("inGrace", .inGrace),
        ("restarted", .restarted),
        ("deferred", .deferred),
        ("paused", .paused),
        ("pauseScheduled", .pauseScheduled),
        ("revoked", .revoked),
        ("expired", .expired),
        ("itemsChanged", .itemsChanged),
        ("cancellationScheduled", .cancellationScheduled),
        ("priceChanged", .priceChanged),
        ("pendingCancelled", .pendingCancelled),
        ("oneTimePurchased", .oneTimePurchased),
        ("oneTimeCancelled", .oneTimeCancelled),
        ("presented", .presented),
    ]

    var unrecognisedValue: String? {
        if case .unrecognised(let value) = self { value } else { nil }
    }
}
