import Testing
import TideoverCore
import TideoverSQLite
import TideoverStorage

/// The rules that keep SQLite's files whole.
@Suite struct `The engine` {
    let folder: TemporaryFolder
    let writer: Connection

    init() throws {
        folder = try TemporaryFolder()
        try folder.sql("VACUUM")
        writer = try Connection(path: folder.database, access: .readWrite, busyTimeout: 100)
        try Migration.prepare(writer)
    }

    private func readSession() throws -> Connection {
        try Connection(path: folder.database, access: .readOnly, busyTimeout: 100)
    }

    @Test func `writes with a log and full sync, and checkpoints only on request`() throws {
        #expect(try writer.text("PRAGMA journal_mode") == "wal")
        #expect(try writer.integer("PRAGMA synchronous") == 2)
        #expect(try writer.integer("PRAGMA mmap_size") == 0)
        #expect(try writer.integer("PRAGMA wal_autocheckpoint") == 0)
    }

    @Test(
        arguments: [
            "INSERT INTO tally VALUES ('a', '', 'k', 'n', 1)", "CREATE TABLE t (x)",
            "PRAGMA user_version = 7",
        ] as [StaticString]
    )
    func `a reader cannot write`(sql: StaticString) throws {
        let error = #expect(throws: StorageError.self) { try readSession().execute(sql) }
        #expect(error?.reason == .readOnly)
        #expect(try writer.integer("PRAGMA user_version") == Int64(Migration.latest))
    }

    @Test func `a reader cannot checkpoint`() throws {
        try writer.execute("INSERT INTO tally VALUES ('a', '', 'k', 'n', 1)")
        let readSession = try readSession()
        #expect(try readSession.integer("SELECT count FROM tally") == 1)
        #expect(throws: StorageError.self) { try readSession.checkpoint(.truncate) }
        #expect(try writer.checkpoint(.truncate) == 0)
    }

    @Test func `a blocking transaction is waited for, then reported as busy`() throws {
        try writer.execute("BEGIN IMMEDIATE")
        let other = try Connection(path: folder.database, access: .readWrite, busyTimeout: 50)
        let error = #expect(throws: StorageError.self) { try other.execute("BEGIN IMMEDIATE") }
        #expect(error?.reason == .busy)
        try writer.execute("ROLLBACK")
    }

    @Test func `values keep their types, including empty ones`() throws {
        try writer.execute("CREATE TABLE kept (a, b, c, d, e)")
        let insert = try Statement("INSERT INTO kept VALUES (?1, ?2, ?3, ?4, ?5)", on: writer)
        #expect(
            try insert.run(.integer(.min), .text(""), .bytes([]), .utf8([0x61, 0, 0x62]), .null)
                == 1
        )
        let types = try writer.text(
            """
            SELECT typeof(a) || typeof(b) || typeof(c) || typeof(d) || typeof(e) FROM kept
            """
        )
        #expect(types == "integertextblobtextnull")
        let isSame = try Statement("SELECT a, b, c, d, e FROM kept", on: writer).first { row in
            row.integer(0) == .min && row.text(1).isEmpty && row.bytes(2).isEmpty
                && row.bytes(3) == [0x61, 0, 0x62] && row.isNull(4)
        }
        #expect(isSame == true)
    }

    @Test func `a statement can run again after a failure`() throws {
        let insert = try Statement(
            "INSERT INTO outbox VALUES ('a', ?1, 'production', 'c', 1, ?2, 0, '')",
            on: writer
        )
        let error = #expect(throws: StorageError.self) { try insert.run(.text("1"), .text("")) }
        #expect(error?.reason == .refused)
        #expect(try insert.run(.text("1"), .text("k")) == 1)
        #expect(throws: StorageError.self) { try insert.run(.text("1"), .text("k")) }
        #expect(try insert.run(.text("2"), .text("k")) == 1)
    }

    @Test func `rows of unexpected types are refused`() throws {
        let insert = try Statement(
            "INSERT INTO tally VALUES ('a', '', 'k', 'n', ?1)",
            on: writer
        )
        let error = #expect(throws: StorageError.self) { try insert.run(.text("many")) }
        #expect(error?.reason == .refused)
        #expect(error?.detail.contains("many") == false)
    }

    @Test func `a released migration never changes`() {
        let known: [UInt64] = [
            0x3C34_A29B_4A21_C655, 0x87FC_5D3A_1EB1_F838, 0x4C4F_145E_CF9D_02E1,
            0xDF84_D315_332F_9206, 0x4030_8621_C593_E112, 0x6C93_CDDB_19F8_A97D,
            0x0526_2CAF_77A9_24DB, 0x5715_3B39_39EA_C713, 0xBA99_EEF5_91F9_C2A9,
            0x7E74_D9BE_D699_8803, 0x81D7_6E12_5675_5741, 0x4AFA_AC30_8C73_36E2,
            0xE502_B22A_7FFD_A02E, 0x8451_9205_AA2D_DA63, 0xD9DB_41A3_ED39_8936,
            0xCDA1_8560_ABAB_A758, 0xC5C8_2644_0E3C_D2E9, 0xE73B_59FC_83DA_2379,
            0xD7F0_D2AF_AD82_E064, 0xEA0F_827C_A4E2_E500,
        ]
        #expect(Migration.all.map { Self.fingerprint(of: $0.sql) } == known)
        #expect(Migration.all.map(\.number) == Array(1...20))
    }

    @Test func `a file of any older version is migrated and keeps its data`()
        throws
    {
        for number in Migration.all.map(\.number).dropLast() {
            let folder = try TemporaryFolder()
            try folder.sql("VACUUM")
            let old = try Connection(path: folder.database, access: .readWrite, busyTimeout: 100)
            for step in Migration.all where step.number <= number { try old.execute(step.sql) }
            try old.execute("INSERT INTO tally VALUES ('a', '', 'k', 'n', 1)")
            try old.execute(
                """
                INSERT INTO customer
                (app, environment, customer, version, answer, valid_until, fingerprint, derived_at)
                VALUES ('a', 'production', 'c', 1, '{}', NULL, 'p', 7)
                """
            )
            try old.execute(
                """
                INSERT INTO fact (app, environment, lineage, identity, asserted_at, form)
                VALUES ('a', 'e', 'l', x'02', 1, 'one'), ('a', 'e', 'l', x'01', 2, 'two')
                """
            )
            try old.execute(
                "INSERT INTO outbox VALUES ('a', 'e1', 'production', 'c', 1, 'k', 0, '')"
            )
            try Migration.prepare(old)
            #expect(try old.integer("PRAGMA user_version") == Int64(Migration.latest))
            #expect(try old.integer("SELECT count FROM tally") == 1)
            let facts = try old.text(
                """
                SELECT group_concat(hex(identity) || form) FROM
                (SELECT identity, form FROM fact_by_key UNION ALL SELECT identity, form FROM fact)
                """
            )
            #expect(facts == "02one,01two")
            #expect(try old.text("SELECT id FROM outbox_by_key") == "e1")
            #expect(try old.integer("SELECT count(*) FROM api_key") == 0)
            if number < 3 {
                // Rows derived before events were named are due at once.
                #expect(try old.integer("SELECT valid_until FROM customer") == 7)
            }
            #expect(try old.integer("SELECT count(*) FROM told") == 0)
            // Whether a device presented purchases before this column existed is unknown.
            #expect(try old.integer("SELECT count(reconciled_at) FROM customer") == 0)
            #expect(try old.integer("SELECT count(*) FROM drift") == 0)
        }
    }

    @Test func `a second preparation of a file changes nothing`() throws {
        let before = try writer.text("SELECT group_concat(sql) FROM sqlite_schema")
        try Migration.prepare(writer)
        #expect(try writer.text("SELECT group_concat(sql) FROM sqlite_schema") == before)
    }

    /// FNV-1a: it must detect changes, but need not resist attacks.
    private static func fingerprint(of text: StaticString) -> UInt64 {
        text.withUTF8Buffer { bytes in
            bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        }
    }
}

@Suite struct `The checkpoint plan` {
    private func plan(pages: Int) -> CheckpointPlan {
        var plan = CheckpointPlan()
        plan.committed(pagesInLog: pages)
        return plan
    }

    @Test func `leaves a short log until it is quiet`() {
        #expect(CheckpointPlan().due(isIdle: true) == nil)
        #expect(plan(pages: 10).due(isIdle: false) == nil)
        #expect(plan(pages: 10).due(isIdle: true) == .passive)
    }

    @Test func `checkpoints a long log, and restarts one that is too long`() {
        #expect(plan(pages: CheckpointPlan.softPageCount).due(isIdle: false) == .passive)
        #expect(plan(pages: CheckpointPlan.hardPageCount).due(isIdle: false) == .restart)
    }

    @Test func `never checkpoints twice without a change`() {
        var plan = plan(pages: CheckpointPlan.softPageCount)
        plan.attempted(.passive, pagesLeft: 0)
        #expect(plan.due(isIdle: true) == nil)
        plan.committed(pagesInLog: 3)
        #expect(plan == self.plan(pages: 3))
    }

    @Test func `does not retry at every commit while a reader blocks it`() {
        var plan = plan(pages: CheckpointPlan.softPageCount)
        plan.attempted(.passive, pagesLeft: 7)
        plan.committed(pagesInLog: CheckpointPlan.softPageCount + 9)
        #expect(plan.due(isIdle: false) == nil)
        plan.committed(pagesInLog: 2 * CheckpointPlan.softPageCount)
        #expect(plan.due(isIdle: false) == .passive)
    }
}
