import TideoverCore
import TideoverGooglePlay
import TideoverJSON

/// Content in Google Play's format, and its facts from the reader.
enum FakeStore {
    static let start = at("2026-05-01T00:00:00Z")
    static let end = at("2026-06-01T00:00:00Z")
    static let lineage = Lineage(store: .googlePlay, environment: .production, id: "#token")
    static let reader = reader(in: [.production, .sandbox])

    static func at(_ text: String) -> Instant { Instant(rfc3339: text) ?? .distantPast }

    static func reader(in environments: Set<Environment>, isSimulated: Bool = false) -> PlayReader {
        PlayReader(
            app: PlayIdentity(
                packageName: "com.example.cards",
                environments: environments,
                isSimulated: isSimulated
            ),
            naming: { PlayToken("#" + $0) }
        )
    }

    /// An exchange of one second, answered at `asked` plus one second by both clocks.
    static func exchange(_ asked: Instant) -> StoreExchange {
        StoreExchange(
            askedAt: asked,
            answeredAt: asked + .seconds(1),
            dated: asked + .seconds(1)
        )
    }

    /// A plain monthly subscription, with changes; null removes a member.
    static func subscription(
        _ changes: JSONObject = [:],
        item: JSONObject = [:]
    ) -> JSONObject {
        var line: JSONObject = [
            "productId": "play", "expiryTime": "2026-06-01T00:00:00Z",
            "latestSuccessfulOrderId": "GPA.1",
            "autoRenewingPlan": [
                "autoRenewEnabled": true,
                "recurringPrice": ["currencyCode": "USD", "units": "9", "nanos": 990_000_000],
            ],
            "offerDetails": ["basePlanId": "monthly"], "offerPhase": ["basePrice": [:]],
        ]
        for (name, value) in item { line[name] = value.isNull ? .none : value }
        var purchase: JSONObject = [
            "kind": "androidpublisher#subscriptionPurchaseV2", "regionCode": "DE",
            "startTime": "2026-05-01T00:00:00Z", "subscriptionState": "SUBSCRIPTION_STATE_ACTIVE",
            "acknowledgementState": "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED",
            "lineItems": [.object(line)],
        ]
        for (name, value) in changes { purchase[name] = value.isNull ? .none : value }
        return purchase
    }

    static func product(_ changes: JSONObject = [:], offer: JSONObject = [:]) -> JSONObject {
        var purchase: JSONObject = [
            "kind": "androidpublisher#productPurchaseV2", "orderId": "GPA.9", "regionCode": "DE",
            "purchaseStateContext": ["purchaseState": "PURCHASED"],
            "purchaseCompletionTime": "2026-05-01T00:00:00Z",
            "acknowledgementState": "ACKNOWLEDGEMENT_STATE_PENDING",
            "productLineItem": [["productId": "lifetime", "productOfferDetails": .object(offer)]],
        ]
        for (name, value) in changes { purchase[name] = value.isNull ? .none : value }
        return purchase
    }

    /// Returns the facts of a response to a request at an instant.
    static func read(
        _ answer: JSONObject,
        _ kind: PlayRead.Kind = .subscription,
        of token: String? = "token",
        at asked: Instant = start + .days(1),
        chains: PlayChains = PlayChains(),
        by reader: PlayReader = FakeStore.reader
    ) throws -> PlayReading {
        let kept = try PlayRead(keptBytes(kind, token, exchange(asked), answer))
        return try reader.read(kept, chains: chains)
    }

    private static func keptBytes(
        _ kind: PlayRead.Kind,
        _ token: String?,
        _ exchange: StoreExchange,
        _ answer: JSONObject
    ) -> [UInt8] {
        let record: JSONObject = [
            "googlePlay": .string(kind.rawValue), "packageName": "com.example.cards",
            "purchaseToken": token.map { .string($0) } ?? .null,
            "askedAt": .string(exchange.askedAt.rfc3339),
            "answeredAt": .string(exchange.answeredAt.rfc3339),
            "dated": exchange.dated.map { .string($0.rfc3339) } ?? .null,
            "answer": .object(answer),
        ]
        return JSONValue.object(record).encoded()
    }

    static func facts(_ reading: PlayReading, at learnedAt: Instant) -> [Fact] {
        reading.facts(learnedAt: learnedAt, evidence: EvidenceID(hex: learnedAt.rfc3339))
    }

    static func notification(
        _ member: String,
        _ content: JSONObject,
        at said: Instant = start,
        package: String = "com.example.cards"
    ) throws -> DeveloperNotification {
        let object: JSONObject = [
            "version": "1.0", "packageName": .string(package),
            "eventTimeMillis": .string("\(said.millisecondsSince1970)"),
            member: .object(content),
        ]
        return try DeveloperNotification(
            payload: JSONDocument(JSONValue.object(object).encoded()).root
        )
    }
}
