extension Migration {
    /// Adds the oldest program that may use the database, and the servers that use it.
    ///
    /// - `minimum` is the `Migration.minimum` of the steps that were applied.
    /// - `schema_number` is the last step that the server's program knows, `configuration` the
    ///   fingerprint of its configuration. `seen_at` is by the database's clock, the only one that
    ///   all servers share.
    static let second = Migration(
        number: 2,
        statements: [
            "ALTER TABLE tideover_schema ADD COLUMN minimum bigint NOT NULL DEFAULT 1",
            """
            CREATE TABLE server (
                id text COLLATE "C" NOT NULL PRIMARY KEY,
                version text COLLATE "C" NOT NULL,
                schema_number bigint NOT NULL,
                configuration text COLLATE "C" NOT NULL,
                seen_at bigint NOT NULL
            )
            """,
        ]
    )
}
