extension Migration {
    /// Keys of the API, by their digests.
    ///
    /// One key can be for many apps, so that its own id leads; the table is small, and read whole.
    /// `apps` is a JSON list, empty for all.
    static let second = Migration(
        number: 2,
        sql: """
            CREATE TABLE api_key (
                id TEXT NOT NULL PRIMARY KEY,
                digest BLOB NOT NULL UNIQUE,
                kind TEXT NOT NULL,
                apps TEXT NOT NULL,
                name TEXT NOT NULL,
                created_at INTEGER NOT NULL,
                revoked_at INTEGER
            ) STRICT, WITHOUT ROWID;

            PRAGMA user_version = 2;
            """
    )
}
