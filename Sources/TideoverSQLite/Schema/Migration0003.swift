extension Migration {
    /// The names of the events told of each customer, so that none is told twice, whatever becomes of
    /// the outbox.
    ///
    /// Answers derived before know nothing of reminders, nor when else there is something to tell: all
    /// of them are due at once.
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
