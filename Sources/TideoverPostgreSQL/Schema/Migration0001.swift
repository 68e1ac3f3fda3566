extension Migration {
    /// Creates the tables of evidence, facts, owners, derived answers, events, webhooks and counts.
    ///
    /// - Every key starts with app and environment and then the customer or lineage, so that the
    ///   tables can be distributed over machines. Header texts are shared and found by their
    ///   digest.
    /// - Texts are in the order of their bytes, whatever the language of the database.
    /// - `form` columns store the core's single JSON form as bytes; the other columns only sort and
    ///   find.
    /// - Times are UTC milliseconds since 1970.
    /// - Leases are columns of what is leased, with a fence that rises with each of them.
    static let first = Migration(
        number: 1,
        statements: [
            """
            CREATE TABLE app_lock (
                app text COLLATE "C" NOT NULL PRIMARY KEY
            )
            """,
            """
            CREATE TABLE evidence (
                app text COLLATE "C" NOT NULL,
                environment text COLLATE "C" NOT NULL,
                dedupe_key text COLLATE "C" NOT NULL,
                id text COLLATE "C" NOT NULL,
                source text COLLATE "C" NOT NULL,
                signed_at bigint,
                received_at bigint NOT NULL,
                idle_since bigint,
                idle_lineage text COLLATE "C",
                form bytea NOT NULL,
                PRIMARY KEY (app, environment, dedupe_key)
            )
            """,
            "CREATE INDEX evidence_by_id ON evidence (app, id)",
            """
            CREATE INDEX evidence_idle ON evidence (app, environment, idle_since)
            WHERE idle_since IS NOT NULL
            """,
            """
            CREATE INDEX evidence_idle_of ON evidence (app, environment, idle_lineage)
            WHERE idle_since IS NOT NULL
            """,
            """
            CREATE TABLE header (
                fingerprint bytea NOT NULL PRIMARY KEY,
                text bytea NOT NULL
            )
            """,
            """
            CREATE TABLE fact (
                app text COLLATE "C" NOT NULL,
                environment text COLLATE "C" NOT NULL,
                lineage text COLLATE "C" NOT NULL,
                asserted_at bigint NOT NULL,
                identity bytea NOT NULL,
                form bytea NOT NULL,
                PRIMARY KEY (app, environment, lineage, asserted_at, identity)
            )
            """,
            """
            CREATE TABLE purchase_name (
                app text COLLATE "C" NOT NULL,
                kind text COLLATE "C" NOT NULL,
                name text COLLATE "C" NOT NULL,
                environment text COLLATE "C" NOT NULL,
                lineage text COLLATE "C" NOT NULL,
                PRIMARY KEY (app, kind, name, environment, lineage)
            )
            """,
            """
            CREATE TABLE owner (
                app text COLLATE "C" NOT NULL,
                environment text COLLATE "C" NOT NULL,
                lineage text COLLATE "C" NOT NULL,
                seq bigint NOT NULL,
                customer text COLLATE "C" NOT NULL,
                settled text COLLATE "C",
                settled_since bigint,
                form bytea NOT NULL,
                PRIMARY KEY (app, environment, lineage, seq)
            )
            """,
            "CREATE INDEX owner_by_customer ON owner (app, environment, customer, lineage)",
            """
            CREATE TABLE unclaimed (
                app text COLLATE "C" NOT NULL,
                environment text COLLATE "C" NOT NULL,
                lineage text COLLATE "C" NOT NULL,
                PRIMARY KEY (app, environment, lineage)
            )
            """,
            """
            CREATE TABLE alias (
                app text COLLATE "C" NOT NULL,
                environment text COLLATE "C" NOT NULL,
                alias text COLLATE "C" NOT NULL,
                customer text COLLATE "C" NOT NULL,
                since bigint NOT NULL,
                why text COLLATE "C" NOT NULL,
                declared_by text COLLATE "C" NOT NULL,
                PRIMARY KEY (app, environment, alias)
            )
            """,
            "CREATE INDEX alias_by_customer ON alias (app, environment, customer)",
            """
            CREATE TABLE customer (
                app text COLLATE "C" NOT NULL,
                environment text COLLATE "C" NOT NULL,
                customer text COLLATE "C" NOT NULL,
                version bigint NOT NULL,
                valid_until bigint,
                derived_at bigint NOT NULL,
                reconciled_at bigint,
                lease_fence bigint NOT NULL,
                leased_until bigint,
                pass_issued_at bigint,
                pass_renew_at bigint,
                pass_signer text COLLATE "C",
                presented text COLLATE "C",
                fingerprint text COLLATE "C" NOT NULL,
                answer bytea NOT NULL,
                pass bytea,
                PRIMARY KEY (app, environment, customer)
            )
            """,
            """
            CREATE INDEX customer_due ON customer (app, environment, valid_until)
            WHERE valid_until IS NOT NULL
            """,
            """
            CREATE TABLE told (
                app text COLLATE "C" NOT NULL,
                environment text COLLATE "C" NOT NULL,
                customer text COLLATE "C" NOT NULL,
                name text COLLATE "C" NOT NULL,
                event text COLLATE "C" NOT NULL,
                PRIMARY KEY (app, environment, customer, name)
            )
            """,
            """
            CREATE TABLE drift (
                app text COLLATE "C" NOT NULL,
                environment text COLLATE "C" NOT NULL,
                customer text COLLATE "C" NOT NULL,
                id text COLLATE "C" NOT NULL,
                entitlement text COLLATE "C" NOT NULL,
                opened_at bigint NOT NULL,
                healed_at bigint,
                form bytea NOT NULL,
                PRIMARY KEY (app, environment, customer, id)
            )
            """,
            """
            CREATE UNIQUE INDEX drift_open ON drift (app, environment, customer, entitlement)
            WHERE healed_at IS NULL
            """,
            """
            CREATE INDEX drift_ended ON drift (app, environment, healed_at)
            WHERE healed_at IS NOT NULL
            """,
            """
            CREATE TABLE prompt (
                app text COLLATE "C" NOT NULL,
                environment text COLLATE "C" NOT NULL,
                customer text COLLATE "C" NOT NULL,
                id text COLLATE "C" NOT NULL,
                kind text COLLATE "C" NOT NULL,
                shown_at bigint NOT NULL,
                response text COLLATE "C",
                PRIMARY KEY (app, environment, customer, id)
            )
            """,
            "CREATE INDEX prompt_of ON prompt (app, environment, customer, shown_at)",
            "CREATE INDEX prompt_shown ON prompt (app, environment, shown_at)",
            """
            CREATE TABLE outbox (
                app text COLLATE "C" NOT NULL,
                id text COLLATE "C" NOT NULL,
                environment text COLLATE "C" NOT NULL,
                customer text COLLATE "C" NOT NULL,
                version bigint NOT NULL,
                kind text COLLATE "C" NOT NULL CHECK (kind <> ''),
                at bigint NOT NULL,
                body bytea NOT NULL,
                PRIMARY KEY (app, id)
            )
            """,
            """
            CREATE TABLE audit (
                app text COLLATE "C" NOT NULL,
                id text COLLATE "C" NOT NULL,
                environment text COLLATE "C" NOT NULL,
                customer text COLLATE "C" NOT NULL,
                other text COLLATE "C",
                name text COLLATE "C",
                form bytea NOT NULL,
                PRIMARY KEY (app, id)
            )
            """,
            "CREATE INDEX audit_by_customer ON audit (app, environment, customer, id)",
            """
            CREATE INDEX audit_by_other ON audit (app, environment, other, id)
            WHERE other IS NOT NULL
            """,
            """
            CREATE UNIQUE INDEX audit_by_name ON audit (app, environment, name)
            WHERE name IS NOT NULL
            """,
            """
            CREATE TABLE webhook (
                app text COLLATE "C" NOT NULL,
                id text COLLATE "C" NOT NULL,
                position text COLLATE "C" NOT NULL,
                failing_since bigint,
                disabled text COLLATE "C",
                disabled_at bigint,
                lease_fence bigint NOT NULL,
                leased_until bigint,
                latest_attempt bigint NOT NULL,
                form bytea NOT NULL,
                PRIMARY KEY (app, id)
            )
            """,
            """
            CREATE TABLE webhook_delivery (
                app text COLLATE "C" NOT NULL,
                webhook text COLLATE "C" NOT NULL,
                event text COLLATE "C" NOT NULL,
                attempts bigint NOT NULL,
                next_at bigint NOT NULL,
                PRIMARY KEY (app, webhook, event)
            )
            """,
            "CREATE INDEX webhook_delivery_next ON webhook_delivery (app, webhook, next_at, event)",
            """
            CREATE TABLE webhook_attempt (
                app text COLLATE "C" NOT NULL,
                webhook text COLLATE "C" NOT NULL,
                number bigint NOT NULL,
                event text COLLATE "C" NOT NULL,
                at bigint NOT NULL,
                ordinal bigint NOT NULL,
                outcome text COLLATE "C" NOT NULL,
                status bigint,
                detail text COLLATE "C",
                PRIMARY KEY (app, webhook, number)
            )
            """,
            "CREATE INDEX webhook_attempt_at ON webhook_attempt (app, at)",
            """
            CREATE TABLE policy_version (
                app text COLLATE "C" NOT NULL,
                environment text COLLATE "C" NOT NULL,
                effective_at bigint NOT NULL,
                fingerprint text COLLATE "C" NOT NULL,
                form bytea NOT NULL,
                PRIMARY KEY (app, environment, effective_at)
            )
            """,
            """
            CREATE TABLE api_key (
                id text COLLATE "C" NOT NULL PRIMARY KEY,
                digest bytea NOT NULL UNIQUE,
                kind text COLLATE "C" NOT NULL,
                apps bytea NOT NULL,
                name text COLLATE "C" NOT NULL,
                created_at bigint NOT NULL,
                revoked_at bigint
            )
            """,
            """
            CREATE TABLE bookmark (
                app text COLLATE "C" NOT NULL,
                environment text COLLATE "C" NOT NULL,
                name text COLLATE "C" NOT NULL,
                form bytea NOT NULL,
                PRIMARY KEY (app, environment, name)
            )
            """,
            """
            CREATE TABLE tally (
                app text COLLATE "C" NOT NULL,
                environment text COLLATE "C" NOT NULL,
                kind text COLLATE "C" NOT NULL,
                name text COLLATE "C" NOT NULL,
                count bigint NOT NULL,
                PRIMARY KEY (app, environment, kind, name)
            )
            """,
        ]
    )
}
