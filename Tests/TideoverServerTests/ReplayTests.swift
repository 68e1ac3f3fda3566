import Testing
import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverSandbox
import TideoverServer
import TideoverStorage

/// Stored evidence, read again by the rules of this version.
@Suite struct ReplayTests {
    /// A back end that heard all of half a year of Anna's, and asked about her.
    private func lived(
        _ rehearsed: RehearsedStore,
        _ time: TestTime
    ) async throws -> RehearsedBackEnd {
        let backEnd = try RehearsedBackEnd(rehearsed, time)
        let store = rehearsed.store
        try await store.register(StoreCustomer(name: "anna", appAccountToken: TestServer.anna))
        try await store.perform(
            .subscribe(product: "cards.pro.monthly", trial: .declined),
            by: "anna"
        )
        time.clock.now = time.clock.now + .days(130)
        try await store.advance(to: time.clock.now.millisecondsSince1970) { body in
            try await backEnd.post(body)
        }
        time.clock.now = time.clock.now + .days(40)
        try await store.advance(to: time.clock.now.millisecondsSince1970) { _ in 500 }
        await store.add(
            AppStoreFaultRule(.refused(.badRequest), on: .notificationHistory, times: nil)
        )
        _ = try await backEnd.backfill()
        return backEnd
    }

    private func replay(_ backEnd: RehearsedBackEnd, apply: Bool = false) async throws -> JSONValue
    {
        let target = "/v1/apps/cards/replay?environment=simulated&apply=\(apply)"
        let request = try #require(
            Request(method: "POST", target: target, headers: TestServer.credentials, body: [])
        )
        let response = try await backEnd.service.handler(request)
        #expect(response.status == 200)
        return JSONValue(try JSONDocument(response.body).root)
    }

    @Test func `by the same rules nothing changes, of what was asked for too`() async throws {
        let rehearsed = try RehearsedStore()
        let backEnd = try await lived(rehearsed, TestTime())
        let report = try await replay(backEnd)
        #expect(try #require(report["evidence"]?.int64) > 5)
        #expect(report["unreadable"] == [:])
        for list in ["added", "unread", "changed"] { #expect(report[list]?["count"] == 0) }
        #expect(report["applied"] == false)
        await backEnd.close()
    }

    @Test func `what is read that was not is told of, then added, and answers as it should`()
        async throws
    {
        let rehearsed = try RehearsedStore()
        let time = TestTime()
        let backEnd = try await lived(rehearsed, time)
        // As an older version would have left it, which read no fact in anything.
        let older = try RehearsedBackEnd(rehearsed, time)
        var last: EvidenceID?
        while true {
            let page = try backEnd.storage.evidence(
                app: "cards",
                environment: .simulated,
                after: last,
                limit: 10
            )
            for piece in page {
                let intake = Intake(
                    app: "cards",
                    environment: .simulated,
                    evidence: piece,
                    now: time.clock.now
                )
                _ = try await older.storage.commit(intake) { _ in
                    preconditionFailure("nobody is known")
                }
            }
            guard page.count == 10 else { break }
            last = page.last?.id
        }
        let report = try await replay(older)
        #expect(try #require(report["added"]?["count"]?.int64) > 5)
        #expect(report["changed"]?["count"] == 1)
        let change = report["changed"]?["first"]?.array?.first
        #expect(change?["customer"]?.string == TestServer.anna)
        #expect(change?["to"]?.string == "active paid confirmed")
        // Telling is not doing.
        #expect(try await replay(older) == report)
        #expect(try await replay(older, apply: true)["applied"] == true)
        let again = try await replay(older)
        for list in ["added", "unread", "changed"] { #expect(again[list]?["count"] == 0) }
        #expect(try await older.answer(TestServer.anna) == backEnd.answer(TestServer.anna))
        await older.close()
        await backEnd.close()
    }

    @Test func `a stored fact that no evidence states is told of, and stays`() async throws {
        let rehearsed = try RehearsedStore()
        let time = TestTime()
        let backEnd = try await lived(rehearsed, time)
        let holdings = try backEnd.storage.lineages(
            app: "cards",
            environment: .simulated,
            after: nil,
            limit: 1
        )
        var fact = try #require(holdings.first?.facts.first)
        fact.assertedAt = fact.assertedAt + .seconds(1)
        let intake = Intake(
            app: "cards",
            environment: .simulated,
            facts: [fact],
            now: time.clock.now
        )
        _ = try await backEnd.storage.commit(intake) { lineages in
            Derivation(
                answer: lineages.answer?.answer ?? [],
                validUntil: nil,
                fingerprint: lineages.answer?.fingerprint ?? ""
            )
        }
        let report = try await replay(backEnd, apply: true)
        #expect(report["unread"]?["count"] == 1)
        #expect(report["added"]?["count"] == 0)
        #expect(try await replay(backEnd)["unread"]?["count"] == 1)
        await backEnd.close()
    }
}
