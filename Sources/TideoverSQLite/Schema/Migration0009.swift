extension Migration {
    /// Stores differences between a device and the server, from detection to end.
    ///
    /// At most one difference per entitlement of a customer is open.
    static let ninth = Migration(
        number: 9,
        sql: """
            CREATE TABLE drift (
                app TEXT NOT NULL,
                environment TEXT NOT NULL,
                customer TEXT NOT NULL,
                id TEXT NOT NULL,
                entitlement TEXT NOT NULL,
                opened_at INTEGER NOT NULL,
                healed_at INTEGER,
                form TEXT NOT NULL,
                PRIMARY KEY (app, environment, customer, id)
            ) STRICT, WITHOUT ROWID;

            CREATE UNIQUE INDEX drift_open ON drift (app, environment, customer, entitlement)
            WHERE healed_at IS NULL;

            PRAGMA user_version = 9;
            """
    )
}
