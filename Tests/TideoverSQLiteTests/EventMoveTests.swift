import Foundation
import Testing
import TideoverCore
import TideoverSQLite
import TideoverStorage

/// Events that a version before the table of new ones stored: they are read, pruned and erased at
/// once, and moved while the storage is used.
@Suite(.timeLimit(.minutes(20))) struct EventMoveTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let scope = AppScope("cards", .production)
    private static let start = Instant(millisecondsSince1970: 1_777_000_000_000)

    private static func key(_ customer: String) throws -> CustomerKey {
        let id = try #require(CustomerID(customer))
        return CustomerKey(app: scope.app, environment: scope.environment, customer: id)
    }

    /// A body as long as most events have one: in the table before, each needed a page of its own.
    private static func body(_ customer: String) -> [UInt8] {
        let text = String(repeating: "a", count: 1_300)
        return Array(#"{"customer":"\#(customer)","text":"\#(text)"}"#.utf8)
    }

    private func connection(_ access: Connection.Access) throws -> Connection {
        try Connection(path: folder.database, access: access, busyTimeout: 5_000)
    }

    /// Creates a file of the version before with an event an hour, and returns these. Those with even
    /// numbers are Anna's, the others Ben's.
    private func createEarlierFile(_ count: Int) throws -> [OutboxEvent] {
        try folder.sql("VACUUM")
        let old = try connection(.readWrite)
        for step in Migration.all where step.number < 20 { try old.execute(step.sql) }
        let insert = try Statement(
            """
            INSERT INTO outbox (app, id, environment, customer, version, kind, at, body)
            VALUES ('cards', ?1, 'production', ?2, ?3, 'changed', ?4, ?5)
            """,
            on: old
        )
        var events: [OutboxEvent] = []
        try old.execute("BEGIN")
        for number in 0..<count {
            let customer = number.isMultiple(of: 2) ? "anna" : "ben"
            let at = Self.start + .hours(Int64(number))
            let event = OutboxEvent(
                id: EventID.next(after: events.last?.id, at: at, random: 7),
                customer: try Self.key(customer),
                version: Int64(number),
                event: Event(kind: "changed", at: at, body: Self.body(customer))
            )
            events.append(event)
            try insert.run(
                .text(event.id.description),
                .text(customer),
                .integer(event.version),
                .integer(at.millisecondsSince1970),
                .utf8(event.event.body)
            )
        }
        try old.execute("COMMIT")
        return events
    }

    private func events(in storage: SQLiteStorage) throws -> [OutboxEvent] {
        try storage.outbox(app: Self.scope.app, after: nil, limit: 10_000)
    }

    /// Waits until no earlier event is left in its table.
    private func moved(_ storage: SQLiteStorage) async throws {
        storage.moveEarlierRows { Issue.record($0) }
        let reader = try connection(.readOnly)
        while try reader.integer("SELECT count(*) FROM outbox_by_key") != 0 {
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    private func tell(_ kind: String, at now: Instant, _ storage: SQLiteStorage) async throws {
        let request = CommitRequest(
            app: Self.scope.app,
            environment: Self.scope.environment,
            customers: [try Self.key("anna")],
            now: now
        )
        _ = try await storage.commit([request]) { _ in
            Derivation(
                answer: [],
                validUntil: nil,
                fingerprint: "p1",
                events: [Event(kind: kind, at: now, body: Array("{}".utf8))]
            )
        }
    }

    @Test func `events are the same before, while and after they are moved`() async throws {
        let earlier = try createEarlierFile(600)
        let storage = try SQLiteStorage(path: folder.database)
        #expect(try events(in: storage) == earlier)
        storage.moveEarlierRows { Issue.record($0) }
        for number in 0..<50 {
            let page = try storage.outbox(
                app: Self.scope.app,
                after: earlier[number * 10].id,
                limit: 20
            )
            #expect(page == Array(earlier[(number * 10 + 1)...].prefix(20)))
        }
        try await moved(storage)
        #expect(try events(in: storage) == earlier)
        #expect(
            try storage.latestEvents(app: Self.scope.app, limit: 3) == Array(earlier.suffix(3))
        )
        #expect(try storage.problems() == [])
        #expect(try connection(.readOnly).integer("SELECT count(*) FROM outbox") == 600)
        await storage.close()
    }

    /// The clock may have been set back since: the latest earlier event decides the next id.
    @Test func `a new event follows the earlier ones`() async throws {
        let earlier = try createEarlierFile(3)
        let storage = try SQLiteStorage(path: folder.database)
        try await tell("new", at: Self.start, storage)
        let all = try events(in: storage)
        #expect(Array(all.prefix(3)) == earlier)
        #expect(all.last?.event.kind == "new")
        #expect(all.count == 4)
        #expect(try storage.latestEvents(app: Self.scope.app, limit: 2) == Array(all.suffix(2)))
        try await moved(storage)
        #expect(try events(in: storage) == all)
        await storage.close()
    }

    @Test(arguments: [false, true])
    func `earlier events are pruned, but for the app's latest`(_ hasNews: Bool) async throws {
        let earlier = try createEarlierFile(5)
        let storage = try SQLiteStorage(path: folder.database)
        let later = Self.start + .days(9)
        if hasNews { try await tell("new", at: later, storage) }
        func prune(before: Instant) async throws -> Int {
            let order = PruneOrder(
                .told,
                app: Self.scope.app,
                environment: Self.scope.environment,
                before: before,
                place: "",
                limit: 100
            )
            return try await storage.prune(order).count
        }
        #expect(try await prune(before: Self.start + .hours(2)) == 2)
        #expect(try events(in: storage).prefix(3) == earlier[2...])
        #expect(try await prune(before: Self.start + .days(900)) == (hasNews ? 3 : 2))
        let left = try events(in: storage)
        #expect(left.map(\.event.kind) == [hasNews ? "new" : "changed"])
        await storage.close()
    }

    @Test func `earlier events of an erased customer are gone, the latest names nobody`()
        async throws
    {
        let earlier = try createEarlierFile(5)
        let storage = try SQLiteStorage(path: folder.database)
        let erasure = Erasure(
            try Self.key("anna"),
            known: [],
            exclusive: [],
            events: earlier.map(\.id),
            pseudonym: try Self.key("erased-1").customer
        )
        #expect(try await storage.erase(erasure)?.events == 3)
        #expect(try events(in: storage).map(\.customer.customer.text) == ["ben", "ben"])
        let body = #"{"app":"cards","customer":"erased-1","environment":"production"}"#
        let reader = try connection(.readOnly)
        let places = try Statement(
            "SELECT customer, body FROM outbox_by_key WHERE kind = 'erased'",
            on: reader
        ).all { [$0.text(0), $0.text(1)] }
        #expect(places == [["erased-1", body]])
        await storage.close()
    }

    /// Moving an event leaves no copy of it in the file. An erasure before switches overwriting off
    /// again, as it does in a server that has worked for a while.
    @Test func `nothing in the file names an erased customer after a move`() async throws {
        let earlier = try createEarlierFile(1_001)
        let storage = try SQLiteStorage(path: folder.database)
        func erase(_ customer: String, _ events: [OutboxEvent]) async throws {
            let erasure = Erasure(
                try Self.key(customer),
                known: [],
                exclusive: [],
                events: events.map(\.id),
                pseudonym: try Self.key("erased-1").customer
            )
            _ = try await storage.erase(erasure)
        }
        try await erase("chloe", [])
        try await moved(storage)
        try await erase("ben", earlier.filter { $0.customer.customer.text == "ben" })
        #expect(try events(in: storage).count == 501)
        await storage.close()
        let content = try content()
        let named = ["anna", "ben"].filter { content.contains(#""customer":"\#($0)""#) }
        #expect(named == ["anna"])
    }

    private func content() throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: folder.database)), as: UTF8.self)
    }

    @Test func `an earlier event is exported, imported once and removed`() async throws {
        let earlier = try createEarlierFile(3)
        let storage = try SQLiteStorage(path: folder.database)
        let page = try storage.records(in: Self.scope, from: RecordPlace(.event), limit: 3)
        #expect(page.records == earlier.map { .event($0) })
        _ = try await storage.restore([.event(earlier[1])], in: Self.scope, now: Self.start)
        #expect(try events(in: storage) == earlier)
        try await storage.write(app: Self.scope.app) { writer throws(StorageError) in
            try writer.remove([.event(earlier[1])], in: Self.scope, now: Self.start)
        }
        #expect(try events(in: storage) == [earlier[0], earlier[2]])
        await storage.close()
    }
}
