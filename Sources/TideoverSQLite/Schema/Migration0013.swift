extension Migration {
    /// Records the versions of catalogue and policy with the instants they took effect, so that
    /// past answers are decided by the version of that time.
    ///
    /// Versions in effect before this migration are not known. The first version recorded
    /// afterwards counts for all time before it.
    static let thirteenth = Migration(
        number: 13,
        sql: """
            CREATE TABLE policy_version (
                app TEXT NOT NULL,
                environment TEXT NOT NULL,
                effective_at INTEGER NOT NULL,
                fingerprint TEXT NOT NULL,
                form TEXT NOT NULL,
                PRIMARY KEY (app, environment, effective_at)
            ) STRICT, WITHOUT ROWID;

            PRAGMA user_version = 13;
            """
    )
}
