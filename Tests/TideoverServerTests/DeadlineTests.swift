import Foundation
import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSQLite
import TideoverServer
import TideoverSignatures
import TideoverStorage
import TideoverTestProcesses

@testable import TideoverTestServer

/// Subscriptions change with time alone, and each boundary raises one event.
@Suite(.timeLimit(.minutes(20))) struct DeadlineTests {
    // MARK: Downtime

    /// Posts messages of three customers. Anna's grace ends on the second of three days, Ben's
    /// cancelled month ends on the third, and Cleo's trial reminder is due on the first.
    private func tellOfThree(_ server: TestServer) async throws {
        server.set(Message.start + .seconds(5))
        #expect(try await server.post(.purchase("a-1", of: "1000001")).status == 200)
        server.set(Message.end + .seconds(5))
        let failure = Message.failure("a-2", of: "1000001", graceUntil: "2026-06-17T10:00:00Z")
        #expect(try await server.post(failure).status == 200)

        server.set("2026-05-18T10:00:05Z")
        var ben = Message.purchase("b-1", of: "1000002", customer: TestServer.ben)
        ben.last(from: "2026-05-18T10:00:00Z", to: "2026-06-18T10:00:00Z")
        #expect(try await server.post(ben).status == 200)
        server.set("2026-05-20T10:00:05Z")
        var cancelled = Message.purchase("b-2", of: "1000002", customer: TestServer.ben)
        cancelled.last(from: "2026-05-18T10:00:00Z", to: "2026-06-18T10:00:00Z")
        cancelled.cancel(signed: "2026-05-20T10:00:00Z")
        #expect(try await server.post(cancelled).status == 200)

        server.set("2026-06-11T12:00:05Z")
        var cleo = Message.purchase("c-1", of: "1000003", customer: Self.cleo)
        cleo.last(from: "2026-06-11T12:00:00Z", to: "2026-06-18T12:00:00Z")
        cleo.transaction?["offerType"] = 1
        cleo.transaction?["offerDiscountType"] = "FREE_TRIAL"
        cleo.transaction?["offerPeriod"] = "P1W"
        cleo.transaction?["price"] = 0
        #expect(try await server.post(cleo).status == 200)
    }

    private static let cleo = "22222222-2222-4333-8444-555555555555"

    /// The events of the three days, in order of effect.
    private static let threeDays = [
        "2026-06-16T12:00:00.000Z trial_ending c",
        "2026-06-17T10:00:00.000Z grace_ended a",
        "2026-06-17T10:00:00.000Z entitlement_changed a",
        "2026-06-18T10:00:00.000Z expired b",
        "2026-06-18T10:00:00.000Z cleanup_due b",
        "2026-06-18T10:00:00.000Z entitlement_changed b",
        "2026-06-18T12:00:00.000Z entitlement_changed c",
    ]

    private func names(_ event: OutboxEvent) -> String {
        let names = [TestServer.anna: "a", TestServer.ben: "b", Self.cleo: "c"]
        let name = names[event.customer.customer.text] ?? "?"
        return "\(event.event.at.rfc3339) \(event.event.kind) \(name)"
    }

    @Test func `after three idle days each boundary is raised once, in order, at its own instant`()
        async throws
    {
        let server = try TestServer()
        try await tellOfThree(server)
        server.set("2026-06-16T10:00:00Z")
        #expect(await server.service.meetDueDeadlines())
        let before = try server.events()
        await server.storage.close()

        let restarted = try TestServer(folder: server.folder, store: server.store)
        restarted.set("2026-06-19T10:00:00Z")
        #expect(await restarted.service.meetDueDeadlines())
        let raised = try restarted.events().dropFirst(before.count)
        #expect(raised.map(names) == Self.threeDays)
        #expect(raised.map(\.id) == raised.map(\.id).sorted())
        let bodies = try raised.map { try JSONDocument($0.event.body).root }
        for (event, body) in zip(raised, bodies) {
            #expect(body["at"]?.string == event.event.at.rfc3339)
        }
        #expect(bodies.first?["willRenew"]?.bool == true)
        let ids = try restarted.events().compactMap {
            try JSONDocument($0.event.body).root["id"]?.string
        }
        #expect(Set(ids).count == ids.count)

        // No later check, read, restart or late notification repeats the events.
        #expect(await restarted.service.meetDueDeadlines())
        #expect(try await restarted.premium() == "hold billingRetry none")
        var again = Message.failure("a-3", of: "1000001", graceUntil: "2026-06-17T10:00:00Z")
        again.signed = "2026-06-19T09:00:00Z"
        #expect(try await restarted.post(again).status == 200)
        #expect(try restarted.events().count == before.count + Self.threeDays.count)
        await restarted.close()
    }

    // MARK: A wrong clock

    @Test func `access that ended while the clock was ahead is back once the clock is right`()
        async throws
    {
        let server = try TestServer()
        server.set(Message.start + .seconds(5))
        #expect(try await server.post(.purchase("a-1", of: "1000001")).status == 200)
        server.set(Message.end + .days(40))
        #expect(await server.service.meetDueDeadlines())
        #expect(try await server.premium().hasSuffix("none"))
        let ended = try server.events().last?.version

        server.set(Message.start + .days(1))
        #expect(try await server.premium() == "active paid access")
        let events = try server.events()
        #expect(events.last?.event.kind == "entitlement_changed")
        #expect(events.last?.version == ended.map { $0 + 1 })
        // The answer is of this instant now, so nothing changes any more.
        #expect(try await server.premium() == "active paid access")
        #expect(try server.events() == events)
        await server.close()
    }

    @Test func `a clock set back by an hour takes away nothing bought or given in that hour`()
        async throws
    {
        let server = try TestServer(
            policy: Policy(transfer: .transfer(coolDown: .zero)),
            passes: PassIssuer(issuer: "tests", key: .generate())
        )
        server.set(Message.start + .seconds(5))
        #expect(try await server.post(.purchase("a-1", of: "1000001")).status == 200)
        let calls = OwnershipCalls(server: server)
        _ = try await calls.post(
            "customers/u_1/grants",
            ["entitlement": "premium", "days": 7, "why": "outage"]
        )
        try await calls.present("u_2", calls.transaction())
        server.set(Message.start + .seconds(10))
        try await calls.present("u_3", calls.transaction())
        _ = try await calls.post("customers/u_4/aliases", ["alias": .string(TestServer.anna)])
        let customers = [TestServer.anna, "u_1", "u_2", "u_3", "u_4"]
        func answers() async throws -> [String] {
            var all: [String] = []
            for customer in customers { all.append(try await server.premium(customer)) }
            return all
        }
        let before = try await answers()
        #expect(before.map { $0.hasSuffix(" access") } == [true, true, false, true, true])
        let events = try server.events()

        server.set(Message.start - .hours(1))
        #expect(try await answers() == before)
        #expect(try server.events() == events)
        // Each pass is dated now, so the next read returns it unchanged.
        for customer in customers {
            let answer = try await server.answer(customer)
            #expect(answer["pass"]?.string != nil)
            #expect(try await server.answer(customer)["pass"] == answer["pass"])
        }
        await server.storage.close()

        var catalogue = TestServer.catalogue
        catalogue.products["cards.gold"] = Product(entitlements: ["premium"])
        let other = try TestServer(
            catalogue: catalogue,
            policy: Policy(transfer: .transfer(coolDown: .zero)),
            folder: server.folder,
            store: server.store
        )
        other.set(Message.start - .minutes(59))
        for (customer, answer) in zip(customers, before) {
            #expect(try await other.premium(customer) == answer)
        }
        await other.close()
    }

    @Test func `a failed query dated ahead does not keep access ended`() async throws {
        let server = try TestServer()
        server.set(Message.start + .seconds(5))
        #expect(try await server.post(.purchase("a-1", of: "1000001")).status == 200)
        let ahead = Message.end + .days(40)
        server.set(ahead)
        let inquiry = Fact(
            lineage: Lineage(store: .appStore, environment: .sandbox, id: "1000001"),
            assertion: .inquiry(Inquiry(askedAt: ahead, outcome: .unreachable)),
            effectiveAt: ahead,
            assertedAt: ahead,
            learnedAt: ahead,
            source: .appStoreAPI,
            evidence: EvidenceID(hex: "00")
        )
        let commitRequest = CommitRequest(
            app: "cards",
            environment: .sandbox,
            facts: [inquiry],
            now: ahead
        )
        _ = try await server.storage.commit(commitRequest) { _ in
            Derivation(answer: Array("{}".utf8), validUntil: nil, fingerprint: "")
        }
        #expect(try await server.premium().hasSuffix("none"))

        server.set(Message.start + .days(1))
        #expect(try await server.premium() == "active paid access")
        await server.close()
    }

    @Test func `the worker does not repeat an event that a read or a notification raised`()
        async throws
    {
        let server = try TestServer()
        try await tellOfThree(server)
        server.set("2026-06-16T10:00:00Z")
        #expect(await server.service.meetDueDeadlines())
        let before = try server.events().count
        server.set("2026-06-19T10:00:00Z")
        #expect(try await server.premium() == "hold billingRetry none")
        var late = Message.purchase("b-3", of: "1000002", customer: TestServer.ben)
        late.last(from: "2026-05-18T10:00:00Z", to: "2026-06-18T10:00:00Z")
        late.cancel(signed: "2026-06-01T10:00:00Z")
        #expect(try await server.post(late).status == 200)
        #expect(await server.service.meetDueDeadlines())
        let raised = try server.events().dropFirst(before)
        #expect(raised.map(names).sorted() == Self.threeDays.sorted())
        await server.close()
    }

    @Test func `a failed commit raises no events, and the next one raises all of them`()
        async throws
    {
        let isCut = Locked(false)
        let server = try TestServer(
            faults: SQLiteFaults { _ throws(StorageError) in
                guard isCut.withLock({ $0 }) else { return }
                throw StorageError(.io, place: "the disk")
            }
        )
        try await tellOfThree(server)
        server.set("2026-06-16T10:00:00Z")
        #expect(await server.service.meetDueDeadlines())
        let before = try server.events().count
        isCut.withLock { $0 = true }
        server.set("2026-06-19T10:00:00Z")
        #expect(await !server.service.meetDueDeadlines())
        #expect(try server.events().count == before)
        #expect(server.logged.contains { $0.contains("deadlines not met") })
        isCut.withLock { $0 = false }
        // Still claimed, so not derived until the claim expires.
        server.set("2026-06-19T10:01:00Z")
        #expect(await server.service.meetDueDeadlines())
        #expect(try server.events().dropFirst(before).map(names) == Self.threeDays)
        await server.close()
    }

    // MARK: Corrections

    @Test func `a correction follows an event that a late fact disproves`() async throws {
        let server = try TestServer()
        try await tellOfThree(server)
        server.set("2026-06-19T10:00:00Z")
        #expect(await server.service.meetDueDeadlines())
        let before = try server.events()
        // The payment succeeded before grace ended, but the notification is late.
        var renewed = Message.purchase("a-9", of: "1000001", signed: "2026-06-10T10:00:00Z")
        renewed.type = "DID_RENEW"
        renewed.subtype = "BILLING_RECOVERY"
        renewed.last(from: Message.end, to: "2026-07-01T10:00:00Z")
        renewed.transaction?["transactionId"] = "1000001-2"
        renewed.transaction?["webOrderLineItemId"] = "1000001-2"
        renewed.transaction?["transactionReason"] = "RENEWAL"
        #expect(try await server.post(renewed).status == 200)
        let news = try server.events().dropFirst(before.count)
        // Anna's reminder and end events are undone.
        let undone = try news.prefix(2).map { event in
            let body = try JSONDocument(event.event.body).root
            #expect(body["kind"]?.string == "corrected")
            return body["undone"]?.string
        }
        let wrong = ["grace_ending", "grace_ended"]
        let told = try before.filter { wrong.contains($0.event.kind) }.map {
            try JSONDocument($0.event.body).root["id"]?.string
        }
        #expect(undone == told && told.count == 2)
        #expect(news.count { $0.event.kind == "corrected" } == 2)
        #expect(news.contains { $0.event.kind == "billing_issue_recovered" })
        #expect(try await server.premium() == "active paid access")
        await server.close()
    }

    // MARK: The worker

    @Test func `the worker wakes at the next deadline, waits a bounded time, and stops`()
        async throws
    {
        let server = try TestServer()
        try await tellOfThree(server)
        server.set("2026-06-16T11:59:59.600Z")
        let rests = Locked<[Duration]>([])
        await server.service.work(on: [.deadlines]) { duration in
            rests.withLock { $0.append(duration) }
            let count = rests.withLock { $0.count }
            if count == 1 { server.set("2026-06-16T12:00:00Z") }
            if count == 3 { throw CancellationError() }
        }
        #expect(
            rests.withLock { $0 } == [.milliseconds(400), .seconds(1), .seconds(1)]
        )
        let reminded = try server.events().last
        #expect(reminded.map(names) == "2026-06-16T12:00:00.000Z trial_ending c")
        await server.close()
    }

    @Test func `the worker waits longer after each failure, up to a limit`() async throws {
        let server = try TestServer()
        try await tellOfThree(server)
        server.set("2026-06-19T10:00:00Z")
        await server.storage.close()
        let rests = Locked<[Duration]>([])
        await server.service.work(on: [.deadlines]) { duration in
            rests.withLock { $0.append(duration) }
            if rests.withLock({ $0.count }) == 9 { throw CancellationError() }
        }
        #expect(
            rests.withLock { $0 }
                == [1, 2, 4, 8, 16, 32, 60, 60, 60].map { Duration.seconds($0) }
        )
        await server.close()
    }

    @Test func `a long backlog is processed in batches, each customer once`() async throws {
        let server = try TestServer()
        for number in 10..<45 {
            let message = Message.purchase(
                "n-\(number)",
                of: "10000\(number)",
                customer: "000000\(number)-2222-4333-8444-555555555555"
            )
            #expect(try await server.post(message).status == 200)
        }
        server.set(Message.end + .days(3))
        #expect(try await backlog(server) == ["35", "259200"])
        #expect(await server.service.meetDueDeadlines(DeadlinePace(batch: 10)))
        #expect(try await backlog(server) == ["0", "0"])
        let samples = try await server.samples()
        #expect(samples.contains(#"tideover_deadline_batches_total{outcome="committed"} 4"#))
        let kinds = Dictionary(grouping: try server.events(), by: \.event.kind).mapValues(\.count)
        #expect(kinds == ["started": 35, "entitlement_changed": 35 * 3])
        await server.close()
    }

    private func backlog(_ server: TestServer) async throws -> [String] {
        let labels = #"{app="cards",environment="sandbox"} "#
        return try await server.samples().filter {
            $0.hasPrefix("tideover_deadlines_") && $0.contains(labels)
        }.compactMap { $0.split(separator: " ").last.map(String.init) }
    }

    @Test func `a customer that cannot be projected does not block the others`() async throws {
        let server = try TestServer()
        try await tellOfThree(server)
        try server.damage(factsOf: "1000001")
        server.set("2026-06-19T10:00:00Z")
        #expect(await !server.service.meetDueDeadlines())
        let raised = try server.events().map(names)
        #expect(raised.contains("2026-06-18T10:00:00.000Z expired b"))
        #expect(raised.contains("2026-06-16T12:00:00.000Z trial_ending c"))
        #expect(!raised.contains { $0.hasSuffix("grace_ended a") })
        let samples = try await server.samples()
        #expect(samples.contains(#"tideover_deadline_batches_total{outcome="failed"} 2"#))
        await server.close()
    }
}

// MARK: - The feed

@Suite struct EventFeedTests {
    private func page(_ server: TestServer, _ query: String = "") async throws -> JSONValue {
        let response = try await server.get("/v1/apps/cards/events\(query)")
        #expect(response.status == 200)
        return JSONValue(try JSONDocument(response.body).root)
    }

    @Test func `the feed is read page by page to its end and continues there`() async throws {
        let server = try TestServer()
        let empty = try await page(server)
        #expect(empty["events"]?.array?.isEmpty == true && empty["more"]?.bool == false)
        #expect(empty["next"] == .null)
        _ = try await server.post(.purchase())
        let first = try await page(server, "?limit=1")
        #expect(first["events"]?.array?.count == 1 && first["more"]?.bool == true)
        let started = first["events"]?[0]
        #expect(started?["kind"]?.string == "started")
        #expect(started?["effectiveAt"]?.string == "2026-05-01T10:00:00.000Z")
        #expect(started?["customer"]?.string == TestServer.anna)
        #expect(started?["data"]?["productId"]?.string == "cards.pro.monthly")
        let next = try #require(first["next"]?.string)
        let second = try await page(server, "?limit=1&after=\(next)")
        #expect(second["events"]?[0]?["kind"]?.string == "entitlement_changed")
        #expect(second["more"]?.bool == false)
        let end = try #require(second["next"]?.string)
        let last = try await page(server, "?after=\(end)")
        #expect(last["events"]?.array?.isEmpty == true && last["next"]?.string == end)
        await server.close()
    }

    @Test(arguments: [
        ("?after=yesterday", "bad-cursor"), ("?after=", "bad-cursor"),
        ("?limit=0", "bad-limit"), ("?limit=1001", "bad-limit"), ("?limit=many", "bad-limit"),
    ])
    func `an invalid cursor or limit is rejected`(query: String, name: String) async throws {
        let server = try TestServer()
        let response = try await server.get("/v1/apps/cards/events\(query)")
        #expect(response.status == 400)
        let type = try JSONDocument(response.body).root["type"]?.string
        #expect(type == "/problems/\(name)")
        await server.close()
    }
}

// MARK: - The timeline

@Suite struct TimelineRouteTests {
    private static let path = "/v1/apps/cards/customers/\(TestServer.anna)/timeline"

    private func story(_ server: TestServer, _ query: String = "") async throws -> JSONValue {
        let response = try await server.get("\(Self.path)?environment=sandbox\(query)")
        #expect(response.status == 200)
        return JSONValue(try JSONDocument(response.body).root)
    }

    @Test func `the timeline contains spans, past transitions and expected ones`() async throws {
        let server = try TestServer()
        _ = try await server.post(.purchase())
        server.set(Message.end + .hours(30))
        let told = try await story(server)
        let premium = told["entitlements"]?["premium"]
        let spans = premium?["spans"]?.array ?? []
        #expect(spans.compactMap { $0["reason"]?.string } == ["paid", "renewalDue", "unconfirmed"])
        #expect(premium?["transitions"]?[0]?["kind"]?.string == "started")
        let early = try await story(server, "&at=2026-05-10T10:00:00Z")
        #expect(early["entitlements"]?["premium"]?["spans"]?.array?.count == 1)
        #expect(early["deadlines"]?[0]?["kind"]?.string == "expiry")
        let unknown = try await story(server, "&asKnownAt=2026-04-10T10:00:00Z")
        #expect(unknown["entitlements"]?["premium"]?["spans"]?.array?.isEmpty == true)
        #expect(unknown["asKnownAt"]?.string == "2026-04-10T10:00:00.000Z")
        await server.close()
    }

    @Test func `a malformed query is rejected`() async throws {
        let server = try TestServer()
        let response = try await server.get("\(Self.path)?environment=sandbox&at=yesterday")
        #expect(response.status == 400)
        #expect(try await server.get(Self.path).status == 400)
        await server.close()
    }

    @Test(.withExecutable)
    func `the command prints the route's JSON, and its tables match it`() async throws {
        let server = try TestServer()
        _ = try await server.post(.purchase())
        server.set(Message.end + .hours(30))
        let answered = try await story(server, "&at=2026-06-03T10:00:00Z")
        await server.storage.close()
        let configuration = try server.configuration()
        func said(_ more: String...) throws -> ChildProcess.Said {
            try Executable.run(
                [
                    "timeline", TestServer.anna, "--app", "cards", "--config", configuration,
                    "--environment", "sandbox", "--at", "2026-06-03T10:00:00Z",
                ] + more
            )
        }
        let json = try said("--json")
        #expect(json.code == 0, "\(json.messages)")
        #expect(JSONValue(try JSONDocument(Array(json.results.utf8)).root) == answered)
        let words = try said()
        #expect(words.code == 0, "\(words.messages)")
        for part in ["renewalDue", "2026-06-01 10:00", "What happened", "started"] {
            #expect(words.results.contains(part), "\(part) in \(words.results)")
        }
        await server.close()
    }
}
