extension Migration {
    /// Stores webhooks, their waiting deliveries and the log of attempts.
    static let fifteenth = Migration(
        number: 15,
        sql: """
            CREATE TABLE webhook (
                app TEXT NOT NULL,
                id TEXT NOT NULL,
                form TEXT NOT NULL,
                position TEXT NOT NULL,
                failing_since INTEGER,
                disabled TEXT,
                disabled_at INTEGER,
                PRIMARY KEY (app, id)
            ) STRICT, WITHOUT ROWID;

            CREATE TABLE webhook_delivery (
                app TEXT NOT NULL,
                webhook TEXT NOT NULL,
                event TEXT NOT NULL,
                attempts INTEGER NOT NULL,
                next_at INTEGER NOT NULL,
                PRIMARY KEY (app, webhook, event)
            ) STRICT, WITHOUT ROWID;

            CREATE INDEX webhook_delivery_next ON webhook_delivery (app, webhook, next_at, event);

            CREATE TABLE webhook_attempt (
                number INTEGER PRIMARY KEY AUTOINCREMENT,
                app TEXT NOT NULL,
                webhook TEXT NOT NULL,
                event TEXT NOT NULL,
                at INTEGER NOT NULL,
                ordinal INTEGER NOT NULL,
                outcome TEXT NOT NULL,
                status INTEGER,
                detail TEXT
            ) STRICT;

            CREATE INDEX webhook_attempt_of ON webhook_attempt (app, webhook, number);
            CREATE INDEX webhook_attempt_at ON webhook_attempt (app, at);

            PRAGMA user_version = 15;
            """
    )
}
