extension Migration {
    /// Creates the tables of evidence, facts, owners, derived answers, events and counts.
    ///
    /// - Every key starts with app and environment and then the customer or lineage, so that the
    ///   tables can be distributed over machines. Header texts are shared and found by their
    ///   digest.
    /// - `form` columns store the core's single JSON form; the other columns only sort and find.
    /// - Times are UTC milliseconds since 1970.
    static let first = Migration(
        number: 1,
        sql: """
            CREATE TABLE evidence (
                app TEXT NOT NULL,
                environment TEXT NOT NULL,
                dedupe_key TEXT NOT NULL,
                id TEXT NOT NULL,
                source TEXT NOT NULL,
                signed_at INTEGER,
                received_at INTEGER NOT NULL,
                form BLOB NOT NULL,
                PRIMARY KEY (app, environment, dedupe_key)
            ) STRICT;
            CREATE INDEX evidence_by_id ON evidence (app, id);

            CREATE TABLE header (
                fingerprint BLOB NOT NULL PRIMARY KEY,
                text BLOB NOT NULL
            ) STRICT;

            CREATE TABLE fact (
                app TEXT NOT NULL,
                environment TEXT NOT NULL,
                lineage TEXT NOT NULL,
                identity BLOB NOT NULL,
                asserted_at INTEGER NOT NULL,
                form TEXT NOT NULL,
                PRIMARY KEY (app, environment, lineage, identity)
            ) STRICT, WITHOUT ROWID;

            CREATE TABLE owner (
                app TEXT NOT NULL,
                environment TEXT NOT NULL,
                lineage TEXT NOT NULL,
                seq INTEGER NOT NULL,
                customer TEXT NOT NULL,
                form TEXT NOT NULL,
                PRIMARY KEY (app, environment, lineage, seq)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX owner_by_customer ON owner (app, environment, customer, lineage);

            CREATE TABLE customer (
                app TEXT NOT NULL,
                environment TEXT NOT NULL,
                customer TEXT NOT NULL,
                version INTEGER NOT NULL,
                answer TEXT NOT NULL,
                valid_until INTEGER,
                fingerprint TEXT NOT NULL,
                derived_at INTEGER NOT NULL,
                PRIMARY KEY (app, environment, customer)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX customer_due ON customer (app, environment, valid_until)
                WHERE valid_until IS NOT NULL;

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
            ) STRICT, WITHOUT ROWID;

            CREATE TABLE tally (
                app TEXT NOT NULL,
                environment TEXT NOT NULL,
                kind TEXT NOT NULL,
                name TEXT NOT NULL,
                count INTEGER NOT NULL,
                PRIMARY KEY (app, environment, kind, name)
            ) STRICT, WITHOUT ROWID;

            PRAGMA application_id = 0x74694476;
            PRAGMA user_version = 1;
            """
    )
}
