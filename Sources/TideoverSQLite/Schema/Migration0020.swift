extension Migration {
    /// Stores events in the order of their ids, as rows of a table with rowids.
    ///
    /// In a table without rowids a page holds no more than a quarter of its size of each row. Most
    /// events are longer, and the rest of each had a page of its own: half of every such page, and
    /// half of the file, was empty.
    ///
    /// Existing rows are moved later, like facts by ``nineteenth``.
    static let twentieth = Migration(
        number: 20,
        sql: """
            ALTER TABLE outbox RENAME TO outbox_by_key;

            CREATE TABLE outbox (
                app TEXT NOT NULL,
                id TEXT NOT NULL,
                environment TEXT NOT NULL,
                customer TEXT NOT NULL,
                version INTEGER NOT NULL,
                kind TEXT NOT NULL CHECK (kind <> ''),
                at INTEGER NOT NULL,
                body TEXT NOT NULL,
                PRIMARY KEY (app, id)
            ) STRICT;

            PRAGMA user_version = 20;
            """
    )
}
