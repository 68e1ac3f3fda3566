import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSandbox
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// The report about how store changes reached the server.
@Suite struct ArrivalReportTests {
    private static let start: Instant = "2026-05-01T10:00:00Z"
    private static let end: Instant = "2026-06-01T10:00:00Z"
    private static let lineage = Lineage(store: .appStore, environment: .sandbox, id: "1")

    /// Creates one message with assertions, learned some time after its signature.
    private func message(
        _ name: String,
        _ words: [Assertion],
        signed: Instant,
        learnedAfter delay: Milliseconds = .seconds(1),
        from: Instant? = nil,
        _ source: Source = .appStoreNotification
    ) -> [Fact] {
        words.map { word in
            Fact(
                lineage: Self.lineage,
                assertion: word,
                effectiveAt: from ?? signed,
                assertedAt: signed,
                learnedAt: signed + delay,
                rank: source == .revenueCatWebhook ? .relayed : .store,
                source: source,
                evidence: EvidenceID(hex: name)
            )
        }
    }

    private func term(_ number: Int64) -> Assertion {
        .term(
            Term(
                transactionId: "\(number)",
                productId: "cards.pro.monthly",
                start: Self.start + .days(30 * (number - 1)),
                end: Self.start + .days(30 * number)
            )
        )
    }

    private func outlook(_ willRenew: Bool) -> Assertion {
        .outlook(Outlook(renewalDate: Self.end, willRenew: willRenew))
    }

    private func ways(_ messages: [Fact]...) -> [LearnedChange.Way] {
        LearnedChange.changes(among: messages.flatMap(\.self)).map(\.way)
    }

    @Test func `a message without new facts is not a change`() {
        let bought = message("a", [term(1), outlook(true)], signed: Self.start)
        let again = message("b", [term(1), outlook(true)], signed: Self.start + .days(1))
        let read = message("c", [term(1)], signed: Self.start + .days(2), .appStoreAPI)
        #expect(ways(bought, again, read) == [.pushed])
    }

    @Test func `a reversal and its repetition are both changes`() {
        let said = [true, false, true].enumerated().map { number, willRenew in
            message("\(number)", [outlook(willRenew)], signed: Self.start + .days(Int64(number)))
        }
        #expect(ways(said[0], said[1], said[2]) == [.pushed, .pushed, .pushed])
    }

    @Test func `a notification after a read with the same facts is not a change`() {
        let bought = message("a", [outlook(true)], signed: Self.start)
        let read = message(
            "b",
            [.condition(Condition(status: .grace)), outlook(false)],
            signed: Self.start + .days(2),
            .appStoreAPI
        )
        let late = message(
            "c",
            [.condition(Condition(status: .grace, notice: .failedToRenewInGrace)), outlook(false)],
            signed: Self.start + .days(1),
            learnedAfter: .days(3)
        )
        #expect(ways(bought, read, late) == [.pushed, .asked])
    }

    @Test func `a late message about a past difference is a change of that time`() {
        let first = message("a", [outlook(true)], signed: Self.start)
        let third = message("c", [outlook(true)], signed: Self.start + .days(2))
        let second = message(
            "b",
            [outlook(false)],
            signed: Self.start + .days(1),
            learnedAfter: .days(4),
            .appStoreAPI
        )
        #expect(ways(first, second, third) == [.pushed, .asked])
    }

    @Test func `what RevenueCat repeats about the App Store's message is not a change`() {
        let bought = Assertion.term(
            Term(
                transactionId: "1",
                webOrderLineItemId: "700",
                productId: "cards.pro.monthly",
                start: Self.start,
                end: Self.start + .days(30),
                group: "pro",
                storefront: "USA"
            )
        )
        let pushed = message("a", [bought, outlook(true)], signed: Self.start)
        func relayed(_ name: String, _ willRenew: Bool, after delay: Milliseconds) -> [Fact] {
            message(
                name,
                [term(1), .outlook(Outlook(willRenew: willRenew))],
                signed: Self.start + delay,
                .revenueCatWebhook
            )
        }
        let echo = relayed("b", true, after: .seconds(5))
        #expect(ways(pushed, echo) == [.pushed])
        let late = message(
            "c",
            [bought, outlook(true)],
            signed: Self.start + .seconds(4),
            learnedAfter: .hours(1)
        )
        #expect(ways(echo, late) == [.pushed])
        let cancelled = relayed("d", false, after: .days(1))
        #expect(ways(pushed, echo, cancelled) == [.pushed, .pushed])
    }

    @Test func `what RevenueCat repeats does not hide a change that it does not state`() {
        let first = message("a", [outlook(true)], signed: Self.start)
        let echo = message(
            "b",
            [.outlook(Outlook(willRenew: true))],
            signed: Self.start + .days(1),
            .revenueCatWebhook
        )
        var changed = Outlook(renewalDate: Self.end, willRenew: true)
        changed.renewsInto = "basic"
        let next = message("c", [.outlook(changed)], signed: Self.start + .days(2))
        #expect(ways(first, echo, next) == [.pushed, .pushed])
    }

    @Test(arguments: [
        (Source.appStoreNotification, LearnedChange.Way?.some(.pushed)),
        (.appStoreAPI, .asked), (.deviceTransaction, .device), (.appReceipt, .device),
        (.imported, nil), (.operator, nil), (.server, nil),
    ])
    func `a change has the delivery path of its message`(source: Source, way: LearnedChange.Way?) {
        let told = message("a", [term(1)], signed: Self.start, source)
        #expect(ways(told) == [way].compactMap(\.self))
    }

    @Test
    func `a late read heals a period from its start, and unobserved time does not count`() throws {
        var report = ArrivalReport(
            app: "cards",
            environment: .sandbox,
            store: .appStore,
            since: Self.start
        )
        let facts =
            message(
                "a",
                [term(0)],
                signed: Self.start + .days(2),
                from: Self.start - .days(30),
                .appStoreAPI
            )
            + message("b", [term(1)], signed: Self.start, learnedAfter: .seconds(8))
            + message(
                "c",
                [term(2)],
                signed: Self.start + .days(31),
                from: Self.start + .days(30),
                .appStoreAPI
            )
            + message("d", [outlook(true)], signed: Self.start + .days(31), .appStoreAPI)
        report.add(LineageRecord(lineage: Self.lineage, facts: facts, owners: []))
        #expect(report.earlier == 1)
        #expect(report.share(.pushed) == Share(1, of: 3))
        #expect(report.share(.asked) == Share(2, of: 3))
        #expect(report.ways[.pushed]?.quantile(percent: 95) == .seconds(8))
        #expect(report.healing.count == 1)
        let day = Double(Milliseconds.days(1).count)
        let healing = Double(try #require(report.healing.quantile(percent: 50)).count)
        #expect((day * 0.998...day + 1_000).contains(healing))
    }

    @Test(arguments: [(1, 50, 1), (100, 50, 50), (100, 95, 95), (100, 100, 100), (7, 95, 7)])
    func `a quantile is the shortest duration that the percentage does not exceed`(
        count: Int,
        percent: Int,
        rank: Int
    ) {
        var delays = DelayDistribution()
        for number in (1...count).reversed() { delays.add(Milliseconds(Int64(number))) }
        #expect(delays.quantile(percent: percent) == Milliseconds(Int64(rank)))
        #expect(delays.count == count)
    }

    @Test func `a long quantile is at most a five-hundredth too short`() throws {
        var random = SeededRandom(seed: 3)
        for _ in 0..<1_000 {
            let length = random.number(in: 1...Milliseconds.days(400).count)
            var delays = DelayDistribution()
            delays.add(Milliseconds(length))
            let found = try #require(delays.quantile(percent: 50)).count
            #expect(found <= length)
            #expect(length - found <= length / 500)
        }
        #expect(DelayDistribution().quantile(percent: 50) == nil)
    }
}

/// The report over a life at the simulated store.
@Suite struct ArrivalReportLifeTests {
    /// Anna subscribes, and renews monthly. The notifications in `lost`, by number, never arrive,
    /// although the store considers them delivered.
    private func live(
        _ rehearsed: RehearsedStore,
        _ time: TestTime,
        _ backEnd: RehearsedBackEnd,
        months: Int64,
        lost: Set<Int>
    ) async throws -> Int {
        let store = rehearsed.store
        try await store.subscribe(token: TestServer.anna)
        let sent = Locked(0)
        let end = RehearsedStore.start + .days(31 * months)
        while time.clock.now < end {
            // The receiver's clock is the sender's.
            let next = await store.nextEvent.map(Instant.init(millisecondsSince1970:)) ?? end
            time.clock.now = min(end, next)
            try await store.advance(to: time.clock.now.millisecondsSince1970) { body in
                let number = sent.withLock { sent in
                    sent += 1
                    return sent
                }
                return lost.contains(number) ? 200 : try await backEnd.post(body)
            }
        }
        return sent.withLock { $0 }
    }

    private func row(_ backEnd: RehearsedBackEnd) async throws -> JSONValue {
        let answer = try await backEnd.get("/v1/reports/arrival?app=cards")
        return try #require(answer["rows"]?.array?.first)
    }

    @Test(arguments: [[], [2], [2, 4], [1, 2, 3, 4]] as [Set<Int>])
    func `reads find every lost notification`(lost: Set<Int>) async throws {
        let rehearsed = try RehearsedStore()
        let time = TestTime()
        let backEnd = try RehearsedBackEnd(rehearsed, time)
        // The first notification always arrives: changes before it are not counted.
        let lost = Set(lost.map { $0 + 1 })
        let sent = try await live(rehearsed, time, backEnd, months: 6, lost: lost)
        #expect(sent >= 6)
        #expect(try await backEnd.backfill()?["status"]?.string == "completed")
        let row = try await row(backEnd)
        let changes = Int64(sent)
        let asked = Int64(lost.count)
        #expect(row["changes"]?.int64 == changes)
        #expect(row["earlier"]?.int64 == 0)
        #expect(row["pushed"]?["count"]?.int64 == changes - asked)
        #expect(row["pushed"]?["of"]?.int64 == changes)
        // The simulated store sends a second after it signs.
        #expect(row["pushed"]?["delay"]?["medianSeconds"]?.double == 1)
        #expect(row["pushed"]?["delay"]?["p95Seconds"]?.double == 1)
        #expect(row["asked"]?["count"]?.int64 == asked)
        #expect(row["device"]?["count"]?.int64 == 0)
        #expect(row["timeToHeal"]?["of"]?.int64 == asked)
        await backEnd.close()
    }

    @Test func `the time to heal runs from the signature to the read`() async throws {
        let rehearsed = try RehearsedStore()
        let time = TestTime()
        let backEnd = try RehearsedBackEnd(rehearsed, time)
        _ = try await live(rehearsed, time, backEnd, months: 3, lost: [2])
        let letter = await rehearsed.store.letters[1]
        let signed = Instant(millisecondsSince1970: letter.notification.signedDate)
        _ = try await backEnd.backfill()
        let healed = try await row(backEnd)["timeToHeal"]
        let truth = Double((time.clock.now - signed).count) / 1_000
        #expect(healed?["of"]?.int64 == 1)
        let median = try #require(healed?["medianSeconds"]?.double)
        // A period that begins before its signature has been true for longer.
        #expect(median >= truth * 0.998)
        #expect(median <= truth + Double(Milliseconds.days(1).count) / 1_000)
        await backEnd.close()
    }

    @Test func `a report needs a key and contains only the apps of the key`() async throws {
        let server = try TestServer()
        _ = try await server.post(.purchase())
        let target = "/v1/reports/arrival"
        #expect(try await server.ask("GET", target).status == 401)
        #expect(try await server.ask("GET", "\(target)?app=cards").status == 401)
        let made = try await server.send(
            "POST",
            "/v1/keys",
            body: Array(#"{"kind": "secret", "apps": ["rehearsal"]}"#.utf8)
        )
        let key = try #require(try JSONDocument(made.body).root["key"]?.string)
        let other: Headers = ["Authorization": "Bearer \(key)"]
        #expect(try await server.ask("GET", "\(target)?app=cards", headers: other).status == 403)
        let own = try await server.ask("GET", target, headers: other)
        #expect(own.status == 200)
        #expect(try JSONDocument(own.body).root["rows"]?.elements.map { $0 }.isEmpty == true)
        let all = try JSONDocument(try await server.get(target).body).root["rows"]
        #expect(all?.elements.compactMap { $0["environment"]?.string } == ["sandbox", "simulated"])
        #expect(all?.elements.map { $0 }.first?["pushed"]?["count"]?.int64 == 1)
        #expect(try await server.get("\(target)?app=other").status == 404)
        await server.close()
    }
}
