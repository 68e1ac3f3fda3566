import TideoverAppStore
import TideoverCore
import TideoverJSON

/// Writes App Store payloads for one app, in a fake JWS that `check` accepts. The fake proves
/// nothing: other targets test signature verification.
enum FakeStore {
    static let bundleId = "com.example.cards"
    static let appAppleId: Int64 = 1_234_567_890
    static let start: Int64 = 1_777_000_000_000
    static let end: Int64 = start + 30 * 86_400_000

    static func reader(_ environments: Set<Environment> = [.production, .sandbox]) -> AppStoreReader
    {
        AppStoreReader(
            app: AppStoreIdentity(
                bundleId: bundleId,
                appAppleId: appAppleId,
                environments: environments
            )
        )
    }

    /// Returns a check that accepts any fake JWS as signed by an authority.
    static func check(as authority: Authority = .appStore) -> SignatureCheck {
        { jws in
            let parts = jws.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            guard parts.count == 3, let payload = Base64.decode(parts[1], .urlSafe) else {
                throw BrokenSeal()
            }
            return VerifiedPayload(payload: try JSONDocument(payload), authority: authority)
        }
    }

    struct BrokenSeal: Error {}

    static func seal(_ payload: JSONObject) -> String {
        "e30." + Base64.encodeString(JSONValue.object(payload).encoded(), .urlSafe) + ".AA"
    }

    static func body(_ payload: JSONObject) -> [UInt8] {
        JSONValue.object(["signedPayload": .string(seal(payload))]).encoded()
    }

    // MARK: Payloads

    /// The second period of a monthly subscription, signed a second into it.
    static func transaction(_ changes: JSONObject = [:]) -> JSONObject {
        let usual: JSONObject = [
            "transactionId": "2000000000000002", "originalTransactionId": "2000000000000001",
            "webOrderLineItemId": "3000000000000002", "bundleId": .string(bundleId),
            "productId": "cards.pro.monthly", "subscriptionGroupIdentifier": "20000001",
            "purchaseDate": .integer(start), "originalPurchaseDate": .integer(start - 86_400_000),
            "expiresDate": .integer(end), "quantity": 1, "type": "Auto-Renewable Subscription",
            "appAccountToken": "7E3FB20B-4CDB-47CC-936D-99D65F608138",
            "inAppOwnershipType": "PURCHASED", "signedDate": .integer(start + 1000),
            "environment": "Production", "transactionReason": "RENEWAL", "storefront": "USA",
            "storefrontId": "143441", "price": 9990, "currency": "USD",
        ]
        return usual.changed(by: changes)
    }

    static func renewalInfo(_ changes: JSONObject = [:]) -> JSONObject {
        let usual: JSONObject = [
            "originalTransactionId": "2000000000000001", "productId": "cards.pro.monthly",
            "autoRenewProductId": "cards.pro.monthly", "autoRenewStatus": 1,
            "renewalDate": .integer(end), "renewalPrice": 9990, "currency": "USD",
            "signedDate": .integer(start + 2000), "environment": "Production",
        ]
        return usual.changed(by: changes)
    }

    static func notification(
        _ type: String,
        _ subtype: String? = nil,
        transaction: JSONObject? = transaction(),
        renewalInfo: JSONObject? = renewalInfo(),
        data changes: JSONObject = [:],
        outer: JSONObject = [:]
    ) -> JSONObject {
        var data: JSONObject = [
            "appAppleId": .integer(appAppleId), "bundleId": .string(bundleId),
            "bundleVersion": "1", "environment": "Production",
        ]
        if renewalInfo != nil { data["status"] = 1 }
        data["signedTransactionInfo"] = transaction.map { .string(seal($0)) }
        data["signedRenewalInfo"] = renewalInfo.map { .string(seal($0)) }
        let usual: JSONObject = [
            "notificationType": .string(type), "subtype": subtype.map { .string($0) } ?? .null,
            "notificationUUID": "002e14d5-51f5-4503-b5a8-c3a1af68eb20", "version": "2.0",
            "signedDate": .integer(start + 3000), "data": .object(data.changed(by: changes)),
        ]
        return usual.changed(by: outer)
    }

    // MARK: Readings

    static func read(
        _ payload: JSONObject,
        as authority: Authority = .appStore,
        for environments: Set<Environment> = [.production, .sandbox]
    ) throws -> AppStoreReading {
        try reader(environments).read(body(payload), check: check(as: authority))
    }

    static func facts(
        _ payload: JSONObject,
        as authority: Authority = .appStore,
        for environments: Set<Environment> = [.production, .sandbox]
    ) throws -> [Fact] {
        try read(payload, as: authority, for: environments).facts(
            learnedAt: Instant(millisecondsSince1970: start + 9000),
            source: .appStoreNotification,
            evidence: EvidenceID(hex: "00")
        )
    }
}

extension JSONObject {
    /// Returns the object with changed members; null removes a member. (A `nil` beside a JSON value
    /// would be a null.)
    func changed(by changes: JSONObject) -> JSONObject {
        changes.reduce(into: self) { $0[$1.key] = $1.value.isNull ? .none : $1.value }
    }
}

extension [Fact] {
    /// The kinds of fact, in order.
    var kinds: [String] { map(\.assertion.word) }

    var terms: [Term] {
        compactMap { if case .term(let term) = $0.assertion { term } else { nil } }
    }

    var outlooks: [Outlook] {
        compactMap { if case .outlook(let outlook) = $0.assertion { outlook } else { nil } }
    }

    var conditions: [Condition] {
        compactMap { if case .condition(let condition) = $0.assertion { condition } else { nil } }
    }

    var revocations: [Revocation] {
        compactMap {
            if case .revocation(let revocation) = $0.assertion { revocation } else { nil }
        }
    }

    var unrecognised: [Unrecognised] {
        compactMap { if case .unrecognised(let word) = $0.assertion { word } else { nil } }
    }
}
