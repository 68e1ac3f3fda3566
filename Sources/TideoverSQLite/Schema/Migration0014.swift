extension Migration {
    /// Records the prompts that were shown to customers, so that the next one can wait. Records the
    /// stores in which a device presented everything, each with its instant: `appStore
    /// 1780000000000`.
    static let fourteenth = Migration(
        number: 14,
        sql: """
            CREATE TABLE prompt (
                app TEXT NOT NULL,
                environment TEXT NOT NULL,
                customer TEXT NOT NULL,
                id TEXT NOT NULL,
                kind TEXT NOT NULL,
                shown_at INTEGER NOT NULL,
                response TEXT,
                PRIMARY KEY (app, environment, customer, id)
            ) STRICT, WITHOUT ROWID;

            CREATE INDEX prompt_of ON prompt (app, environment, customer, shown_at);
            CREATE INDEX prompt_shown ON prompt (app, environment, shown_at);

            ALTER TABLE customer ADD COLUMN presented TEXT;

            PRAGMA user_version = 14;
            """
    )
}
