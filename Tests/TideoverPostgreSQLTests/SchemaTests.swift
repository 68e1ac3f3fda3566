import Testing
import TideoverCore
import TideoverPostgreSQL
import TideoverStorage

@Suite struct `The steps of the schema` {
    @Test func `a released step never changes`() {
        let known: [UInt64] = [0xF3B1_5778_8987_251D]
        #expect(Migration.all.map { Self.fingerprint(of: $0.statements) } == known)
        #expect(Migration.all.map(\.number) == Array(1...1))
    }

    /// FNV-1a: it must detect changes, but need not resist attacks.
    private static func fingerprint(of statements: [StaticString]) -> UInt64 {
        let bytes = statements.flatMap { Array("\($0);".utf8) }
        return bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    @Test(.onPostgreSQL)
    func `servers that start together apply each step once`() async throws {
        let database = try TestDatabase()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<6 {
                group.addTask { await (try await database.open()).close() }
            }
            try await group.waitForAll()
        }
        let version = try database.connect().ask("SELECT version FROM tideover_schema")
        #expect(try version.all { Int($0.integer(0)) } == [Migration.latest])
    }

    @Test(.onPostgreSQL)
    func `a database of a newer version is not opened`() async throws {
        let database = try TestDatabase()
        await (try await database.open()).close()
        try database.run("UPDATE tideover_schema SET version = version + 1")
        let (found, known) = (Migration.latest + 1, Migration.latest)
        for opening in Opening.allCases {
            #expect(
                opening.refusal(database.address) == .newerSchema(found: found, known: known)
            )
        }
    }

    @Test(.onPostgreSQL)
    func `tables of another program are left alone`() throws {
        let database = try TestDatabase()
        try database.run("CREATE TABLE customer (name text)")
        #expect(Opening.forAll.refusal(database.address) == .notAStorage)
        let tables = try database.connect().ask(
            "SELECT count(*) FROM information_schema.tables WHERE table_schema = $1",
            .text(database.schema)
        )
        #expect(try tables.first { $0.integer(0) } == 1)
    }

    @Test(.onPostgreSQL)
    func `a database without tables is opened only to make them`() throws {
        let database = try TestDatabase()
        #expect(Opening.forReading.refusal(database.address) == .notAStorage)
        #expect(Opening.forWriting.refusal(database.address) == .notAStorage)
        #expect(Opening.forAll.refusal(database.address) == nil)
        #expect(Opening.forReading.refusal(database.address) == nil)
    }

    /// A way to open a database.
    private enum Opening: CaseIterable {
        case forReading, forWriting, forAll

        /// Returns why it is not opened; nil if it is.
        func refusal(_ address: String) -> StorageError.Reason? {
            do throws(StorageError) {
                switch self {
                case .forReading: _ = try PostgreSQLStorage(reading: address)
                case .forWriting: _ = try PostgreSQLStorage(address: address, makesTables: false)
                case .forAll: _ = try PostgreSQLStorage(address: address)
                }
                return nil
            } catch {
                return error.reason
            }
        }
    }
}
