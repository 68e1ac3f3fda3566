extension Migration {
    /// Stores the facts of a lineage in the order of their assertion.
    ///
    /// The facts of one message are then adjacent at the end, instead of scattered by digest over
    /// all pages of the lineage. They are read in the order of derivation. The identity alone still
    /// distinguishes facts: it is a digest that includes the assertion's instant.
    static let fourth = Migration(
        number: 4,
        sql: """
            CREATE TABLE fact_in_order (
                app TEXT NOT NULL,
                environment TEXT NOT NULL,
                lineage TEXT NOT NULL,
                asserted_at INTEGER NOT NULL,
                identity BLOB NOT NULL,
                form TEXT NOT NULL,
                PRIMARY KEY (app, environment, lineage, asserted_at, identity)
            ) STRICT, WITHOUT ROWID;

            INSERT INTO fact_in_order (app, environment, lineage, asserted_at, identity, form)
            SELECT app, environment, lineage, asserted_at, identity, form FROM fact;

            DROP TABLE fact;
            ALTER TABLE fact_in_order RENAME TO fact;

            PRAGMA user_version = 4;
            """
    )
}
