extension Migration {
    /// Maps transactions and orders to their lineages, for lookups by either.
    ///
    /// A lineage's own id needs no row. Rows for existing data are filled in from the facts.
    static let sixth = Migration(
        number: 6,
        sql: """
            CREATE TABLE purchase_name (
                app TEXT NOT NULL,
                kind TEXT NOT NULL,
                name TEXT NOT NULL,
                environment TEXT NOT NULL,
                lineage TEXT NOT NULL,
                PRIMARY KEY (app, kind, name, environment, lineage)
            ) STRICT, WITHOUT ROWID;

            INSERT INTO purchase_name (app, kind, name, environment, lineage)
            SELECT DISTINCT app, 'transaction', name, environment, lineage FROM (
                SELECT app, environment, lineage,
                    json_extract(form, '$.term.transactionId') AS name,
                    json_extract(form, '$.lineage.id') AS own
                FROM (
                    SELECT app, environment, lineage, CASE WHEN json_valid(form) THEN form END AS form
                    FROM fact
                )
            )
            WHERE name <> own;

            PRAGMA user_version = 6;
            """
    )
}
