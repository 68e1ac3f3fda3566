extension Migration {
    /// Stores API keys by their digests.
    ///
    /// A key can be valid for many apps, so its own id comes first. The table is small and read as
    /// a whole. `apps` is a JSON list, empty for all apps.
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
