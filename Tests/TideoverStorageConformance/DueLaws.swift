import Testing
import TideoverCore
import TideoverStorage

extension StorageLaw {
    static let dueLaws: [StorageLaw] = [
        StorageLaw("due customers are claimed, the longest due first, up to the limit", dueInOrder),
        StorageLaw(
            "a claimed customer is given to no other worker until the claim expires",
            claimed
        ),
        StorageLaw("many who claim at once get every due customer once", manyClaim),
        StorageLaw("an expired claim derives nothing once another was given", fenced),
        StorageLaw(
            "a customer derived again is not due, whichever worker did it",
            derivedByAnother
        ),
        StorageLaw("a claim survives a failed commit and can be retried", failedClaim),
        StorageLaw("due customers are found after a restart", reopening: dueAfterRestart),
        StorageLaw("due customers of one app or environment are not due in another", dueApart),
        StorageLaw("events of many customers are in order of their instants", eventsByInstant),
        StorageLaw("an event name is stored once for each customer", toldOnce),
        StorageLaw("a derivation receives the stored event names in order", namesInOrder),
        StorageLaw("event names of a failed commit are not stored", namesOfFailure),
    ]

    /// Makes customers due on the given days.
    private static func make(
        _ due: [(customer: String, day: Int64?)],
        app: String = Sample.app,
        _ environment: Environment = .production,
        in storage: any Storage
    ) async throws {
        for one in due {
            let commitRequest = Sample.commitRequest(
                app: app,
                environment,
                customers: [Sample.key(one.customer, app: app, environment)],
                now: Sample.day(0)
            )
            _ = try await storage.commit(commitRequest) { _ in
                Derivation(
                    answer: [],
                    validUntil: one.day.map(Sample.day),
                    fingerprint: "p1"
                )
            }
        }
    }

    private static func order(
        day: Int64,
        until: Int64? = nil,
        limit: Int = 10,
        app: String = Sample.app
    ) -> DueOrder {
        DueOrder(
            app: app,
            environment: .production,
            now: Sample.day(day),
            until: Sample.day(until ?? day + 1),
            limit: limit
        )
    }

    private static func take(
        _ claims: [DueClaim],
        day: Int64,
        next: Int64? = nil,
        in storage: any Storage
    ) async throws -> [String] {
        let commitRequest = CommitRequest(
            app: Sample.app,
            environment: .production,
            claims: claims,
            now: Sample.day(day)
        )
        let outcome = try await storage.commit(commitRequest) { _ in
            Derivation(answer: [1], validUntil: next.map(Sample.day), fingerprint: "p1")
        }
        return outcome.rows.map(\.key.customer.text)
    }

    private static func reading(
        day: Int64,
        limit: Int = 10,
        in storage: any Storage
    ) throws -> DueReading {
        try storage.due(
            in: AppScope(Sample.app, .production),
            now: Sample.day(day),
            limit: limit
        )
    }

    private static func dueInOrder(_ storage: any Storage) async throws {
        try await make(
            [("u_3", 3), ("u_1", 5), ("u_2", 4), ("u_4", 6), ("u_5", nil)],
            in: storage
        )
        #expect(
            try reading(day: 5, in: storage)
                == DueReading(count: 3, oldest: Sample.day(3), next: Sample.day(6))
        )
        #expect(try reading(day: 5, limit: 2, in: storage).count == 2)
        let first = try await storage.claimDue(order(day: 5, limit: 2))
        #expect(first.map(\.customer.customer.text) == ["u_3", "u_2"])
        #expect(first.map(\.dueAt) == [Sample.day(3), Sample.day(4)])
        let second = try await storage.claimDue(order(day: 5, limit: 2))
        #expect(second.map(\.customer.customer.text) == ["u_1"])
        #expect(try await storage.claimDue(order(day: 2)).isEmpty)
        #expect(
            try reading(day: 2, in: storage)
                == DueReading(count: 0, oldest: nil, next: Sample.day(3))
        )
        #expect(try reading(day: 9, in: storage).next == nil)
    }

    private static func claimed(_ storage: any Storage) async throws {
        try await make([("u_1", 3)], in: storage)
        let mine = try await storage.claimDue(order(day: 4, until: 6))
        #expect(mine.count == 1)
        #expect(try await storage.claimDue(order(day: 5)).isEmpty)
        #expect(try reading(day: 5, in: storage).count == 1)
        let theirs = try await storage.claimDue(order(day: 6))
        #expect(theirs.map(\.customer) == mine.map(\.customer))
        #expect(try #require(theirs.first).fence > #require(mine.first).fence)
    }

    private static func manyClaim(_ storage: any Storage) async throws {
        let names = (10..<70).map { "u_\($0)" }
        try await make(names.map { ($0, 1) }, in: storage)
        let claims = try await withThrowingTaskGroup(of: [DueClaim].self) { group in
            for _ in 0..<20 {
                group.addTask { try await storage.claimDue(order(day: 2, limit: 7)) }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(claims.map(\.customer.customer.text).sorted() == names)
    }

    private static func fenced(_ storage: any Storage) async throws {
        try await make([("u_1", 3)], in: storage)
        let slow = try await storage.claimDue(order(day: 4, until: 5))
        let quick = try await storage.claimDue(order(day: 6, until: 9))
        #expect(try await take(slow, day: 7, in: storage).isEmpty)
        #expect(try storage.row(of: Sample.key("u_1"))?.version == 1)
        #expect(try await take(quick, day: 7, in: storage) == ["u_1"])
        #expect(try storage.row(of: Sample.key("u_1"))?.version == 2)
        #expect(try await take(quick, day: 8, in: storage).isEmpty)
        #expect(try await take(slow, day: 8, in: storage).isEmpty)
    }

    private static func derivedByAnother(_ storage: any Storage) async throws {
        try await make([("u_1", 3), ("u_2", 3)], in: storage)
        let claims = try await storage.claimDue(order(day: 4, until: 9))
        try await make([("u_1", 7)], in: storage)
        #expect(try await take(claims, day: 5, next: 8, in: storage) == ["u_2"])
        #expect(try reading(day: 6, in: storage).count == 0)
        // The ended claim does not prevent the next one.
        let later = try await storage.claimDue(order(day: 8, until: 9))
        #expect(later.map(\.customer.customer.text) == ["u_1", "u_2"])
    }

    private static func failedClaim(_ storage: any Storage) async throws {
        try await make([("u_1", 3)], in: storage)
        let claims = try await storage.claimDue(order(day: 4, until: 9))
        let commitRequest = CommitRequest(
            app: Sample.app,
            environment: .production,
            claims: claims,
            now: Sample.day(4)
        )
        await #expect(throws: StorageError.self) {
            try await storage.commit(commitRequest, derive: Sample.refused)
        }
        #expect(try reading(day: 5, in: storage).count == 1)
        #expect(try await storage.claimDue(order(day: 5)).isEmpty)
        #expect(try await take(claims, day: 5, in: storage) == ["u_1"])
    }

    private static func dueAfterRestart(at site: any StorageSite) async throws {
        try await site.withStorage { storage in
            try await make([("u_1", 3), ("u_2", 9)], in: storage)
            _ = try await storage.claimDue(order(day: 4, until: 5))
        }
        try await site.withStorage { storage in
            let claims = try await storage.claimDue(order(day: 6))
            #expect(claims.map(\.customer) == [Sample.key("u_1")])
            #expect(try reading(day: 6, in: storage).next == Sample.day(9))
        }
    }

    private static func dueApart(_ storage: any Storage) async throws {
        try await make([("u_1", 3)], app: "chess", in: storage)
        try await make([("u_1", 3)], .sandbox, in: storage)
        #expect(try await storage.claimDue(order(day: 4)).isEmpty)
        #expect(
            try reading(day: 4, in: storage) == DueReading(count: 0, oldest: nil, next: nil)
        )
        let claims = try await storage.claimDue(order(day: 4, app: "chess"))
        #expect(claims.map(\.customer) == [Sample.key("u_1", app: "chess")])
    }

    // MARK: Names

    private static func tell(
        _ names: [String?],
        to customer: String = "u_1",
        in storage: any Storage
    ) async throws {
        let commitRequest = Sample.commitRequest(customers: [Sample.key(customer)])
        _ = try await storage.commit(commitRequest) { _ in events(names) }
    }

    private static func events(_ names: [String?]) -> Derivation {
        Derivation(
            answer: [],
            validUntil: nil,
            fingerprint: "p1",
            events: names.map {
                Event(name: $0, kind: $0 ?? "any", at: Sample.day(1), body: [])
            }
        )
    }

    private static func eventsByInstant(_ storage: any Storage) async throws {
        // The first event of u_2 is dated after the events that follow it.
        let days: [String: [Int64]] = ["u_1": [2, 6], "u_2": [9, 3, 4], "u_3": [1, 8]]
        let commitRequest = Sample.commitRequest(customers: days.keys.map { Sample.key($0) })
        _ = try await storage.commit(commitRequest) { lineages in
            let events = days[lineages.key.customer.text, default: []].map {
                Event(kind: "day \($0)", at: Sample.day($0), body: [])
            }
            return Derivation(answer: [], validUntil: nil, fingerprint: "p1", events: events)
        }
        let heard = try storage.outbox(app: Sample.app, after: nil, limit: 100)
        #expect(
            heard.map(\.event.kind) == [
                "day 1", "day 2", "day 9", "day 3", "day 4", "day 6", "day 8",
            ]
        )
        #expect(try storage.latestEvents(app: Sample.app, limit: 3) == heard.suffix(3))
        #expect(try storage.latestEvents(app: Sample.app, limit: 100) == heard)
        #expect(try storage.latestEvents(app: "chess", limit: 3).isEmpty)
    }

    private static func toldOnce(_ storage: any Storage) async throws {
        try await tell(["a", "b", "a", nil], in: storage)
        try await tell(["b", nil, "c"], in: storage)
        try await tell(["a"], to: "u_2", in: storage)
        let heard = try storage.outbox(app: Sample.app, after: nil, limit: 100)
        #expect(
            heard.map { "\($0.customer.customer.text) \($0.event.kind)" } == [
                "u_1 a", "u_1 b", "u_1 any", "u_1 any", "u_1 c", "u_2 a",
            ]
        )
    }

    private static func namesInOrder(_ storage: any Storage) async throws {
        try await tell(["z", "b", nil], in: storage)
        try await tell(["b", "a"], in: storage)
        let key = Sample.key("u_1")
        let read = try storage.lineages(of: key, now: Sample.day(2))
        #expect(read?.deliveredEvents == ["z", "b", "a"])
        _ = try await storage.commit(Sample.commitRequest(customers: [key])) { lineages in
            #expect(lineages.deliveredEvents == ["z", "b", "a"])
            return events([])
        }
    }

    private static func namesOfFailure(_ storage: any Storage) async throws {
        try await tell(["a"], in: storage)
        let commitRequest = Sample.commitRequest(customers: [Sample.key("u_1")])
        await #expect(throws: StorageError.self) {
            try await storage.commit(commitRequest) { _ in
                let good = events(["b"])
                return Derivation(
                    answer: [],
                    validUntil: nil,
                    fingerprint: "p1",
                    events: good.events + [Event(kind: "", at: Sample.day(1), body: [])]
                )
            }
        }
        try await tell(["b"], in: storage)
        let heard = try storage.outbox(app: Sample.app, after: nil, limit: 100)
        #expect(heard.map(\.event.kind) == ["a", "b"])
    }
}
