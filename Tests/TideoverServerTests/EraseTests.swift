import Foundation
import Testing
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Erasing a customer, and removing old data.
@Suite struct EraseTests {
    private static let path = "/v1/apps/cards/customers/"

    private func erase(_ customer: String, at server: TestServer) async throws -> JSONNode {
        let target = Self.path + customer
        let response = try await server.send("DELETE", target)
        #expect(response.status == 200)
        return try JSONDocument(response.body).root
    }

    /// Returns the bytes of the database and of its write-ahead log.
    private func bytes(of server: TestServer) throws -> Data {
        try ["", "-wal"].reduce(into: Data()) { all, suffix in
            let file = server.folder.appending(path: "tideover.db\(suffix)")
            if FileManager.default.fileExists(atPath: file.path) {
                all += try Data(contentsOf: file)
            }
        }
    }

    @Test func `an erased customer is unknown and absent from the files`() async throws {
        let server = try TestServer()
        let calls = OwnershipCalls(server: server)
        #expect(try await server.post(.purchase()).status == 200)
        let customer = "customer-who-asks-to-be-forgotten"
        try await calls.present(customer, calls.transaction("77"))
        _ = try await calls.post("customers/\(customer)/aliases", ["alias": "forgotten-phone"])
        _ = try await calls.post(
            "customers/forgotten-phone/grants",
            ["entitlement": "premium", "days": 7, "why": "sorry"]
        )
        // When the store was asked about the purchase.
        for name in ["refunds:appStore:77:asked", "refunds:appStore:77:revision"] {
            let key = BookmarkKey(app: "cards", environment: .sandbox, name: name)
            try await server.storage.keep(Array("{}".utf8), as: key)
        }
        let answer = try await erase("forgotten-phone", at: server)
        #expect(answer["customer"]?.string == "forgotten-phone")
        #expect(answer["erased"]?["purchases"]?.int64 == 2)
        #expect(answer["kept"]?["purchases"]?.int64 == 0)
        for id in [customer, "forgotten-phone"] {
            let snapshot = try await calls.get("customers/\(id)")
            #expect(snapshot["entitlements"]?["premium"]?["state"]?.string == "never")
            #expect(try await calls.audit("customers/\(id)/audit") == [])
        }
        // Other customers are unchanged.
        let anna = try await calls.get("customers/\(TestServer.anna)")
        #expect(anna["entitlements"]?["premium"]?["state"]?.string == "active")
        let again = try await erase(customer, at: server)
        #expect(again["erased"]?["purchases"]?.int64 == 0)
        await server.storage.close()
        let left = try bytes(of: server)
        #expect(left.range(of: Data(TestServer.anna.utf8)) != nil)
        for id in [customer, "forgotten-phone", "appStore:77"] {
            #expect(left.range(of: Data(id.utf8)) == nil, "\(id)")
        }
        await server.close()
    }

    @Test(arguments: [".", "..", "a\nb", "\u{7F}"])
    func `a customer is read and erased by an id of dots or control characters`(
        id: String
    ) async throws {
        let server = try TestServer()
        let calls = OwnershipCalls(server: server)
        let segment = PercentEncoding.encode(segment: id)
        _ = try await calls.post(
            "customers/\(segment)/grants",
            ["entitlement": "premium", "days": 7, "why": "sorry"]
        )
        let snapshot = try await calls.get("customers/\(segment)")
        #expect(snapshot["entitlements"]?["premium"]?["state"]?.string == "active")
        let answer = try await erase(segment, at: server)
        #expect(answer["customer"]?.string == id)
        #expect(answer["erased"]?["purchases"]?.int64 == 1)
        await server.close()
    }

    @Test func `a transferred purchase stays with its present owner`() async throws {
        let server = try TestServer(policy: Policy(transfer: .transfer(coolDown: .zero)))
        let calls = OwnershipCalls(server: server)
        try await calls.present("u_1", calls.transaction())
        server.set(server.now + .days(1))
        try await calls.present("u_2", calls.transaction())
        let answer = try await erase("u_1", at: server)
        #expect(answer["erased"]?["purchases"]?.int64 == 0)
        #expect(answer["kept"]?["purchases"]?.int64 == 1)
        let holder = try await calls.get("customers/u_2")
        #expect(holder["entitlements"]?["premium"]?["state"]?.string == "active")
        await server.close()
    }

    @Test func `a tag of before an erasure is not the tag of the same version after it`()
        async throws
    {
        let server = try TestServer()
        let calls = OwnershipCalls(server: server)
        func grant(_ days: JSONValue) async throws {
            let grant: JSONObject = ["entitlement": "premium", "days": days, "why": "sorry"]
            #expect(try await calls.post("customers/u_1/grants", grant).status == 201)
        }
        let target = Self.path + "u_1?environment=sandbox"
        try await grant(7)
        let before = try await server.get(target)
        _ = try await erase("u_1", at: server)
        server.set(server.now + .days(1))
        try await grant(30)
        let tag = try #require(before.headers["ETag"])
        let after = try await server.get(target, headers: ["If-None-Match": tag])
        #expect(after.status == 200)
        let (old, new) = (try JSONDocument(before.body).root, try JSONDocument(after.body).root)
        #expect(old["customerVersion"]?.int64 == new["customerVersion"]?.int64)
        let ends = [old, new].map { $0["entitlements"]?["premium"]?["accessUntil"]?.string }
        #expect(ends[0] != ends[1])
        await server.close()
    }

    @Test func `only an admin key can erase a customer`() async throws {
        let server = try TestServer()
        #expect(try await server.post(.purchase()).status == 200)
        let made = try await server.send(
            "POST",
            "/v1/keys",
            body: Array(#"{"kind": "secret", "apps": ["cards"]}"#.utf8)
        )
        let key = try #require(try JSONDocument(made.body).root["key"]?.string)
        let response = try await server.service.handler(
            Request(
                method: "DELETE",
                path: Self.path + TestServer.anna,
                query: [QueryItem(name: "environment", value: "sandbox")],
                headers: ["Authorization": "Bearer \(key)"]
            )
        )
        #expect(response.status == 403)
        let calls = OwnershipCalls(server: server)
        let anna = try await calls.get("customers/\(TestServer.anna)")
        #expect(anna["entitlements"]?["premium"]?["state"]?.string == "active")
        await server.close()
    }

    @Test func `old rows are removed, and the answers stay the same`() async throws {
        let server = try TestServer()
        let calls = OwnershipCalls(server: server)
        #expect(try await server.post(.purchase()).status == 200)
        _ = try await calls.post("customers/made-up/reconcile", ["nothing": true])
        let key = try #require(CustomerID("made-up"))
        let row = CustomerKey(app: "cards", environment: .sandbox, customer: key)
        let before = try await calls.get("customers/\(TestServer.anna)")
        #expect(try server.storage.row(of: row) != nil)
        server.set(server.now + .days(20))
        try await server.service.pruneNow(keeping: Configuration.Retention())
        #expect(try server.storage.row(of: row) != nil)
        let short = Configuration.Retention(customers: KeepingTime(.days(19)))
        try await server.service.pruneNow(keeping: short)
        #expect(try server.storage.row(of: row) == nil)
        let metrics = try await server.get("/metrics")
        let text = String(decoding: metrics.body, as: UTF8.self)
        let line = #"tideover_pruned_rows_total{app="cards",kind="customers"} 1"#
        #expect(text.contains(line))
        #expect(server.logged.contains { $0.contains("old rows removed") })
        let after = try await calls.get("customers/\(TestServer.anna)")
        #expect(after["entitlements"] == before["entitlements"])
        await server.close()
    }

    @Test func `a cursor stays valid when the customer of its event is erased`() async throws {
        let server = try TestServer()
        #expect(try await server.post(.purchase()).status == 200)
        let calls = OwnershipCalls(server: server)
        let cursor = try #require(try await calls.get("events")["next"]?.string)
        try await calls.present("u_1", calls.transaction("77"))
        _ = try await erase(TestServer.anna, at: server)
        let left = try await calls.get("events")["events"]?.array ?? []
        #expect(Set(left.map { $0["customer"]?.string }) == ["u_1"])
        let page = try await server.get("/v1/apps/cards/events?after=\(cursor)")
        #expect(page.status == 200)
        #expect(try JSONDocument(page.body).root["events"]?.count == left.count)
        await server.close()
    }

    @Test func `a cursor before removed events is rejected`() async throws {
        let server = try TestServer()
        #expect(try await server.post(.purchase()).status == 200)
        let calls = OwnershipCalls(server: server)
        let first = try #require(try await calls.get("events")["next"]?.string)
        let before = try #require(EventID(first)).predecessor
        server.set(server.now + .days(40))
        _ = await server.service.meetDueDeadlines()
        let last = try #require(try await calls.get("events")["next"]?.string)
        #expect(first != last)
        let short = Configuration.Retention(told: KeepingTime(.days(30)))
        try await server.service.pruneNow(keeping: short)
        let target = "/v1/apps/cards/events?after="
        let gone = try await server.get(target + before.description)
        #expect(gone.status == 410)
        let type = try JSONDocument(gone.body).root["type"]?.string
        #expect(type == "/problems/events-removed")
        // Events up to this cursor were removed, and none after it.
        let next = try await server.get(target + first)
        #expect(next.status == 200)
        #expect(try JSONDocument(next.body).root["next"]?.string == last)
        #expect(try await server.get(target + last).status == 200)
        #expect(try await server.get("/v1/apps/cards/events").status == 200)
        await server.close()
    }
}
