import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverRehearsal
import TideoverSandbox
import TideoverServer

@testable import TideoverTestServer

/// A device's drift prompts a query of the store, within its limits.
@Suite struct DriftAskingTests {
    private static let renewedUntil: Instant = "2026-03-05T10:00:00Z"

    private struct StoreIsDown: Error {}

    /// A store that reported a purchase and nothing since; it is three days after the renewal.
    private struct Stage {
        let rehearsed: RehearsedStore
        let time = TestTime()
        let backEnd: RehearsedBackEnd
        let isUp = Locked(true)
        let calls = Locked(0)

        /// `failure` is the response of the store while it is down; nil if it does not respond.
        init(_ action: AppStoreAction? = nil, failure: Response? = nil) async throws {
            let rehearsed = try RehearsedStore(grace: .off)
            let (isUp, calls) = (isUp, calls)
            let handler = rehearsed.store.serverAPI
            let access = rehearsed.backEnd.access { request in
                calls.withLock { $0 += 1 }
                if isUp.withLock({ $0 }) { return try await handler(request) }
                guard let failure else { throw StoreIsDown() }
                return failure
            }
            backEnd = try RehearsedBackEnd(rehearsed, time, access: access)
            self.rehearsed = rehearsed
            let store = rehearsed.store
            try await store.subscribe(token: TestServer.anna)
            let backEnd = backEnd
            try await pass(.minutes(1)) { try await backEnd.post($0) }
            if let action { try await store.perform(action, by: "anna") }
            try await pass(.days(34)) { _ in 200 }
        }

        func pass(
            _ length: Milliseconds,
            _ receiver: @Sendable (_ body: [UInt8]) async throws -> Int = { _ in 200 }
        ) async throws {
            time.clock.now = time.clock.now + length
            let now = time.clock.now.millisecondsSince1970
            try await rehearsed.store.advance(to: now, posting: receiver)
        }

        /// Returns `cause healer` of the drift in the response to a device that reports the next
        /// period.
        func report() async throws -> [String] {
            let body: JSONValue = [
                "device": [
                    "entitlements": [
                        "premium": [
                            "access": true, "until": .string(renewedUntil.rfc3339),
                        ]
                    ]
                ]
            ]
            let response = try await backEnd.service.handler(
                Request(
                    method: "POST",
                    path: "/v1/apps/cards/customers/\(TestServer.anna)/reconcile",
                    query: [QueryItem(name: "environment", value: "simulated")],
                    headers: TestServer.credentials,
                    body: body.encoded()
                )
            )
            #expect(response.status == 200)
            let drift = JSONValue(try JSONDocument(response.body).root)["drift"]?.array ?? []
            return drift.map { drift in
                [drift["cause"], drift["healedBy"]].compactMap { $0?.string }
                    .joined(separator: " ")
            }
        }

        /// Returns the outcomes of a request to ask the stores about the customer.
        func refresh() async throws -> [String] {
            let response = try await backEnd.service.handler(
                Request(
                    method: "POST",
                    path: "/v1/apps/cards/customers/\(TestServer.anna)/refresh",
                    query: [QueryItem(name: "environment", value: "simulated")],
                    headers: TestServer.credentials
                )
            )
            #expect(response.status == 200)
            let asked = try JSONDocument(response.body).root["asked"]?.elements.map(\.self) ?? []
            return asked.compactMap { $0["outcome"]?.string }
        }
    }

    @Test func `a failure with a wrong date hides nothing that is signed after our clock`()
        async throws
    {
        let date = "Mon, 01 Mar 2027 10:00:00 GMT"
        let stage = try await Stage(failure: Response(status: 503, headers: ["Date": date]))
        stage.isUp.withLock { $0 = false }
        #expect(try await stage.refresh() == ["failed"])
        let (backEnd, store) = (stage.backEnd, stage.rehearsed.store)
        try await store.perform(.cancel(product: nil), by: "anna")
        let later = stage.time.clock.now + .minutes(1)
        try await store.advance(to: later.millisecondsSince1970) { try await backEnd.post($0) }
        let path = "/v1/apps/cards/customers/\(TestServer.anna)?environment=simulated"
        let premium = try await backEnd.get(path)["entitlements"]?["premium"]
        #expect(premium?["state"]?.string == "active")
        #expect(premium?["willRenew"]?.bool == false)
        await backEnd.close()
    }

    @Test func `asking about a customer brings a lost renewal, and is not repeated at once`()
        async throws
    {
        let stage = try await Stage()
        let path = "/v1/apps/cards/customers/\(TestServer.anna)?environment=simulated"
        func state() async throws -> String? {
            try await stage.backEnd.get(path)["entitlements"]?["premium"]?["state"]?.string
        }
        #expect(try await state() == "expired")
        stage.isUp.withLock { $0 = false }
        #expect(try await stage.refresh() == ["failed"])
        #expect(try await state() == "expired")
        stage.isUp.withLock { $0 = true }
        #expect(try await stage.refresh() == ["answered"])
        #expect(try await state() == "active")
        #expect(try await stage.refresh() == ["askedRecently"])
        #expect(stage.calls.withLock { $0 } == 2)
        await stage.backEnd.close()
    }

    @Test func `a store that answers heals the drift before the response`() async throws {
        let stage = try await Stage()
        #expect(try await stage.report() == ["missed-notification asked"])
        #expect(stage.calls.withLock { $0 } == 1)
        #expect(
            try await stage.report() == ["missed-notification asked"],
            "reported, not found again"
        )
        #expect(stage.calls.withLock { $0 } == 1)
        try await stage.pass(.minutes(1))
        #expect(try await stage.report() == [])
        await stage.backEnd.close()
    }

    @Test func `the next report repeats the request to an unreachable store`() async throws {
        let stage = try await Stage()
        stage.isUp.withLock { $0 = false }
        #expect(try await stage.report() == ["missed-notification"])
        try await stage.pass(.hours(1))
        stage.isUp.withLock { $0 = true }
        #expect(try await stage.report() == ["missed-notification asked"])
        let row = try await stage.backEnd.get("/v1/reports/drift?app=cards")["rows"]?[0]
        #expect(row?["found"]?.int64 == 1)
        let seconds = try #require(row?["timeToHeal"]?["medianSeconds"]?.double)
        #expect(seconds <= 3_600 && seconds >= 3_600 * 0.998)
        await stage.backEnd.close()
    }

    @Test func `a backfill heals the drift without a report`() async throws {
        let stage = try await Stage()
        stage.isUp.withLock { $0 = false }
        #expect(try await stage.report() == ["missed-notification"])
        try await stage.pass(.hours(2))
        stage.isUp.withLock { $0 = true }
        #expect(try await stage.backEnd.backfill()?["status"]?.string == "completed")
        let row = try await stage.backEnd.get("/v1/reports/drift?app=cards")["rows"]?[0]
        #expect(row?["open"]?.int64 == 0)
        #expect(row?["healedBy"]?["asked"]?.int64 == 1)
        await stage.backEnd.close()
    }

    @Test
    func `a store that agrees with the server is asked once, and the cause is the device cache`()
        async throws
    {
        let stage = try await Stage(.cancel(product: nil))
        #expect(try await stage.report() == ["stale-device-cache"])
        try await stage.pass(.minutes(10))
        #expect(try await stage.report() == ["stale-device-cache"])
        #expect(stage.calls.withLock { $0 } == 1)
        // By then the device's period has ended on both sides.
        try await stage.pass(.days(40))
        _ = await stage.backEnd.service.meetDueDeadlines()
        #expect(try await stage.backEnd.get("/v1/reports/drift")["rows"]?[0]?["found"]?.int64 == 1)
        await stage.backEnd.close()
    }
}
