import TideoverJSON

/// A random generator with the same numbers in every run.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }
}

/// Documents of the size and shape of the App Store's, with invalid signatures.
enum Notification {
    /// Returns the common header of one leaf's documents: three certificates of realistic sizes.
    static func header(_ random: inout SplitMix) -> JSONObject {
        let chain = [1_068, 772, 593].map { size in
            JSONValue.string(Base64.encodeString(random.bytes(size), .standard))
        }
        return ["alg": "ES256", "x5c": .array(chain)]
    }

    static func jws(
        _ payload: JSONObject,
        header: JSONObject,
        _ random: inout SplitMix
    ) -> String {
        [
            JSONValue.object(header).encoded(), JSONValue.object(payload).encoded(),
            random.bytes(64),
        ].map { Base64.encodeString($0, .urlSafe) }.joined(separator: ".")
    }

    /// Returns the body of a notification as posted: about 19 KB.
    static func body(seed: UInt64) -> [UInt8] {
        var random = SplitMix(seed: seed)
        let header = header(&random)
        let payload: JSONObject = [
            "notificationType": "DID_RENEW",
            "notificationUUID": .string("002e14d5-51f5-4503-b5a8-c3a1af68eb20"),
            "version": "2.0",
            "signedDate": .integer(1_777_000_000_000),
            "data": .object([
                "appAppleId": .integer(1_234_567_890),
                "bundleId": "com.example.cards",
                "bundleVersion": "1.2.3",
                "environment": "Production",
                "signedTransactionInfo": .string(jws(transaction, header: header, &random)),
                "signedRenewalInfo": .string(jws(renewal, header: header, &random)),
                "status": .integer(1),
            ]),
        ]
        return JSONValue.object(["signedPayload": .string(jws(payload, header: header, &random))])
            .encoded()
    }

    private static let transaction: JSONObject = [
        "transactionId": "2000000000000002",
        "originalTransactionId": "2000000000000001",
        "webOrderLineItemId": "2000000000000077",
        "bundleId": "com.example.cards",
        "productId": "cards.pro.monthly",
        "subscriptionGroupIdentifier": "20700000",
        "purchaseDate": .integer(1_777_000_000_000),
        "originalPurchaseDate": .integer(1_774_000_000_000),
        "expiresDate": .integer(1_779_600_000_000),
        "quantity": .integer(1),
        "type": "Auto-Renewable Subscription",
        "appAccountToken": "7e3fb204-0000-4000-8000-d125cc743b60",
        "inAppOwnershipType": "PURCHASED",
        "signedDate": .integer(1_777_000_000_500),
        "environment": "Production",
        "transactionReason": "RENEWAL",
        "storefront": "USA",
        "storefrontId": "143441",
        "price": .integer(9_990),
        "currency": "USD",
        "appTransactionId": "704000000000000000",
    ]

    private static let renewal: JSONObject = [
        "originalTransactionId": "2000000000000001",
        "autoRenewProductId": "cards.pro.monthly",
        "productId": "cards.pro.monthly",
        "autoRenewStatus": .integer(1),
        "renewalPrice": .integer(9_990),
        "currency": "USD",
        "signedDate": .integer(1_777_000_000_500),
        "environment": "Production",
        "recentSubscriptionStartDate": .integer(1_774_000_000_000),
        "renewalDate": .integer(1_779_600_000_000),
        "appAccountToken": "7e3fb204-0000-4000-8000-d125cc743b60",
        "appTransactionId": "704000000000000000",
    ]
}
