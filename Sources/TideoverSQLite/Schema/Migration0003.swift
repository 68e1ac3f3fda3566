extension Migration {
    /// Stores the names of each customer's events, so that none is delivered twice, even
    /// after the outbox is pruned.
    ///
    /// Answers derived before contain no reminders and no times of future events: all of them are
    /// due at once.
    static let third = Migration(
        number: 3,
        sql: """
            CREATE TABLE told (
                app TEXT NOT NULL,
                environment TEXT NOT NULL,
                customer TEXT NOT NULL,
                name TEXT NOT NULL,
                event TEXT NOT NULL,
                PRIMARY KEY (app, environment, customer, name)
            ) STRICT, WITHOUT ROWID;

            UPDATE customer SET valid_until = derived_at;

            PRAGMA user_version = 3;
            """
    )
}
