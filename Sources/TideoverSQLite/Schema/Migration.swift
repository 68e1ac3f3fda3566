package import TideoverStorage

/// One step of the schema. A released step never changes; a later change is a new step.
package struct Migration: Sendable {
    /// Rises from 1; the file stores the number of the last step as its `user_version`.
    package let number: Int
    /// Statements that end with setting `user_version` to `number`.
    package let sql: StaticString

    package static let all = [
        first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth, eleventh,
        twelfth, thirteenth, fourteenth, fifteenth, sixteenth, seventeenth, eighteenth,
        nineteenth, twentieth,
    ]

    /// The number of the last step.
    package static let latest = all.last?.number ?? 0

    /// "tiDv", in the header of every Tideover file.
    private static let applicationID: Int64 = 0x7469_4476

    /// Prepares a file for the writing connection: first its mode, then its schema. Each step is a
    /// transaction of its own; in a new file all of them are one, so that it waits for the disk once.
    ///
    /// - Throws: `notAStorage` for another program's file, `newerSchema` for a file of a newer
    ///   version; neither is changed.
    package static func prepare(_ connection: Connection) throws(StorageError) {
        let found = try version(of: connection)
        try configure(connection)
        let missing = all.filter { $0.number > found }
        guard found > 0 else { return try apply(missing, to: connection) }
        for migration in missing { try apply([migration], to: connection) }
    }

    private static func apply(
        _ migrations: [Migration],
        to connection: Connection
    ) throws(StorageError) {
        guard !migrations.isEmpty else { return }
        try connection.execute(SQL.begin)
        do {
            for migration in migrations { try connection.execute(migration.sql) }
            try connection.execute(CommonSQL.commit)
        } catch {
            // The engine may have ended the transaction itself.
            if connection.isInTransaction { try? connection.execute(CommonSQL.rollBack) }
            throw error
        }
    }

    private static func configure(_ connection: Connection) throws(StorageError) {
        guard try connection.text("PRAGMA journal_mode = WAL") == "wal" else {
            let detail = "the file system has no shared memory for a write-ahead log"
            throw StorageError(.io, place: connection.place, detail: detail)
        }
        try connection.execute(
            """
            PRAGMA synchronous = FULL;
            PRAGMA mmap_size = 0;
            PRAGMA wal_autocheckpoint = 0;
            PRAGMA journal_size_limit = 16777216;
            PRAGMA cache_size = -16384;
            PRAGMA temp_store = MEMORY;
            PRAGMA cell_size_check = ON;
            PRAGMA trusted_schema = OFF;
            """
        )
    }

    /// Throws unless every step has been applied.
    static func requireCurrent(_ connection: Connection) throws(StorageError) {
        let found = try version(of: connection)
        guard found == latest else {
            throw StorageError(
                .olderSchema(found: found, known: latest),
                place: connection.place
            )
        }
    }

    /// Returns the number of the last applied step; 0 for an empty file.
    ///
    /// - Throws: `notAStorage`, `newerSchema`.
    static func version(of connection: Connection) throws(StorageError) -> Int {
        let version = Int(try connection.integer("PRAGMA user_version") ?? 0)
        let application = try connection.integer("PRAGMA application_id") ?? 0
        let tables = try connection.integer("SELECT count(*) FROM sqlite_schema") ?? 0
        let isEmpty = version == 0 && application == 0 && tables == 0
        guard isEmpty || application == applicationID else {
            throw StorageError(.notAStorage, place: connection.place)
        }
        guard version <= latest else {
            throw StorageError(
                .newerSchema(found: version, known: latest),
                place: connection.place
            )
        }
        return version
    }
}
