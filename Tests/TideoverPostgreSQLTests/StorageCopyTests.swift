import Foundation
import Testing
import TideoverCore
import TideoverPostgreSQL
import TideoverSQLite
import TideoverServer
import TideoverStorage
import TideoverTestProcesses

/// Copies between SQLite and PostgreSQL, as `tideover migrate` makes them.
@Suite(.onPostgreSQL) final class `A copy between storages`: SuiteWithFolder {
    private let copy = StorageCopy(app: Work.app, environment: .production)

    private func sqlite(_ name: String) throws -> SQLiteStorage {
        try SQLiteStorage(path: folder.appending(path: name).path)
    }

    private func run(
        from source: any Storage,
        to target: any Storage
    ) async throws -> StorageCopy.Summary {
        _ = try await copy.run(from: source, to: target, now: Work.start) { _ in }
        return try copy.summary(of: target) { _ in }
    }

    private func fill(_ storage: any Storage) async throws {
        for number in 0..<40 {
            _ = try await storage.commit(Work.commit(number, of: number / 4), derive: Work.derive)
        }
    }

    @Test func `has the same records and answers in PostgreSQL, and back in SQLite`() async throws {
        let source = try sqlite("source.db")
        let database = try TestDatabase()
        let postgres = try PostgreSQLStorage(address: database.address)
        let back = try sqlite("back.db")
        try await fill(source)
        let before = try copy.summary(of: source) { _ in }
        #expect(before.customers == 10)
        #expect(try !copy.hasRecords(in: postgres))
        #expect(try await run(from: source, to: postgres) == before)
        #expect(try copy.hasRecords(in: postgres))
        #expect(try await run(from: postgres, to: back) == before)
        // Again, as after an interruption.
        #expect(try await run(from: postgres, to: back) == before)
        for storage in [source, postgres, back] as [any Storage] { await storage.close() }
    }

    @Test func `brings what changed since, in both directions`() async throws {
        let source = try sqlite("source.db")
        let database = try TestDatabase()
        let postgres = try PostgreSQLStorage(address: database.address)
        try await fill(source)
        _ = try await run(from: source, to: postgres)
        for number in 40..<50 {
            _ = try await source.commit(Work.commit(number, of: number / 4), derive: Work.derive)
        }
        try await removeSome(of: source)
        try await compare(source, to: postgres)
        let back = try sqlite("back.db")
        _ = try await run(from: postgres, to: back)
        for number in 50..<60 {
            _ = try await postgres.commit(Work.commit(number, of: number / 5), derive: Work.derive)
        }
        try await removeSome(of: postgres)
        try await compare(postgres, to: back)
        for storage in [source, postgres, back] as [any Storage] { await storage.close() }
    }

    /// Copies changes, and expects that they are fewer than all records, and then none.
    private func compare(_ source: any Storage, to target: any Storage) async throws {
        let expected = try copy.summary(of: source) { _ in }
        let changes = try await copy.run(from: source, to: target, now: Work.start) { _ in }
        #expect(try copy.summary(of: target) { _ in } == expected)
        #expect(changes.removed > 0)
        #expect((1..<expected.records).contains(changes.added))
        let again = try await copy.run(from: source, to: target, now: Work.start) { _ in }
        #expect(again == StorageCopy.Changes())
    }

    /// Removes one record of each kind.
    private func removeSome(of storage: any Storage) async throws {
        let scope = AppScope(Work.app, .production)
        for kind in StoredRecord.Kind.allCases {
            let page = try storage.records(in: scope, from: RecordPlace(kind), limit: 1)
            try await storage.remove(page.records, in: scope, now: Work.start)
        }
    }

    @Test func `is seen to differ after a change of one customer`() async throws {
        let source = try sqlite("source.db")
        let database = try TestDatabase()
        let postgres = try PostgreSQLStorage(address: database.address)
        try await fill(source)
        let copied = try await run(from: source, to: postgres)
        _ = try await source.commit(Work.commit(40, of: 9), derive: Work.derive)
        let changed = try copy.summary(of: source) { _ in }
        #expect(changed.customers == copied.customers)
        #expect(changed.answerDigest != copied.answerDigest)
        await source.close()
        await postgres.close()
    }
}
