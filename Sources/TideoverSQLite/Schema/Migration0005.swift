extension Migration {
    /// Stores the positions of long scans, such as those through a store's histories. `form` is
    /// JSON text of the scanning component.
    static let fifth = Migration(
        number: 5,
        sql: """
            CREATE TABLE bookmark (
                app TEXT NOT NULL,
                environment TEXT NOT NULL,
                name TEXT NOT NULL,
                form TEXT NOT NULL,
                PRIMARY KEY (app, environment, name)
            ) STRICT, WITHOUT ROWID;

            PRAGMA user_version = 5;
            """
    )
}
