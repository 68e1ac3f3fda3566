extension Migration {
    /// Stores aliases of customers, the audit of ownership and manual access, and the purchases
    /// that were never claimed.
    ///
    /// Earlier changes have no audit entries; the lists of owners contain them. Purchases without
    /// an owner are found among the facts.
    static let tenth = Migration(
        number: 10,
        sql: """
            CREATE TABLE alias (
                app TEXT NOT NULL,
                environment TEXT NOT NULL,
                alias TEXT NOT NULL,
                customer TEXT NOT NULL,
                since INTEGER NOT NULL,
                why TEXT NOT NULL,
                declared_by TEXT NOT NULL,
                PRIMARY KEY (app, environment, alias)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX alias_by_customer ON alias (app, environment, customer, since, alias);

            CREATE TABLE audit (
                app TEXT NOT NULL,
                id TEXT NOT NULL,
                environment TEXT NOT NULL,
                customer TEXT NOT NULL,
                other TEXT,
                name TEXT,
                form TEXT NOT NULL,
                PRIMARY KEY (app, id)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX audit_by_customer ON audit (app, environment, customer, id);
            CREATE INDEX audit_by_other ON audit (app, environment, other, id)
                WHERE other IS NOT NULL;
            CREATE UNIQUE INDEX audit_by_name ON audit (app, environment, name)
                WHERE name IS NOT NULL;

            CREATE TABLE unclaimed (
                app TEXT NOT NULL,
                environment TEXT NOT NULL,
                lineage TEXT NOT NULL,
                PRIMARY KEY (app, environment, lineage)
            ) STRICT, WITHOUT ROWID;

            INSERT INTO unclaimed (app, environment, lineage)
            SELECT DISTINCT app, environment, lineage FROM (
                SELECT app, environment, lineage, CASE WHEN json_valid(form) THEN form END AS form
                FROM fact
            ) AS told
            WHERE (
                json_extract(form, '$.term') IS NOT NULL
                OR json_extract(form, '$.playSubscription') IS NOT NULL
                OR json_extract(form, '$.playPurchase') IS NOT NULL
            ) AND NOT EXISTS (
                SELECT 1 FROM owner WHERE owner.app = told.app
                AND owner.environment = told.environment AND owner.lineage = told.lineage
            );

            PRAGMA user_version = 10;
            """
    )
}
