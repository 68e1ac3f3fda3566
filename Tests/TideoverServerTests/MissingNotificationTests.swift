import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverSandbox
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// The alarm for missing notifications: one is due, and none arrives.
@Suite struct MissingNotificationTests {
    /// Creates a month's purchase of Anna's with a received notification.
    private func bought() async throws -> (RehearsedStore, TestTime, RehearsedBackEnd) {
        let rehearsed = try RehearsedStore()
        let time = TestTime(movesClock: true)
        let backEnd = try RehearsedBackEnd(rehearsed, time, access: rehearsed.following(time))
        try await rehearsed.store.register(
            StoreCustomer(name: "anna", appAccountToken: TestServer.anna)
        )
        try await rehearsed.store.perform(
            .subscribe(product: "cards.pro.monthly", trial: .declined),
            by: "anna"
        )
        try await pass(to: RehearsedStore.start + .days(1), rehearsed, time) { body in
            try await backEnd.post(body)
        }
        return (rehearsed, time, backEnd)
    }

    private func pass(
        to instant: Instant,
        _ rehearsed: RehearsedStore,
        _ time: TestTime,
        posting: @escaping @Sendable ([UInt8]) async throws -> Int
    ) async throws {
        time.clock.now = max(time.clock.now, instant)
        let now = time.clock.now.millisecondsSince1970
        try await rehearsed.store.advance(to: now, posting: posting)
    }

    /// Checks once a minute until an instant of the clock.
    private func watch(
        _ backEnd: RehearsedBackEnd,
        _ time: TestTime,
        until instant: Instant
    ) async {
        time.end(at: instant)
        await backEnd.service.work(on: [.silences])
    }

    private func alarms(_ backEnd: RehearsedBackEnd) -> [String] {
        backEnd.logged.filter { $0.contains(#""code":"silence""#) }
    }

    /// The end of the purchased month.
    private static let due = RehearsedStore.start + Period(months: 1)

    @Test func `a due renewal without a notification raises one alarm until one arrives`()
        async throws
    {
        let (rehearsed, time, backEnd) = try await bought()
        time.clock.now = Self.due + .hours(5)
        await watch(backEnd, time, until: Self.due + .hours(5) + .minutes(55))
        #expect(alarms(backEnd) == [])
        await watch(backEnd, time, until: Self.due + .hours(30))
        let raised = alarms(backEnd)
        #expect(raised.count == 1, "\(raised)")
        #expect(raised.first?.contains(#""level":"error""#) == true)
        let told = try await backEnd.get("/v1/apps/cards/arrivals?environment=simulated")
        let since = try #require(told["alarmSince"]?.string.flatMap { Instant(rfc3339: $0) })
        #expect(since >= Self.due + .hours(6))
        #expect(since < Self.due + .hours(7))
        // The store's next attempt succeeds.
        try await pass(to: Self.due + .hours(40), rehearsed, time) { body in
            try await backEnd.post(body)
        }
        #expect(alarms(backEnd).count == 2)
        #expect(alarms(backEnd).last?.contains("arrive again") == true)
        let after = try await backEnd.get("/v1/apps/cards/arrivals?environment=simulated")
        #expect(after["alarmSince"] == .null)
        await watch(backEnd, time, until: time.clock.now + .hours(12))
        #expect(alarms(backEnd).count == 2)
        await backEnd.close()
    }

    private func found(_ backEnd: RehearsedBackEnd) -> [String] {
        backEnd.logged.filter { $0.contains("asked the store about the silence") }
    }

    private func sample(_ found: String, _ count: Int) -> String {
        let labels = #"app="cards",environment="simulated",found="\#(found)""#
        return "tideover_silences_total{\(labels)} \(count)"
    }

    @Test func `a silence causes one request to the store, which heals and reports the loss`()
        async throws
    {
        let (rehearsed, time, backEnd) = try await bought()
        try await pass(to: Self.due + .hours(5), rehearsed, time) { _ in 500 }
        #expect(try await backEnd.samples().contains(sample("missed", 0)))
        await watch(backEnd, time, until: Self.due + .hours(8))
        #expect(alarms(backEnd).count == 1)
        #expect(found(backEnd).count == 1)
        #expect(found(backEnd).first?.contains(#""code":"missed""#) == true)
        #expect(found(backEnd).first?.contains(#""level":"warning""#) == true)
        #expect(try await backEnd.samples().contains(sample("missed", 1)))
        let premium = try await backEnd.answer(TestServer.anna)["entitlements"]?["premium"]
        #expect(premium?["confidence"]?.string == "confirmed")
        // The gap continues; there is no further query.
        let calls = await rehearsed.store.calls.count
        #expect(calls > 0)
        await watch(backEnd, time, until: Self.due + .days(3))
        #expect(await rehearsed.store.calls.count == calls)
        #expect(found(backEnd).count == 1)
        // The gap ends; the next one is a new one.
        try await pass(to: Self.due + .days(4), rehearsed, time) { body in
            try await backEnd.post(body)
        }
        let next = RehearsedStore.start + Period(months: 2)
        time.clock.now = max(time.clock.now, next + .hours(5))
        await watch(backEnd, time, until: next + .hours(12))
        #expect(try await backEnd.samples().contains(sample("missed", 2)))
        #expect(found(backEnd).count == 2)
        await backEnd.close()
    }

    @Test func `a request without new facts is reported as nothing`() async throws {
        let (rehearsed, time, backEnd) = try await bought()
        try await pass(to: Self.due + .hours(5), rehearsed, time) { _ in 500 }
        _ = try await backEnd.backfill()
        await watch(backEnd, time, until: Self.due + .hours(8))
        #expect(found(backEnd).count == 1)
        #expect(found(backEnd).first?.contains(#""code":"nothing""#) == true)
        #expect(try await backEnd.samples().contains(sample("nothing", 1)))
        await backEnd.close()
    }

    @Test func `a loss that the store reported counts although other requests fail`() async throws {
        let (rehearsed, time, backEnd) = try await bought()
        try await pass(to: Self.due + .hours(5), rehearsed, time) { _ in 500 }
        await rehearsed.store.add(
            AppStoreFaultRule(.unavailable(status: 503), on: .refundHistory, times: nil)
        )
        await watch(backEnd, time, until: Self.due + .hours(8))
        #expect(found(backEnd).count == 1)
        #expect(found(backEnd).first?.contains(#""code":"missed""#) == true)
        #expect(found(backEnd).first?.contains("it did not answer everything") == true)
        #expect(try await backEnd.samples().contains(sample("missed", 1)))
        await backEnd.close()
    }

    @Test func `an unreachable store leaves the result unknown, and the requests are bounded`()
        async throws
    {
        let (rehearsed, time, backEnd) = try await bought()
        try await pass(to: Self.due + .hours(5), rehearsed, time) { _ in 500 }
        await rehearsed.store.add(AppStoreFaultRule(.unavailable(status: 503), times: nil))
        await watch(backEnd, time, until: Self.due + .days(2))
        #expect(alarms(backEnd).count == 1)
        #expect(found(backEnd).count == 1)
        #expect(found(backEnd).first?.contains(#""code":"unknown""#) == true)
        #expect(try await backEnd.samples().contains(sample("unknown", 1)))
        #expect(found(backEnd).first?.contains("Everything that it answered was known") == true)
        // Four attempts in each of the four steps of a run.
        #expect(await rehearsed.store.calls.count == 16)
        await backEnd.close()
    }

    @Test func `a restarted server does not repeat the request for the same silence`()
        async throws
    {
        let (rehearsed, time, backEnd) = try await bought()
        try await pass(to: Self.due + .hours(5), rehearsed, time) { _ in 500 }
        await watch(backEnd, time, until: Self.due + .hours(8))
        #expect(found(backEnd).count == 1)
        await backEnd.storage.close()
        let calls = await rehearsed.store.calls.count
        let next = try RehearsedBackEnd(
            rehearsed,
            time,
            folder: backEnd.folder,
            access: rehearsed.following(time)
        )
        await watch(next, time, until: time.clock.now + .hours(24))
        #expect(found(next) == [])
        #expect(await rehearsed.store.calls.count == calls)
        await next.close()
    }

    @Test func `a notification at one server ends the silence at another`() async throws {
        let (rehearsed, time, backEnd) = try await bought()
        let other = try RehearsedBackEnd(
            rehearsed,
            time,
            access: rehearsed.following(time),
            sharing: backEnd
        )
        try await pass(to: Self.due + .hours(5), rehearsed, time) { body in
            try await backEnd.post(body)
        }
        await watch(backEnd, time, until: Self.due + .hours(5) + .minutes(2))
        await watch(other, time, until: Self.due + .hours(12))
        #expect(alarms(other) == [])
        #expect(found(other) == [])
        let target = "/v1/apps/cards/arrivals?environment=simulated"
        let first = try await backEnd.get(target)["lastArrivedAt"]?.string
        #expect(first != nil)
        #expect(try await other.get(target)["lastArrivedAt"]?.string == first)
        await backEnd.close()
    }

    @Test func `servers on one storage raise one alarm for a silence, and ask the store once`()
        async throws
    {
        let (rehearsed, time, backEnd) = try await bought()
        let other = try RehearsedBackEnd(
            rehearsed,
            time,
            access: rehearsed.following(time),
            sharing: backEnd
        )
        try await pass(to: Self.due + .hours(5), rehearsed, time) { _ in 500 }
        await watch(backEnd, time, until: Self.due + .hours(8))
        await watch(other, time, until: Self.due + .hours(12))
        #expect(alarms(backEnd).count == 1)
        #expect(alarms(other) == [])
        #expect(found(other) == [])
        // The next arrival, at the one server, ends the alarm of both.
        try await pass(to: Self.due + .days(2), rehearsed, time) { body in
            try await backEnd.post(body)
        }
        await watch(backEnd, time, until: time.clock.now + .minutes(2))
        let told = try await other.get("/v1/apps/cards/arrivals?environment=simulated")
        #expect(told["alarmSince"] == .null)
        #expect(alarms(other).last?.contains("arrive again") == true)
        await backEnd.close()
    }

    @Test func `a silence without due notifications raises no alarm`() async throws {
        let (_, time, backEnd) = try await bought()
        time.clock.now = Self.due - .hours(20)
        await watch(backEnd, time, until: Self.due - .hours(1))
        #expect(alarms(backEnd) == [])
        await backEnd.close()
    }

    @Test func `a cancelled subscription causes no due renewal`() async throws {
        let (rehearsed, time, backEnd) = try await bought()
        try await rehearsed.store.perform(.cancel(product: nil), by: "anna")
        try await pass(to: RehearsedStore.start + .days(2), rehearsed, time) { body in
            try await backEnd.post(body)
        }
        time.clock.now = Self.due + .hours(7)
        await watch(backEnd, time, until: Self.due + .hours(12))
        #expect(alarms(backEnd) == [])
        await backEnd.close()
    }

    @Test func `a silence that a backfill healed still raises an alarm`() async throws {
        let (rehearsed, time, backEnd) = try await bought()
        try await pass(to: Self.due + .hours(5), rehearsed, time) { _ in 500 }
        #expect(try await backEnd.backfill()?["status"]?.string == "completed")
        await watch(backEnd, time, until: Self.due + .hours(8))
        #expect(alarms(backEnd).count == 1)
        await backEnd.close()
    }

    @Test func `an alarm from before a restart is not repeated, and the downtime does not count`()
        async throws
    {
        let (rehearsed, time, backEnd) = try await bought()
        time.clock.now = Self.due + .hours(5)
        await watch(backEnd, time, until: Self.due + .hours(8))
        #expect(alarms(backEnd).count == 1)
        await backEnd.storage.close()
        let next = try RehearsedBackEnd(rehearsed, time, folder: backEnd.folder)
        await watch(next, time, until: time.clock.now + .hours(24))
        #expect(alarms(next) == [])
        let told = try await next.get("/v1/apps/cards/arrivals?environment=simulated")
        #expect(told["alarmSince"]?.string != nil)
        #expect(try #require(told["silenceSeconds"]?.double) > 30 * 86_400)
        await next.close()
    }

    @Test func `a server that was down does not blame the store`() async throws {
        let (rehearsed, time, backEnd) = try await bought()
        await watch(backEnd, time, until: time.clock.now + .minutes(2))
        await backEnd.storage.close()
        time.clock.now = Self.due + .days(3)
        let next = try RehearsedBackEnd(rehearsed, time, folder: backEnd.folder)
        await watch(next, time, until: time.clock.now + .hours(24))
        #expect(alarms(next) == [])
        await next.close()
    }

    @Test func `the metrics contain the duration of the silence`() async throws {
        let server = try TestServer()
        let start = server.now
        #expect(try await server.post(.purchase()).status == 200)
        server.set(start + .seconds(90))
        let samples = try await server.samples()
        let labels = #"{app="cards",environment="sandbox",store="appStore"}"#
        #expect(samples.contains("tideover_notifications_silence_seconds\(labels) 90"))
        #expect(samples.contains("tideover_notifications_silence_alarm\(labels) 0"))
        await server.close()
    }

    @Test func `an accepted test notification is listed with its id, a rejected one is not`()
        async throws
    {
        let server = try TestServer()
        var test = Message("t-1")
        test.type = "TEST"
        test.subtype = nil
        test.status = nil
        #expect(try await server.post(test.body(server.store, defect: .unknownRoot)).status == 401)
        let target = "/v1/apps/cards/arrivals?environment=sandbox"
        let before = try JSONDocument(try await server.get(target).body).root
        #expect(before["tests"]?.elements.map { $0 }.isEmpty == true)
        #expect(before["lastArrivedAt"]?.kind == .null)
        #expect(try await server.post(test).status == 200)
        let after = try JSONDocument(try await server.get(target).body).root
        #expect(after["tests"]?.elements.compactMap { $0["notificationUUID"]?.string } == ["t-1"])
        #expect(after["lastArrivedAt"]?.string == server.now.rfc3339)
        // Another server of the same storage, started before or after it arrived.
        let other = try TestServer(sharing: server)
        let there = try JSONDocument(try await other.get(target).body).root
        #expect(there["tests"]?.elements.compactMap { $0["notificationUUID"]?.string } == ["t-1"])
        #expect(
            try await server.get("/v1/apps/rehearsal/arrivals?environment=simulated").status == 404
        )
        await server.close()
    }
}

/// The renewals with a due notification of the store.
@Suite struct RenewalsDueTests {
    private static let start: Instant = "2026-05-01T10:00:00Z"
    private static let end = start + .days(30)

    private func lineageRecord(
        _ words: [(Assertion, learnedAt: Instant)],
        _ ownership: Ownership = .purchased
    ) -> LineageRecord {
        let lineage = Lineage(
            store: .appStore,
            environment: .production,
            id: "1",
            ownership: ownership
        )
        let facts = words.enumerated().map { number, word in
            Fact(
                lineage: lineage,
                assertion: word.0,
                effectiveAt: word.learnedAt,
                assertedAt: word.learnedAt,
                learnedAt: word.learnedAt,
                source: .appStoreNotification,
                evidence: EvidenceID(hex: "\(number)")
            )
        }
        return LineageRecord(lineage: lineage, facts: facts, owners: [])
    }

    private func term(
        _ id: String = "1",
        from start: Instant = start,
        isUpgraded: Bool = false,
        plan: Term.Plan = .autoRenewable
    ) -> Assertion {
        .term(
            Term(
                transactionId: id,
                productId: "a",
                plan: plan,
                start: start,
                end: start + .days(30),
                isUpgraded: isUpgraded
            )
        )
    }

    @Test func `only a term that renews and has no known successor is due`() {
        let refund = Assertion.revocation(
            Revocation(term: TermKey("t:1"), date: Self.start + .days(3), cause: .refund)
        )
        let heard = Self.start + .days(29)
        let cases: [([(Assertion, learnedAt: Instant)], Ownership, [Instant])] = [
            ([(term(), Self.start)], .purchased, [Self.end]),
            ([(term(), Self.start)], .familyShared, []),
            ([(term(isUpgraded: true), Self.start)], .purchased, []),
            ([(term(plan: .nonRenewing), Self.start)], .purchased, []),
            ([(term(), Self.start), (refund, Self.start + .days(3))], .purchased, []),
            (
                [(term(), Self.start), (.outlook(Outlook(willRenew: false)), Self.start)],
                .purchased, []
            ),
            // Announced before the end, and received.
            (
                [(term(), Self.start), (term("2", from: Self.end), heard)], .purchased,
                [Self.end + .days(30)]
            ),
            // Found later by a query.
            (
                [(term(), Self.start), (term("2", from: Self.end), heard + .days(9))], .purchased,
                [Self.end, Self.end + .days(30)]
            ),
        ]
        for (words, ownership, due) in cases {
            let found = lineageRecord(words, ownership).renewalsDue(after: heard)
            #expect(found.sorted() == due)
        }
        #expect(lineageRecord([(term(), Self.start)]).renewalsDue(after: Self.end) == [])
    }
}
