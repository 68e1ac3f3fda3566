import Testing
import TideoverCore
import TideoverPostgreSQL
import TideoverStorage

@Suite struct `The steps of the schema` {
    @Test func `a released step never changes`() {
        let known: [UInt64] = [
            0xF3B1_5778_8987_251D, 0x8405_77FE_2F82_48E5, 0x39A3_F91F_06BE_840C,
            0x3BBF_AD92_6A16_7D5D, 0x66F9_BD3A_F183_5528,
        ]
        #expect(Migration.all.map { Self.fingerprint(of: $0.statements) } == known)
        #expect(Migration.all.map(\.number) == Array(1...5))
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

    /// A step of a newer version that leaves everything in place that this one uses.
    private static let additive = Migration(
        number: Migration.latest + 1,
        statements: [
            "ALTER TABLE customer ADD COLUMN colour text COLLATE \"C\" NOT NULL DEFAULT 'red'",
            "CREATE TABLE shape (name text COLLATE \"C\" NOT NULL PRIMARY KEY)",
        ]
    )

    /// A step of a newer version that removes what this one uses.
    private static let breaking = Migration(
        number: Migration.latest + 1,
        minimum: Migration.latest + 1,
        statements: ["ALTER TABLE customer DROP COLUMN presented"]
    )

    @Test(.onPostgreSQL)
    func `a server works on while a newer version upgrades its database, and after a restart`()
        async throws
    {
        let database = try TestDatabase()
        let running = try PostgreSQLStorage(address: database.address)
        #expect(running.newerSchema == nil)
        _ = try await running.commit(Work.commit(1), derive: Work.derive)
        try database.connect().upgrade(Self.additive)
        _ = try await running.commit(Work.commit(2), derive: Work.derive)
        await running.close()

        for opening in Opening.allCases { #expect(opening.refusal(database.address) == nil) }
        let restarted = try PostgreSQLStorage(address: database.address)
        #expect(restarted.newerSchema == Migration.latest + 1)
        let rows = try await restarted.commit(Work.commit(3), derive: Work.derive).rows
        #expect(rows.map(\.version) == [3])
        await restarted.close()
        // It did not take the newer steps back.
        let version = try database.connect().ask("SELECT version FROM tideover_schema")
        #expect(try version.first { Int($0.integer(0)) } == Migration.latest + 1)
    }

    @Test(.onPostgreSQL)
    func `a database of the first step is brought up to date, with its data`() async throws {
        let database = try TestDatabase()
        try Migration.prepare(try database.connect(), steps: [Migration.all[0]])
        try database.run("INSERT INTO app_lock (app) VALUES ('cards')")
        #expect(
            Opening.forReading.refusal(database.address)
                == .olderSchema(found: 1, known: Migration.latest)
        )
        let storage = try PostgreSQLStorage(address: database.address)
        #expect(storage.newerSchema == nil)
        _ = try await storage.commit(Work.commit(1), derive: Work.derive)
        await storage.close()
    }

    @Test(.onPostgreSQL)
    func `a step may take longer than other statements`() async throws {
        let database = try TestDatabase()
        await (try await database.open()).close()
        let slow = Migration(
            number: Migration.latest + 1,
            statements: ["SELECT count(*) FROM (SELECT pg_sleep(3)) AS slept"]
        )
        // The role limits its statements, too.
        let address = database.address(setting: ["statement_timeout=2000"])
        let connection = try Connection(PostgreSQLAddress(address), patience: 2_000)
        #expect(try Migration.prepare(connection, steps: Migration.all + [slow]) == slow.number)
        let other = #expect(throws: StorageError.self) {
            try connection.ask("SELECT count(*) FROM (SELECT pg_sleep(3)) AS slept").count()
        }
        #expect(other != nil)
    }

    @Test(.onPostgreSQL)
    func `a step does not keep servers waiting behind a backup`() async throws {
        let database = try TestDatabase()
        await (try await database.open()).close()
        let backup = try database.connect()
        try backup.ask("BEGIN")
        // Reading the count waits for the answer.
        #expect(try backup.ask("LOCK TABLE customer IN ACCESS SHARE MODE").count() == 0)
        let change = Migration(
            number: Migration.latest + 1,
            statements: ["ALTER TABLE customer ADD COLUMN another integer"]
        )
        let connection = try database.connect()
        let error = #expect(throws: StorageError.self) {
            try Migration.prepare(connection, steps: Migration.all + [change])
        }
        #expect(error?.reason == .busy)
        #expect(try backup.ask("COMMIT").count() == 0)
        #expect(
            try Migration.prepare(connection, steps: Migration.all + [change]) == change.number
        )
    }

    @Test(.onPostgreSQL)
    func `a step that a running server could not work with waits for its end`() async throws {
        let database = try TestDatabase()
        let storage = try PostgreSQLStorage(address: database.address)
        try await storage.announce(ServerRecord(id: "a", version: "1", configuration: ""))
        let error = #expect(throws: StorageError.self) {
            try database.connect().upgrade(Self.breaking)
        }
        #expect(error?.reason == .busy)
        // Nothing was changed, so the server works on.
        let rows = try await storage.commit(Work.commit(1), derive: Work.derive).rows
        #expect(rows.count == 1)
        try database.connect().upgrade(Self.additive)
        await storage.close()
    }

    @Test(.onPostgreSQL)
    func `a step that older servers cannot work with is applied after they stopped`()
        async throws
    {
        let database = try TestDatabase()
        let storage = try PostgreSQLStorage(address: database.address)
        try await storage.announce(ServerRecord(id: "a", version: "1", configuration: ""))
        try await storage.withdraw("a")
        try database.connect().upgrade(Self.breaking)
        await storage.close()
        #expect(Opening.forAll.refusal(database.address) != nil)
    }

    @Test(.onPostgreSQL)
    func `a refusal names the version that is needed`() async throws {
        let database = try TestDatabase()
        await (try await database.open()).close()
        let further = Migration(
            number: Migration.latest + 2,
            statements: ["CREATE TABLE shape (name text COLLATE \"C\" NOT NULL PRIMARY KEY)"]
        )
        // An additive step after a breaking one does not admit older versions again.
        try database.connect().upgrade(Self.breaking, further)
        let error = #expect(throws: StorageError.self) {
            try PostgreSQLStorage(address: database.address)
        }
        #expect(
            error?.detail == "a version that knows schema \(Migration.latest + 1) is needed"
        )
    }

    @Test(.onPostgreSQL)
    func `a database that needs a newer version is not opened`() async throws {
        let database = try TestDatabase()
        await (try await database.open()).close()
        try database.connect().upgrade(Self.breaking)
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

extension Connection {
    /// Applies steps of a made-up newer version.
    fileprivate func upgrade(_ steps: Migration...) throws(StorageError) {
        try Migration.prepare(self, steps: Migration.all + steps)
    }
}
