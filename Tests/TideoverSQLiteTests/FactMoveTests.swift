import Foundation
import Testing
import TideoverCore
import TideoverLocks
import TideoverSQLite
import TideoverStorage

/// Facts that a version before the table of new facts stored: they are read at once and moved while
/// the storage is used.
@Suite(.timeLimit(.minutes(20))) struct FactMoveTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let scope = AppScope("cards", .production)
    private static let start = Instant(millisecondsSince1970: 1_777_000_000_000)

    private static func fact(_ lineage: Int, _ month: Int64) -> Fact {
        let begin = start + .days(30 * month)
        return Fact(
            lineage: Lineage(store: .appStore, environment: .production, id: "\(lineage)"),
            assertion: .term(
                Term(
                    transactionId: "\(lineage)-\(month)",
                    productId: "cards.pro.monthly",
                    start: begin,
                    end: begin + .days(30),
                    accountToken: CustomerID("anna")
                )
            ),
            effectiveAt: begin,
            assertedAt: begin,
            learnedAt: begin + .seconds(2),
            source: .appStoreNotification,
            evidence: EvidenceID(hex: "00")
        )
    }

    /// Four lineages of 150 even months: more than two parts of a move.
    private static let earlier = (1...4).flatMap { lineage in
        (0..<150).map { fact(lineage, 2 * $0) }
    }

    /// Creates a file of the version before, with these facts.
    private func createEarlierFile(_ facts: [Fact]) throws {
        try folder.sql("VACUUM")
        let old = try connection(.readWrite)
        for step in Migration.all where step.number < 19 { try old.execute(step.sql) }
        let insert = try Statement(
            """
            INSERT INTO fact (app, environment, lineage, identity, asserted_at, form)
            VALUES ('cards', 'production', ?1, ?2, ?3, ?4)
            """,
            on: old
        )
        try old.execute("BEGIN")
        for fact in facts {
            let row = FactRow(fact)
            try insert.run(
                .text(fact.lineage.key),
                .bytes(row.identity),
                .integer(fact.assertedAt.millisecondsSince1970),
                .utf8(row.form)
            )
        }
        // The figures of all of them are calculated.
        try old.execute("DELETE FROM stale_figures")
        try old.execute("COMMIT")
    }

    private func connection(_ access: Connection.Access) throws -> Connection {
        try Connection(path: folder.database, access: access, busyTimeout: 5_000)
    }

    private func months(of lineage: Int, in storage: SQLiteStorage) throws -> [Int64] {
        let record = try storage.lineageRecord(
            Self.fact(lineage, 0).lineage,
            app: Self.scope.app
        )
        return record.facts.map { ($0.assertedAt - Self.start).count / Milliseconds.days(30).count }
    }

    private func commit(_ facts: [Fact], to storage: SQLiteStorage) async throws -> Int {
        let request = CommitRequest(
            app: Self.scope.app,
            environment: Self.scope.environment,
            facts: facts,
            now: Self.start
        )
        let outcomes = try await storage.commit([request]) { _ in
            Derivation(answer: [], validUntil: nil, fingerprint: "p1")
        }
        guard case .committed(let count, _, _)? = outcomes.first else { return 0 }
        return count
    }

    /// Waits until no earlier fact is left in its table.
    private func moved() async throws {
        let reader = try connection(.readOnly)
        while try reader.integer("SELECT count(*) FROM fact_by_key") != 0 {
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    @Test func `facts are the same before, while and after they are moved`() async throws {
        try createEarlierFile(Self.earlier)
        let storage = try SQLiteStorage(path: folder.database)
        let even = (0..<150).map { Int64(2 * $0) }
        for lineage in 1...4 { #expect(try months(of: lineage, in: storage) == even) }
        storage.moveEarlierRows { Issue.record($0) }
        for _ in 0..<50 { #expect(try months(of: 2, in: storage) == even) }
        try await moved()
        for lineage in 1...4 { #expect(try months(of: lineage, in: storage) == even) }
        #expect(try storage.problems() == [])
        let reader = try connection(.readOnly)
        #expect(try reader.integer("SELECT count(*) FROM fact") == 600)
        // A move is no news of the purchase.
        #expect(try reader.integer("SELECT count(*) FROM stale_figures") == 0)
        await storage.close()
    }

    @Test func `new facts join earlier ones in the order of their assertion`() async throws {
        try createEarlierFile(Self.earlier)
        let storage = try SQLiteStorage(path: folder.database)
        let news = [Self.fact(1, 0), Self.fact(1, 3), Self.fact(1, 4), Self.fact(1, 999)]
        #expect(try await commit(news, to: storage) == 2)
        let expected = ((0..<150).map { Int64(2 * $0) } + [3, 999]).sorted()
        #expect(try months(of: 1, in: storage) == expected)
        storage.moveEarlierRows { Issue.record($0) }
        try await moved()
        #expect(try months(of: 1, in: storage) == expected)
        #expect(try await commit(news, to: storage) == 0)
        await storage.close()
    }

    @Test func `a record that is not moved yet is listed and removed`() async throws {
        try createEarlierFile(Array(Self.earlier.prefix(3)))
        let storage = try SQLiteStorage(path: folder.database)
        #expect(try await commit([Self.fact(1, 1)], to: storage) == 1)
        let page = try storage.records(
            in: Self.scope,
            from: RecordPlace(.fact),
            limit: 3
        )
        #expect(page.records == [0, 1, 2].map { .fact(Self.fact(1, $0)) })
        try await storage.write(app: Self.scope.app) { writer throws(StorageError) in
            try writer.remove(
                [.fact(Self.fact(1, 0)), .fact(Self.fact(1, 1))],
                in: Self.scope,
                now: Self.start
            )
        }
        #expect(try months(of: 1, in: storage) == [2, 4])
        await storage.close()
    }

    /// A reader keeps the log from restarting, so a move would only make it longer.
    @Test func `a move pauses while a long read holds the log`() async throws {
        try createEarlierFile(
            (1...200).flatMap { lineage in
                (0..<150).map { Self.fact(lineage, $0) }
            }
        )
        let storage = try SQLiteStorage(path: folder.database)
        let reader = try connection(.readOnly)
        try reader.execute("BEGIN; SELECT count(*) FROM tally")
        storage.moveEarlierRows { Issue.record($0) }
        while storage.logByteCount < 16 << 20 { try await Task.sleep(for: .milliseconds(10)) }
        for month in Int64(150)..<160 {
            #expect(try await commit([Self.fact(1, month)], to: storage) == 1)
        }
        #expect(storage.logByteCount < 24 << 20)
        #expect(try months(of: 200, in: storage).count == 150)
        try reader.execute("COMMIT")
        try await moved()
        #expect(try months(of: 1, in: storage) == (0..<160).map { Int64($0) })
        await storage.close()
    }

    @Test func `a copy that is made during a move has every fact`() async throws {
        try createEarlierFile(
            (1...40).flatMap { lineage in (0..<150).map { Self.fact(lineage, $0) } }
        )
        let storage = try SQLiteStorage(path: folder.database)
        storage.moveEarlierRows { Issue.record($0) }
        let copy = try storage.beginCopy()
        while storage.copyReport?.state == .copying {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(storage.copyReport?.state == .copied)
        let copied = try SQLiteStorage(readingUsed: copy.file)
        for lineage in 1...40 {
            #expect(try months(of: lineage, in: copied) == (0..<150).map { Int64($0) })
        }
        #expect(try copied.problems() == [])
        await copied.close()
        try await moved()
        await storage.close()
    }

    @Test func `an imported fact that is not moved yet is stored once`() async throws {
        try createEarlierFile(Array(Self.earlier.prefix(3)))
        let storage = try SQLiteStorage(path: folder.database)
        let known = Self.fact(1, 2)
        _ = try await storage.restore([.fact(known)], in: Self.scope, now: Self.start)
        #expect(try months(of: 1, in: storage) == [0, 2, 4])
        storage.moveEarlierRows { Issue.record($0) }
        try await moved()
        #expect(try months(of: 1, in: storage) == [0, 2, 4])
        await storage.close()
    }

    @Test func `a damaged file is not changed`() async throws {
        try createEarlierFile(Self.earlier)
        let storage = try SQLiteStorage(path: folder.database)
        storage.prohibitWriting("a page is unreadable")
        storage.moveEarlierRows { Issue.record($0) }
        await storage.close()
        #expect(try connection(.readOnly).integer("SELECT count(*) FROM fact_by_key") == 600)
    }

    @Test func `a move that was interrupted goes on`() async throws {
        try createEarlierFile(Self.earlier)
        let transactions = Locked(0)
        let full = try folder.open { _ throws(StorageError) in
            let count = transactions.withLock { count in
                count += 1
                return count
            }
            if count > 1 { throw StorageError(.full, place: "") }
        }
        let reported = Locked<StorageError.Reason?>(nil)
        full.moveEarlierRows { error in reported.withLock { $0 = error.reason } }
        while reported.withLock({ $0 }) == nil { try await Task.sleep(for: .milliseconds(10)) }
        #expect(reported.withLock { $0 } == .full)
        await full.close()
        // One part of five was moved.
        #expect(try connection(.readOnly).integer("SELECT count(*) FROM fact_by_key") == 472)
        for lineage in 1...4 {
            let reopened = try SQLiteStorage(reading: folder.database)
            #expect(try months(of: lineage, in: reopened).count == 150)
            await reopened.close()
        }
        let storage = try SQLiteStorage(path: folder.database)
        storage.moveEarlierRows { Issue.record($0) }
        try await moved()
        for lineage in 1...4 { #expect(try months(of: lineage, in: storage).count == 150) }
        await storage.close()
    }
}
