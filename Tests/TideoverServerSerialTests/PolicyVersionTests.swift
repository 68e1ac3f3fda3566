import Foundation
import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Past instants are decided by the catalogue and policy in effect at the time.
@Suite struct PolicyVersionTests {
    private static let failed = Message.end + .hours(1)
    private static let changed = Message.end + .days(2)
    private static let strict = Policy(billingRetry: .suspend)
    private static let kind = Policy(billingRetry: .keep(.days(30)))

    /// Starts a server at an instant, on the database of the former one.
    private func start(
        _ policy: Policy,
        at instant: Instant,
        catalogue: Catalogue = TestServer.catalogue,
        after former: TestServer? = nil
    ) async throws -> TestServer {
        await former?.storage.close()
        let server = try TestServer(
            catalogue: catalogue,
            policy: policy,
            folder: former?.folder,
            store: former?.store,
            now: instant
        )
        try await server.service.recordPolicyVersions()
        return server
    }

    /// Creates a payment that fails under one policy, which then changes.
    private func changedLife() async throws -> TestServer {
        let first = try await start(Self.strict, at: Message.start)
        _ = try await first.post(.purchase())
        first.set(Self.failed)
        var failure = Message.purchase("n-2", signed: Self.failed)
        failure.fail(graceUntil: nil)
        #expect(try await first.post(failure).status == 200)
        #expect(try await first.premium() == "hold billingRetry none")
        return try await start(Self.kind, at: Self.changed, after: first)
    }

    private func explain(_ server: TestServer, _ query: String) async throws -> JSONValue {
        let path = "/v1/apps/cards/customers/\(TestServer.anna)/explain"
        let response = try await server.get("\(path)?environment=sandbox\(query)")
        #expect(response.status == 200)
        return JSONValue(try JSONDocument(response.body).root)
    }

    private func state(_ explanation: JSONValue) -> String? {
        explanation["entitlements"]?["premium"]?["decision"]?["state"]?.string
    }

    private func versions(_ server: TestServer) throws -> [PolicyVersion] {
        try server.storage.policyVersions(in: AppScope("cards", .sandbox))
    }

    @Test func `an answer as known then matches the events of that day`() async throws {
        let server = try await changedLife()
        #expect(try await server.premium() == "grace keptByPolicy access")
        for (instant, expected) in [
            (Message.start + .days(1), "active"), (Self.failed, "hold"),
            (Self.changed - .seconds(1), "hold"), (Self.changed, "grace"),
        ] {
            let then = try await explain(server, "&asKnownAt=\(instant.rfc3339)")
            #expect(state(then) == expected)
            let at = try await explain(server, "&at=\(instant.rfc3339)")
            #expect(state(at) == expected)
            let told = try server.events().last {
                $0.event.kind == "entitlement_changed" && $0.event.at <= instant
            }
            let body = try JSONDocument(try #require(told).event.body).root
            #expect(body["to"]?["state"]?.string == expected)
        }
        await server.close()
    }

    @Test
    func `a change of policy takes effect at the start of the server`() async throws {
        let server = try await changedLife()
        server.set(Self.changed + .hours(5))
        #expect(try await server.premium() == "grace keptByPolicy access")
        let last = try #require(
            try server.events().last { $0.event.kind == "entitlement_changed" }
        )
        #expect(last.event.at == Self.changed)
        #expect(try server.events().allSatisfy { $0.event.kind != "corrected" })
        await server.close()
    }

    @Test func `the timeline keeps the spans that another policy decided`() async throws {
        let server = try await changedLife()
        server.set(Self.changed + .days(1))
        let path = "/v1/apps/cards/customers/\(TestServer.anna)/timeline?environment=sandbox"
        let story = try JSONDocument(try await server.get(path).body).root
        let spans = story["entitlements"]?["premium"]?["spans"]?.elements.map {
            "\($0["state"]?.string ?? "?") \($0["from"]?.string ?? "?")"
        }
        #expect(spans?.suffix(2).first?.hasPrefix("hold 2026-06-01") == true)
        #expect(spans?.last == "grace \(Self.changed.rfc3339)")
        await server.close()
    }

    @Test func `lockouts are judged and split by the policy of their time`() async throws {
        // The recovery became known only when the customer had been denied for days.
        let first = try await start(Self.strict, at: Message.start)
        _ = try await first.post(.purchase())
        first.set(Self.changed)
        let second = try await start(Self.kind, at: Self.changed, after: first)
        second.set(Self.changed + .days(3))
        #expect(try await second.post(.renewed(signed: Self.changed + .days(3))).status == 200)
        let report = try await second.get("/v1/reports/lockouts?app=cards")
        let rows = try #require(JSONDocument(report.body).root["rows"]).elements
        let row = try #require(rows.first { $0["environment"]?.string == "sandbox" })
        let policies = Array(try #require(row["policies"]).elements)
        let all = try versions(second)
        #expect(
            policies.map { $0["policyVersion"]?["fingerprint"]?.string } == all.map(\.fingerprint)
        )
        #expect(policies.first?["policyVersion"]?["effectiveAt"]?.isNull == true)
        let minutes = policies.map { $0["ours"]?["minutes"]?.double ?? -1 }
        #expect(minutes.reduce(0, +) == row["ours"]?["minutes"]?.double)
        // A day is presumed after the end: the strict policy then denied for one day.
        #expect(minutes == [24 * 60, 3 * 24 * 60])
        let entitled = policies.compactMap { $0["entitledMinutes"]?.double }
        #expect(entitled.reduce(0, +) == row["entitledMinutes"]?.double)
        #expect(policies.map { $0["purchases"]?.int64 } == [1, 1])
        await second.close()
    }

    @Test func `an explanation names the version that decided`() async throws {
        let server = try await changedLife()
        let all = try versions(server)
        #expect(all.map(\.effectiveAt) == [Message.start, Self.changed])
        let then = try await explain(server, "&asKnownAt=\(Self.failed.rfc3339)")["policyVersion"]
        #expect(then?["fingerprint"]?.string == all[0].fingerprint)
        // The first recorded version also applies to all time before it.
        #expect(then?["effectiveAt"]?.isNull == true)
        let now = try await explain(server, "")["policyVersion"]
        #expect(now?["fingerprint"]?.string == all[1].fingerprint)
        #expect(now?["effectiveAt"]?.string == Self.changed.rfc3339)
        await server.close()
    }

    @Test func `a start with the same policy records nothing`() async throws {
        let server = try await changedLife()
        let before = try versions(server)
        let again = try await start(Self.kind, at: Self.changed + .days(1), after: server)
        #expect(try versions(again) == before)
        #expect(again.logged.allSatisfy { !$0.contains("policy version recorded") })
        await again.close()
    }

    @Test func `a server that adopts recorded rules answers by the newest and records none`()
        async throws
    {
        let server = try await changedLife()
        let before = try versions(server)
        await server.storage.close()
        let adopting = try TestServer(
            policy: Self.strict,
            folder: server.folder,
            store: server.store,
            now: Self.changed + .days(1),
            adoptsRules: true
        )
        try await adopting.service.recordPolicyVersions()
        #expect(try await adopting.premium() == "grace keptByPolicy access")
        #expect(try versions(adopting) == before)
        await adopting.close()
    }

    /// Imports a version that takes effect at an instant.
    private func bring(_ policy: Policy, at instant: Instant, to server: TestServer) async throws {
        let other = try TestServer(policy: policy, now: instant)
        try await other.service.recordPolicyVersions()
        let version = try #require(try versions(other).first)
        await other.close()
        let header = ExportLine.header(ExportHeader(app: "cards", holds: .everything))
        let lines = [header, .record(.policy(version), .sandbox)].map(\.json)
        let request = Request(
            method: "POST",
            target: "/v1/apps/cards/import",
            headers: TestServer.credentials,
            body: Array(lines.joined(separator: [UInt8(ascii: "\n")]))
        )
        let response = try await server.service.handler(try #require(request))
        let told = JSONValue(try JSONDocument(response.body).root)
        #expect(told["added"]?["policy"]?.int64 == 1)
        #expect(told["refused"] == [])
    }

    @Test func `an imported version decides past instants only`() async throws {
        let server = try await start(Self.strict, at: Message.start)
        _ = try await server.post(.purchase())
        server.set(Self.failed)
        var failure = Message.purchase("n-2", signed: Self.failed)
        failure.fail(graceUntil: nil)
        #expect(try await server.post(failure).status == 200)
        let own = try #require(try versions(server).last)
        // An earlier one is no reason to record the server's own again.
        try await bring(Self.kind, at: Message.start - .days(9), to: server)
        #expect(try versions(server).last == own)
        server.set(Self.changed)
        for imported in [Self.changed - .days(1), Self.changed + .days(1)] {
            try await bring(Self.kind, at: imported, to: server)
            let last = try #require(try versions(server).last)
            #expect(last.fingerprint == own.fingerprint)
            #expect(last.effectiveAt == max(Self.changed, imported + Milliseconds(1)))
        }
        await server.storage.close()
        let adopting = try TestServer(
            policy: Self.kind,
            folder: server.folder,
            store: server.store,
            now: Self.changed + .days(2),
            adoptsRules: true
        )
        #expect(try await adopting.premium() == "hold billingRetry none")
        await adopting.close()
    }

    @Test func `a clock set back leaves the present policy in effect`() async throws {
        let server = try await changedLife()
        #expect(try await server.premium() == "grace keptByPolicy access")
        let earlier = Self.changed - .minutes(1)
        let back = try await start(Self.strict, at: earlier, after: server)
        #expect(try await back.premium() == "hold billingRetry none")
        await back.close()
    }

    @Test func `a base plan listed later keeps the access that its product gave before`()
        async throws
    {
        let play = TestPlay()
        let end = "2026-06-01T10:00:00Z"
        let item: JSONValue = [
            "productId": "cards.pro.monthly", "expiryTime": .string(end),
            "offerDetails": ["basePlanId": "base"],
            "autoRenewingPlan": ["autoRenewEnabled": true],
        ]
        play.answer("token-1", TestPlay.subscription("ACTIVE", until: end, ["lineItems": [item]]))
        let first = try TestServer(googlePlay: play.trust())
        try await first.service.recordPolicyVersions()
        let bought = first.now
        let push = try TestPlay.push(TestPlay.notice(4), messageId: "1", at: bought)
        #expect(try await first.service.handler(push).status == 200)
        #expect(try await first.premium() == "active paid access")
        var catalogue = TestServer.catalogue
        catalogue.products["cards.pro.monthly:base"] = Product(
            entitlements: ["premium"],
            period: Period(months: 1)
        )
        let server = try await start(
            Policy(),
            at: bought + .days(1),
            catalogue: catalogue,
            after: first
        )
        #expect(try await server.premium() == "active paid access")
        let before = try await explain(server, "&at=\((bought + .hours(1)).rfc3339)")
        #expect(state(before) == "active")
        await server.close()
    }

    @Test(arguments: ["cards.gold:base", "cards.gold"])
    func `a product of Google Play listed after a relay named its base plan gives access`(
        listed: String
    ) async throws {
        let relay = TestRevenueCat()
        let first = try TestServer(
            revenueCat: relay.trust(),
            now: TestRevenueCat.start + .minutes(1)
        )
        try await first.service.recordPolicyVersions()
        var purchase = TestRevenueCat.play
        purchase["product_id"] = "cards.gold:base"
        let event = TestRevenueCat.event("INITIAL_PURCHASE", id: "E-1", purchase)
        #expect(try await first.hear(event) == "200 committed")
        #expect(try await first.premium() != "active paid access")
        await first.storage.close()
        var catalogue = TestServer.catalogue
        catalogue.products[listed] = Product(
            entitlements: ["premium"],
            period: Period(months: 1)
        )
        let server = try TestServer(
            catalogue: catalogue,
            folder: first.folder,
            store: first.store,
            revenueCat: relay.trust(catalogue: catalogue),
            now: TestRevenueCat.start + .days(1)
        )
        try await server.service.recordPolicyVersions()
        #expect(try await server.premium() == "active paid access")
        let premium = try await server.answer()["entitlements"]?["premium"]
        #expect(premium?["productId"]?.string == listed)
        await server.close()
    }

    @Test func `a product listed after its sale grants its full length from then`() async throws {
        let season = Product(
            entitlements: ["premium"],
            kind: .nonRenewing,
            period: Period(months: 2)
        )
        let first = try await start(Policy(), at: Message.start, catalogue: Catalogue())
        var purchase = Message.purchase()
        purchase.type = "ONE_TIME_CHARGE"
        purchase.subtype = nil
        purchase.status = nil
        purchase.renewal = nil
        purchase.transaction?["type"] = "Non-Renewing Subscription"
        purchase.transaction?["productId"] = "cards.season"
        purchase.transaction?["expiresDate"] = nil
        #expect(try await first.post(purchase).status == 200)
        let listed = Message.start + .days(3)
        let server = try await start(
            Policy(),
            at: listed,
            catalogue: Catalogue(products: ["cards.season": season]),
            after: first
        )
        let premium = try await server.answer()["entitlements"]?["premium"]
        #expect(premium?["state"]?.string == "active")
        #expect(
            premium?["accessUntil"]?.string == (Message.start + Period(months: 2)).rfc3339
        )
        let before = try await explain(server, "&at=\((listed - .hours(1)).rfc3339)")
        #expect(state(before) != "active")
        await server.close()
    }
}
