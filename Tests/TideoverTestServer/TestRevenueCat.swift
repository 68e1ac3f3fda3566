import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverRevenueCat
import TideoverSQLite
import TideoverServer
import TideoverStorage

/// A simulated RevenueCat for tests: its webhooks, its responses, and the queries it received. Its
/// wire format is written by hand from its documentation.
final class TestRevenueCat: Sendable {
    static let authorization = "Bearer of the dashboard"
    static let start: Instant = "2026-05-01T10:00:00Z"
    static let end: Instant = "2026-06-01T10:00:00Z"

    private let answers = Locked<[String: Response]>([:])
    private let asked = Locked<[String]>([])

    /// The customers of the queries, in order.
    var questions: [String] { asked.withLock { $0 } }

    func answer(_ customer: String, _ response: Response) {
        answers.withLock { $0[customer] = response }
    }

    /// Returns the trust in its webhooks, and in its API if it answers.
    func trust(
        asks: Bool = false,
        signatureSecret: String? = nil,
        catalogue: Catalogue = TestServer.catalogue
    ) -> RevenueCatTrust {
        let api = RevenueCatAPI(
            key: "sk_test",
            clock: { Self.end },
            handler: { self.respond(to: $0) }
        )
        return RevenueCatTrust(
            environments: [.production, .sandbox, .simulated],
            catalogue: catalogue,
            authorization: Self.authorization,
            signatureSecret: signatureSecret.map { Array($0.utf8) },
            api: asks ? api : nil
        )
    }

    private func respond(to request: Request) -> Response {
        let customer = request.segments?.last ?? ""
        asked.withLock { $0.append(customer) }
        return answers.withLock { $0[customer] } ?? Response(status: 503)
    }

    // MARK: Webhooks

    static func ms(_ instant: Instant) -> JSONValue { .integer(instant.millisecondsSince1970) }

    /// Returns an event about a first month of `cards.pro.monthly` in the App Store's sandbox, with
    /// changes; null removes a member.
    static func event(
        _ type: String,
        id: String,
        at timestamp: Instant = start,
        _ changes: JSONObject = [:]
    ) -> JSONObject {
        var event: JSONObject = [
            "type": .string(type), "id": .string(id), "event_timestamp_ms": ms(timestamp),
            "app_user_id": .string(TestServer.anna),
            "original_app_user_id": .string(TestServer.anna),
            "aliases": [.string(TestServer.anna)], "product_id": "cards.pro.monthly",
            "entitlement_ids": ["premium"], "period_type": "NORMAL",
            "purchased_at_ms": ms(start), "expiration_at_ms": ms(end), "store": "APP_STORE",
            "environment": "SANDBOX", "transaction_id": "2000000000000001",
            "original_transaction_id": "2000000000000001",
        ]
        for (name, value) in changes { event[name] = value.isNull ? .none : value }
        return event
    }

    /// The changes for a Google Play purchase, under the order in the responses of ``TestPlay``.
    static let play: JSONObject = [
        "store": "PLAY_STORE", "product_id": "cards.pro.monthly:base",
        "transaction_id": "GPA.1..0", "original_transaction_id": "GPA.1",
    ]

    static func request(
        _ event: JSONObject,
        headers: Headers = ["Authorization": authorization]
    ) -> Request {
        let body: JSONValue = ["api_version": "1.0", "event": .object(event)]
        return request(body.encoded(), headers: headers)
    }

    static func request(
        _ body: [UInt8],
        headers: Headers = ["Authorization": authorization]
    ) -> Request {
        Request(
            method: "POST",
            path: "/v1/apps/cards/notifications/revenuecat",
            headers: headers,
            body: body
        )
    }

    // MARK: Responses

    /// Returns a response about a customer with one subscription, with changes to it.
    static func answer(
        _ customer: String = TestServer.anna,
        at asked: Instant = "2026-05-10T10:00:00Z",
        _ changes: JSONObject = [:]
    ) -> [UInt8] {
        var subscription: JSONObject = [
            "purchase_date": .string(start.rfc3339), "expires_date": .string(end.rfc3339),
            "period_type": "normal", "store": "app_store", "is_sandbox": true,
            "ownership_type": "PURCHASED", "store_transaction_id": "2000000000000001",
        ]
        for (name, value) in changes { subscription[name] = value.isNull ? .none : value }
        let entitlement: JSONValue = [
            "product_identifier": "cards.pro.monthly",
            "expires_date": subscription["expires_date"] ?? .null,
        ]
        let answer: JSONValue = [
            "request_date_ms": ms(asked), "request_date": .string(asked.rfc3339),
            "subscriber": [
                "original_app_user_id": .string(customer),
                "subscriptions": ["cards.pro.monthly": .object(subscription)],
                "entitlements": ["premium": entitlement],
            ],
        ]
        return answer.encoded()
    }
}

extension TestServer {
    /// Returns the response to a webhook: its status and outcome.
    func hear(_ event: JSONObject) async throws -> String {
        try await hear(TestRevenueCat.request(event))
    }

    func hear(_ request: Request) async throws -> String {
        let response = try await service.handler(request)
        let root = try JSONDocument(response.body).root
        let word = (root["type"] ?? root["status"])?.string ?? ""
        return "\(response.status) \(word.split(separator: "/").last ?? "")"
    }

    /// Returns all stored facts, by lineage.
    func facts(_ environment: Environment = .sandbox) throws -> [Fact] {
        try storage.lineages(in: AppScope("cards", environment), after: nil, limit: 1000)
            .flatMap(\.facts)
    }
}
