extension Migration {
    /// Stores attributes of customers. A deleted one has no value. `stored_at` is by the server's
    /// clock, `updated_at` by the device's.
    static let sixteenth = Migration(
        number: 16,
        sql: """
            CREATE TABLE attribute (
                app TEXT NOT NULL,
                environment TEXT NOT NULL,
                customer TEXT NOT NULL,
                name TEXT NOT NULL,
                value TEXT,
                updated_at INTEGER NOT NULL,
                stored_at INTEGER NOT NULL,
                PRIMARY KEY (app, environment, customer, name)
            ) STRICT, WITHOUT ROWID;

            PRAGMA user_version = 16;
            """
    )
}
