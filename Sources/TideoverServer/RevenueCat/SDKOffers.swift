import TideoverAppStore
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverRevenueCat
import TideoverSignatures
import TideoverStorage

// Introductory and promotional offers, for apps on iOS.

extension SDKVisit {
    /// Answers whether the customer can get the introductory offer of each product; null if the
    /// server does not know.
    func introductoryEligibility() async throws -> Response {
        let user = try SDKUserID(call["id"])
        let products = try SDKEligibilityRequest(request.body).products
        let eligibility = try await eligibility(of: user, for: products)
        return SDKResponse(at: now).json { writer in
            for (product, isEligible) in zip(products, eligibility) {
                writer.field(product, isEligible)
            }
        }
    }

    private func eligibility(of user: SDKUserID, for products: [String]) async throws -> [Bool?] {
        try await onPool {
            let history = try Reading(key(of: user.customer, in: app.usualEnvironment), self)
                .history
            return products.map { product in
                guard let group = app.catalogue[product]?.group else { return nil }
                switch history.introductoryEligibility(in: group, of: .appStore, at: now) {
                case .eligible: return true
                case .used: return false
                case .unknown: return nil
                }
            }
        }
    }

    /// Signs promotional offers with the app's In-App Purchase key.
    ///
    /// The key of an SDK is public, so only offers that the configuration lists are signed, and a
    /// sender has a budget of signatures.
    func offers() throws -> Response {
        guard let access = service.access[app.id]?.first, !sdk.promotionalOffers.isEmpty else {
            throw SDKError.noOfferKey
        }
        let wanted = try SDKOfferRequest(request.body)
        try spend(on: wanted.offers.filter(isOffered).count)
        let account = account(of: wanted.user)
        let signatures = try wanted.offers.map { try sign($0, account, access) }
        return SDKResponse(at: now).json { writer in
            writer.field("offers", objects: zip(wanted.offers, signatures)) { row, writer in
                let (offer, signed) = row
                guard let signed else {
                    let keyId = access.key.keyId
                    SDKPromotionalOffer.writeRefusal(
                        of: offer,
                        keyId: keyId,
                        to: &writer
                    )
                    return
                }
                signed.offer.writeMembers(to: &writer, signature: signed.signature)
            }
        }
    }

    /// Charges the sender for signatures.
    private func spend(on signatures: Int) throws {
        let sender = context.rateLimiter.sender(of: request, to: app.id, for: .offer)
        if let objection = context.rateLimiter.objection(to: sender) {
            throw SDKError.tooManyRequests(retryAfter: objection.retryAfter ?? 1)
        }
        for _ in 0..<signatures { context.rateLimiter.charge(sender) }
    }

    private func isOffered(_ wanted: SDKOfferRequest.Wanted) -> Bool {
        sdk.promotionalOffers.contains(wanted.offer)
            && app.catalogue.sells(wanted.product, in: .appStore)
    }

    /// Returns a signed offer; nil for one that is not configured, or for an unknown product.
    private func sign(
        _ wanted: SDKOfferRequest.Wanted,
        _ account: String,
        _ access: StoreAccess
    ) throws -> (offer: SDKPromotionalOffer, signature: [UInt8])? {
        guard isOffered(wanted) else { return nil }
        let offer = SDKPromotionalOffer(
            wanted,
            keyId: access.key.keyId,
            nonce: UUIDText.random(context.random),
            signedAt: now
        )
        let message = offer.message(bundleId: access.key.bundleId, account: account)
        return (offer, ECDSASignature.der(raw: try access.signer(message)))
    }

    /// Returns what the SDK sets as the account of a payment: the app user id under StoreKit 1, and
    /// under StoreKit 2 only one that is a UUID.
    private func account(of user: SDKUserID) -> String {
        let text = user.customer.text
        let isNew = request.headers["X-StoreKit-Version"].map { $0 == "2" }
        guard isNew ?? (request.headers["X-StoreKit2-Enabled"] == "true") else { return text }
        return UUIDText.isUUID(text) ? text.lowercased() : ""
    }
}

/// UUIDs as text.
private enum UUIDText {
    private static let groups = [8, 4, 4, 4, 12]

    /// Returns a UUID of version 4 in lower case.
    static func random(_ random: () -> UInt64) -> String {
        var digits = Array(hexadecimal(random()) + hexadecimal(random()))
        digits[12] = "4"
        digits[16] = "a"
        var rest = digits[...]
        return groups.map { count in
            defer { rest = rest.dropFirst(count) }
            return String(rest.prefix(count))
        }
        .joined(separator: "-")
    }

    static func isUUID(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.utf8.count) == groups
            && parts.joined().utf8.allSatisfy {
                $0 &- UInt8(ascii: "0") < 10 || ($0 | 0x20) &- UInt8(ascii: "a") < 6
            }
    }

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
