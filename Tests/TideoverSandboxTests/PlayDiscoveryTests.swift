import Foundation
import Testing
import TideoverHTTP
import TideoverJSON
import TideoverSandbox

/// Compares the simulated API's answers with Google's own description of it, and with ours. Each
/// must contain every member of every answer, with the same type.
struct PlayDiscoveryTests {
    @Test(
        .enabled(
            if: Discovery.isPresent,
            "Google's discovery documents are not beside the project"
        )
    )
    func `every response of the API conforms to its description`() async throws {
        try await check(Discovery("androidpublisher__v3"), queue: Discovery("pubsub__v1"))
    }

    @Test func `every response of the API has only documented fields`() async throws {
        let documented = try Discovery(schemas: DocumentedPlay.schemas())
        try await check(documented, queue: documented)
    }

    private func check(_ publisher: Discovery, queue: Discovery) async throws {
        let client = try await PlayClient()
        let store = client.store
        try await store.perform(
            .subscribe(to: [GooglePlayChoice("cards.pro")], payment: .prompt, from: .app),
            by: "anna"
        )
        try await store.perform(
            .buy(product: "cards.lifetime", quantity: 1, payment: .prompt),
            by: "anna"
        )
        let tokens = await store.tokens(of: "anna")
        let (subscription, product) = (tokens[0], tokens[1])
        for token in tokens { try await store.write(.acknowledge(token: token)) }
        let order = try #require(await store.newestOrder(of: subscription))
        let path = "purchases/subscriptionsv2/tokens/\(subscription)"
        func check(
            _ schema: String,
            _ path: String,
            _ method: String = "GET",
            _ body: JSONObject? = nil
        ) async throws {
            let answer = try await client.answer(method, path, body)
            #expect(publisher.faults(in: answer, of: schema) == [], "\(path)")
        }
        try await check("SubscriptionPurchaseV2", path)
        try await check("ProductPurchaseV2", "purchases/productsv2/tokens/\(product)")
        try await check("ProductPurchase", "purchases/products/cards.lifetime/tokens/\(product)")
        try await check("Order", "orders/\(order)")
        try await check("ListSubscriptionsResponse", "subscriptions")
        try await check("BatchGetOrdersResponse", "orders:batchGet?orderIds=\(order)")
        let read = try await client.answer("GET", path)
        let context: JSONObject = [
            "deferDuration": "864000s", "etag": read["etag"] ?? .null, "validateOnly": true,
        ]
        try await check(
            "DeferSubscriptionPurchaseResponse",
            "\(path):defer",
            "POST",
            ["deferralContext": .object(context)]
        )
        try await store.perform(.failPayments, by: "anna")
        for _ in 0..<3 {
            try await client.pass(days: 16)
            try await check("SubscriptionPurchaseV2", path)
        }
        try await store.write(.refund(order: order, revokes: true))
        try await client.pass(days: 1)
        try await check("VoidedPurchasesListResponse", "purchases/voidedpurchases?type=1")
        let pulled = try await client.answer(
            "POST",
            "/v1/projects/tideover-rehearsal/subscriptions/pull:pull",
            ["maxMessages": 10],
            scope: .pubSub
        )
        #expect(pulled != [:])
        // The topic also writes two names in the spelling of older clients, which no description
        // contains.
        let older = Set(["message_id", "publish_time"])
        let faults = queue.faults(in: pulled, of: "PullResponse")
        #expect(faults.allSatisfy { fault in older.contains { fault.hasSuffix($0) } })
    }
}

/// A description of an API: one of Google's, stored outside of the project, or ours.
private struct Discovery {
    private let schemas: JSONNode

    private static let folder: URL = {
        if let path = ProcessInfo.processInfo.environment["TIDEOVER_VECTORS"] {
            return URL(fileURLWithPath: path)
        }
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return root.deletingLastPathComponent().appendingPathComponent("shared/vectors")
    }()

    private static func file(_ name: String) -> URL {
        folder.appendingPathComponent("google/discovery/googleapis/\(name).json")
    }

    static var isPresent: Bool {
        FileManager.default.fileExists(atPath: file("androidpublisher__v3").path)
    }

    init(schemas: JSONNode) { self.schemas = schemas }

    init(_ name: String) throws {
        let bytes = Array(try Data(contentsOf: Self.file(name)))
        schemas = try #require(try JSONDocument(bytes, limits: .local).root["schemas"])
    }

    /// Returns the paths in an object that its schema lacks or has with another type.
    func faults(in value: JSONValue, of schema: String) -> [String] {
        guard let object = value.object, let properties = schemas[schema] else { return [schema] }
        return object.flatMap { member -> [String] in
            guard let type = properties["properties"]?[member.key] else {
                return ["\(schema).\(member.key)"]
            }
            return faults(in: member.value, typed: type, at: "\(schema).\(member.key)")
        }
    }

    private func faults(in value: JSONValue, typed type: JSONNode, at place: String) -> [String] {
        if let schema = type["$ref"]?.string { return faults(in: value, of: schema) }
        let isRight =
            switch type["type"]?.string {
            case "string": value.string != nil && allows(type, value.string ?? "")
            case "boolean": value.bool != nil
            case "integer": value.int64 != nil
            case "number": value.double != nil
            case "array": value.array != nil
            default: value.object != nil
            }
        guard isRight else { return [place] }
        guard let element = type["items"] else { return [] }
        return (value.array ?? []).flatMap { faults(in: $0, typed: element, at: place) }
    }

    private func allows(_ type: JSONNode, _ text: String) -> Bool {
        if type["format"]?.string == "google-datetime" { return InstantText.read(text) != nil }
        if type["format"]?.string == "int64" { return Int64(text) != nil }
        return type["enum"]?.elements.contains { $0.string == text } ?? true
    }
}
