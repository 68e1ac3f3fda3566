import Foundation
import Testing
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverRevenueCat
import TideoverSQLite
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Imports of RevenueCat's responses through the route.
struct RevenueCatImportTests {
    private static let mark = String(repeating: "0a", count: 32)

    private func server() throws -> TestServer {
        let server = try TestServer(
            revenueCat: TestRevenueCat().trust(),
            environments: [.production, .sandbox]
        )
        server.set("2026-05-11T00:00:00Z")
        return server
    }

    /// Returns responses about distinct customers, one per line.
    private static func lines(_ count: Int) -> [[UInt8]] {
        (0..<count).map { number in
            TestRevenueCat.answer(
                "customer-\(number)",
                ["store_transaction_id": .string("7\(number)")]
            )
        }
    }

    private func post(
        _ server: TestServer,
        _ lines: [[UInt8]],
        _ query: String = ""
    ) async throws -> JSONValue {
        let response = try await server.send(
            "POST",
            "/v1/apps/cards/imports/revenuecat\(query)",
            body: Array(lines.joined(separator: [UInt8(ascii: "\n")]))
        )
        #expect(response.status == 200)
        return JSONValue(try JSONDocument(response.body).root)
    }

    @Test func `each line has its verdict, and a bad line does not block the others`() async throws
    {
        let server = try server()
        let good = Self.lines(2)
        let told = try await post(
            server,
            [good[0], Array("{oops".utf8), [], Array(#"{"request_date_ms":1}"#.utf8), good[1]],
            "?linesBefore=10"
        )
        #expect(told["read"] == 2)
        #expect(told["refused"] == 2)
        #expect(told["known"] == 0)
        let lines = try #require(told["lines"]?.array)
        #expect(lines.map { $0["line"] } == [12, 14])
        #expect(lines.map { $0["verdict"] } == ["refused", "refused"])
        #expect(lines.allSatisfy { $0["detail"]?.string?.isEmpty == false })
        for name in ["customer-0", "customer-1"] {
            #expect(try await server.premium(name) == "active paid access")
        }
        #expect(Set(try server.facts().map(\.source)) == [.imported])
        #expect(Set(try server.facts().map(\.rank)) == [.relayed])
        await server.close()
    }

    @Test func `a line dated ahead of the clock does not block the others`() async throws {
        let server = try server()
        let good = Self.lines(2)
        let ahead = TestRevenueCat.answer("customer-2", at: "2026-05-11T00:05:01Z")
        for query in ["?dryRun=true", ""] {
            #expect(try server.facts().isEmpty)
            let told = try await post(server, [good[0], ahead, good[1]], query)
            #expect(told["read"] == 2)
            #expect(told["refused"] == 1)
            let lines = try #require(told["lines"]?.array)
            #expect(lines.map { $0["line"] } == [2])
            #expect(lines.first?["reason"] == "dated-ahead")
            let detail = lines.first?["detail"]?.string ?? ""
            #expect(detail.contains("301 s ahead of the server's clock"))
        }
        let far = TestRevenueCat.answer("customer-2", at: "2026-06-11T00:00:00Z")
        let detail = try await post(server, [far], "?dryRun=true")["lines"]?[0]?["detail"]?.string
        #expect(detail?.contains("31 days ahead of the server's clock") == true)
        for name in ["customer-0", "customer-1"] {
            #expect(try await server.premium(name) == "active paid access")
        }
        #expect(try await server.premium("customer-2").hasPrefix("never"))
        await server.close()
    }

    @Test func `a line dated within the clock's tolerance is imported`() async throws {
        let server = try server()
        let line = TestRevenueCat.answer("customer-0", at: "2026-05-11T00:05:00Z")
        #expect(try await post(server, [line])["refused"] == 0)
        #expect(try await server.premium("customer-0") == "active paid access")
        await server.close()
    }

    @Test func `a repeated import changes nothing`() async throws {
        let server = try server()
        let lines = Self.lines(40)
        #expect(try await post(server, lines)["known"] == 0)
        let facts = try server.facts()
        #expect(facts.isEmpty == false)
        let again = try await post(server, lines)
        #expect(again["known"] == 40)
        #expect(again["newFacts"] == 0)
        #expect(try server.facts() == facts)
        await server.close()
    }

    @Test func `a corrected line of the same date is imported, a reformatted one is known`()
        async throws
    {
        let server = try server()
        let broken = TestRevenueCat.answer("customer-0", ["purchase_date": nil])
        let corrected = TestRevenueCat.answer("customer-0")
        #expect(try await post(server, [broken])["newFacts"] == 0)
        for query in ["?dryRun=true", ""] {
            #expect(try await server.premium("customer-0").hasPrefix("never"))
            let told = try await post(server, [corrected], query)
            #expect(told["known"] == 0)
            #expect((told["newFacts"]?.int64 ?? 0) > 0)
        }
        #expect(try await server.premium("customer-0") == "active paid access")
        let facts = try server.facts()
        let reformatted = Array("  ".utf8) + corrected
        for query in ["?dryRun=true", ""] {
            let again = try await post(server, [broken, corrected, reformatted], query)
            #expect(again["known"] == 3)
            #expect(again["newFacts"] == 0)
        }
        #expect(try server.facts() == facts)
        await server.close()
    }

    @Test func `an import brings attributes, and when the customer got the app`() async throws {
        let server = try TestServer(
            revenueCat: TestRevenueCat().trust(),
            revenueCatSDK: RevenueCatSDK(appStoreKeys: ["appl_test"]),
            environments: [.production, .sandbox]
        )
        server.set("2026-05-11T00:00:00Z")
        let app = SDKApp(server: server, key: "appl_test", customer: "customer-0")
        func line(version: String, _ date: String, email: String, at milliseconds: Int) -> [UInt8] {
            let members =
                #""original_application_version":"\#(version)","#
                + #""original_purchase_date":"\#(date)","subscriber_attributes":{"$email":"#
                + #"{"value":"\#(email)","updated_at_ms":\#(milliseconds)}},"#
            let answer = String(decoding: TestRevenueCat.answer("customer-0"), as: UTF8.self)
            let start = #""subscriber":{"#
            return Array(answer.replacingOccurrences(of: start, with: start + members).utf8)
        }
        let lines = [
            line(version: "212", "2023-11-02T00:00:00Z", email: "new@example.org", at: 2000),
            line(version: "300", "2025-01-01T00:00:00Z", email: "old@example.org", at: 1000),
        ]
        for line in lines {
            #expect(try await post(server, [line])["refused"] == 0)
            let customer = try await app.get().body["subscriber"]
            #expect(customer?["original_application_version"] == "212")
            #expect(customer?["original_purchase_date"] == "2023-11-02T00:00:00Z")
            let key = CustomerKey(
                app: "cards",
                environment: .production,
                customer: try #require(CustomerID("customer-0"))
            )
            let stored = try server.storage.attributes(of: key)
            #expect(stored.map(\.name) == ["$email"])
            #expect(stored.map(\.value) == ["new@example.org"])
        }
        await server.close()
    }

    @Test func `an erasure removes the responses about the customer and no other`() async throws {
        let server = try server()
        func keys() throws -> [String] {
            try [Environment.production, .sandbox].flatMap {
                try server.storage.evidence(in: AppScope("cards", $0), after: nil, limit: 100)
                    .map(\.dedupeKey)
            }
        }
        let ids = ["imported-1", "imported-10", "imported-1:2", "imported_1"]
        let lines = ids.map { id in
            let answer: JSONValue = [
                "request_date_ms": TestRevenueCat.ms("2026-05-10T10:00:00Z"),
                "request_date": "2026-05-10T10:00:00Z",
                "subscriber": [
                    "original_app_user_id": .string(id), "subscriptions": [:], "entitlements": [:],
                    "subscriber_attributes": ["$email": ["value": "anna@example.com"]],
                ],
            ]
            return answer.encoded()
        }
        _ = try await post(server, lines + Self.lines(1))
        // The response with a purchase is stored in the environment of comparisons too.
        #expect(try keys().count == ids.count + 2)
        for (id, evidence) in [("imported-1", 1), ("customer-0", 2)] as [(String, Int64)] {
            let response = try await server.send("DELETE", "/v1/apps/cards/customers/\(id)")
            let erased = try JSONDocument(response.body).root["erased"]
            #expect(erased?["evidence"]?.int64 == evidence)
        }
        let left = try keys()
        #expect(left.count == ids.count - 1)
        #expect(!left.contains { $0.hasPrefix("revenuecat-answer:imported-1:") })
        await server.close()
    }

    @Test func `a dry run only reports`() async throws {
        let server = try server()
        let lines = Self.lines(2)
        _ = try await post(server, [lines[0]])
        let told = try await post(server, lines, "?dryRun=true&mark=\(Self.mark)")
        #expect(told["read"] == 2)
        #expect(told["known"] == 1)
        #expect((told["newFacts"]?.int64 ?? 0) > 0)
        #expect(try await server.premium("customer-1").hasPrefix("never"))
        let place = try await server.get("/v1/apps/cards/imports/revenuecat")
        #expect(try JSONDocument(place.body).root["mark"]?.isNull == true)
        await server.close()
    }

    @Test func `the progress of a file is reported until its end`() async throws {
        let server = try server()
        func place() async throws -> (String?, Int64?) {
            let response = try await server.get("/v1/apps/cards/imports/revenuecat")
            let root = try JSONDocument(response.body).root
            return (root["mark"]?.string, root["lines"]?.int64)
        }
        #expect(try await place() == (nil, 0))
        _ = try await post(server, Self.lines(2), "?mark=\(Self.mark)&linesBefore=5")
        #expect(try await place() == (Self.mark, 7))
        _ = try await post(server, [])
        #expect(try await place() == (nil, 0))
        await server.close()
    }

    @Test(arguments: [
        "?linesBefore=-1", "?linesBefore=x", "?mark=short", "?dryRun=maybe", "?mraks=1",
    ])
    func `a malformed request imports nothing`(query: String) async throws {
        let server = try server()
        let response = try await server.send(
            "POST",
            "/v1/apps/cards/imports/revenuecat\(query)",
            body: Self.lines(1)[0]
        )
        #expect(response.status == 400)
        #expect(try server.facts().isEmpty)
        await server.close()
    }

    @Test func `a purchase of two customers belongs to the first line`() async throws {
        let server = try server()
        let lines = (0..<8).map { TestRevenueCat.answer("customer-\($0)") }
        _ = try await post(server, lines)
        #expect(try await server.premium("customer-0") == "active paid access")
        for number in 1..<8 {
            #expect(try await server.premium("customer-\(number)").hasPrefix("never"))
        }
        await server.close()
    }

    @Test func `a purchase from an import and from the App Store counts once`() async throws {
        let server = try server()
        #expect(try await server.post(.purchase()).status == 200)
        let renewed = TestRevenueCat.answer(TestServer.anna)
        _ = try await post(server, [renewed])
        #expect(Set(try server.facts().map(\.lineage.key)) == ["appStore:2000000000000001"])
        let premium = try await server.answer()["entitlements"]?["premium"]
        #expect(premium?["confidence"] == "confirmed")
        await server.close()
    }

    @Test func `a refund of an imported purchase ends its access`() async throws {
        let server = try server()
        _ = try await post(
            server,
            [TestRevenueCat.answer(TestServer.anna, ["store_transaction_id": "703"])]
        )
        #expect(try await server.premium() == "active paid access")
        let refundedAt: Instant = "2026-05-10T20:00:00Z"
        let refund = TestRevenueCat.event(
            "CANCELLATION",
            id: "1",
            at: refundedAt,
            [
                "transaction_id": "703", "cancel_reason": "CUSTOMER_SUPPORT",
                "expiration_at_ms": TestRevenueCat.ms(refundedAt),
            ]
        )
        #expect(try await server.hear(refund) == "200 committed")
        #expect(try await server.premium() == "expired refunded none")
        await server.close()
    }

    @Test func `a replay of the import adds no facts`() async throws {
        let server = try server()
        _ = try await post(server, Self.lines(3))
        let report = try await server.service.replayed()
        #expect(report["status"] == "completed")
        #expect(report["evidence"] == 3)
        #expect(report["added"]?["count"] == 0)
        #expect(report["unreadable"]?.object?.isEmpty == true)
        await server.close()
    }

    /// Returns a response about a production and a sandbox subscription of the same customer.
    private static func answerAboutTwoEnvironments() -> [UInt8] {
        let subscription = { (transaction: JSONValue, isSandbox: Bool) -> JSONValue in
            [
                "purchase_date": .string(TestRevenueCat.start.rfc3339),
                "expires_date": .string(TestRevenueCat.end.rfc3339), "period_type": "normal",
                "store": "app_store", "is_sandbox": .bool(isSandbox),
                "ownership_type": "PURCHASED", "store_transaction_id": transaction,
            ]
        }
        let asked: Instant = "2026-05-10T10:00:00Z"
        let answer: JSONValue = [
            "request_date_ms": TestRevenueCat.ms(asked), "request_date": .string(asked.rfc3339),
            "subscriber": [
                "original_app_user_id": .string(TestServer.anna),
                "subscriptions": [
                    "cards.pro.monthly": subscription("71", false),
                    "cards.pro.yearly": subscription("72", true),
                ],
                "entitlements": [:],
            ],
        ]
        return answer.encoded()
    }

    @Test func `an answer about two environments is imported and replayed in each`() async throws {
        let server = try server()
        _ = try await post(server, [Self.answerAboutTwoEnvironments()])
        let production = try server.facts(.production)
        let sandbox = try server.facts(.sandbox)
        #expect(!production.isEmpty && !sandbox.isEmpty)
        for environment in [Environment.production, .sandbox] {
            let report = try await server.service.replayed(environment, apply: true)
            #expect(report["status"] == "completed")
            #expect(report["facts"]?.int64 ?? 0 > 0)
            for list in ["added", "unread", "changed"] { #expect(report[list]?["count"] == 0) }
        }
        #expect(try server.facts(.production) == production)
        #expect(try server.facts(.sandbox) == sandbox)
        await server.close()
    }

    @Test func `a corrected answer about two environments is imported in each`() async throws {
        let server = try server()
        let corrected = Self.answerAboutTwoEnvironments()
        var broken = JSONValue(try JSONDocument(corrected).root).object ?? [:]
        var subscriber = broken["subscriber"]?.object ?? [:]
        subscriber["subscriptions"] = [:]
        broken["subscriber"] = .object(subscriber)
        _ = try await post(server, [JSONValue.object(broken).encoded()])
        #expect(try server.facts(.production).isEmpty)
        #expect(try server.facts(.sandbox).isEmpty)
        #expect(try await post(server, [corrected])["known"] == 0)
        #expect(try await post(server, [corrected])["known"] == 1)
        #expect(try server.facts(.production).isEmpty == false)
        #expect(try server.facts(.sandbox).isEmpty == false)
        await server.close()
    }

    @Test func `a purchase without a transaction is noted, data of another kind is refused`()
        async throws
    {
        let server = try server()
        let mapping: JSONValue = [
            "product_entitlement_mapping": [
                "cards.pro.monthly": [
                    "product_identifier": "cards.pro.monthly", "entitlements": ["premium"],
                ]
            ]
        ]
        let unnamed = TestRevenueCat.answer("customer-1", ["store_transaction_id": nil])
        let lines = [Self.lines(1)[0], unnamed, mapping.encoded()]
        let told = try await post(server, lines)
        #expect(told["read"] == 2)
        #expect(told["refused"] == 1)
        let listed = try #require(told["lines"]?.array)
        #expect(listed.map { $0["line"] } == [2, 3])
        #expect(listed.map { $0["verdict"] } == ["noted", "refused"])
        #expect(listed.last?["reason"] == "missing-member")
        #expect(try await server.premium("customer-0") == "active paid access")
        let again = try await post(server, lines)
        #expect(again["known"] == 2)
        await server.close()
    }

    @Test(.enabled(if: Vectors.present, "the vectors are not beside the project"))
    func `RevenueCat's own fixtures go through the route`() async throws {
        let names = [
            "CustomerInfo", "CustomerInfo-v2", "CustomerInfoWithInvalidSubscription",
            "CustomerInfoWithDuplicateMappedProductKeys", "CustomerInfoWithoutOriginalSource",
            "ProductsEntitlements",
        ]
        let lines = try names.map { name in
            let bytes = try Vectors.bytes("revenuecat/\(name).json")
            return JSONValue(try JSONDocument(bytes, limits: .local).root).encoded()
        }
        let server = try server()
        let told = try await post(server, lines)
        // The last one is about products, not about a customer.
        #expect(told["read"] == 5)
        #expect(told["refused"] == 1)
        let verdicts = told["lines"]?.array ?? []
        #expect(verdicts.last?["line"] == 6)
        #expect(verdicts.last?["reason"] == "missing-member")
        // None of them contains a transaction, so each line notes the omission.
        #expect(verdicts.dropLast().map { $0["verdict"] } == Array(repeating: "noted", count: 5))
        let again = try await post(server, lines)
        #expect(again["known"] == 5)
        await server.close()
    }
}
