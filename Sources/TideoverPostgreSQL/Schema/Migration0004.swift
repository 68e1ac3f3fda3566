extension Migration {
    /// Stores what the portfolio report needs of each purchase and of each customer, so that it
    /// need not read all facts, and which of it is out of date.
    ///
    /// Triggers mark a purchase when a fact or an owner of it is added, and a customer when an
    /// alias is declared, also by servers of earlier versions. Each mark is a new number, so that a
    /// change during the calculation is noticed. `form` is the core's compact form; all rows can be
    /// made again.
    ///
    /// Removing a purchase removes its rows. The other owners of a removed customer's purchases
    /// may be counted differently without that customer's other purchases.
    static let fourth = Migration(
        number: 4,
        statements: [
            """
            CREATE TABLE figures (
                app text COLLATE "C" NOT NULL,
                environment text COLLATE "C" NOT NULL,
                kind text COLLATE "C" NOT NULL,
                subject text COLLATE "C" NOT NULL,
                stamp bigint NOT NULL,
                form bytea NOT NULL,
                PRIMARY KEY (app, environment, kind, subject)
            )
            """,
            """
            CREATE TABLE stale_figures (
                app text COLLATE "C" NOT NULL,
                environment text COLLATE "C" NOT NULL,
                kind text COLLATE "C" NOT NULL,
                subject text COLLATE "C" NOT NULL,
                mark bigint NOT NULL,
                PRIMARY KEY (app, environment, kind, subject)
            )
            """,
            "CREATE SEQUENCE stale_figures_mark",
            """
            INSERT INTO stale_figures (app, environment, kind, subject, mark)
            SELECT app, environment, 'lineage', lineage, nextval('stale_figures_mark') FROM (
                SELECT app, environment, lineage FROM owner
                UNION SELECT app, environment, lineage FROM unclaimed
            ) AS purchase
            """,
            """
            CREATE FUNCTION mark_figures_of_lineage() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                INSERT INTO stale_figures (app, environment, kind, subject, mark) VALUES
                    (NEW.app, NEW.environment, 'lineage', NEW.lineage,
                    nextval('stale_figures_mark'))
                ON CONFLICT (app, environment, kind, subject) DO UPDATE SET mark = excluded.mark;
                RETURN NULL;
            END
            $$
            """,
            """
            CREATE FUNCTION mark_figures_of_alias() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                INSERT INTO stale_figures (app, environment, kind, subject, mark) VALUES
                    (NEW.app, NEW.environment, 'customer', NEW.alias,
                    nextval('stale_figures_mark')),
                    (NEW.app, NEW.environment, 'customer', NEW.customer,
                    nextval('stale_figures_mark'))
                ON CONFLICT (app, environment, kind, subject) DO UPDATE SET mark = excluded.mark;
                RETURN NULL;
            END
            $$
            """,
            """
            CREATE FUNCTION remove_figures_of_lineage() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                DELETE FROM figures WHERE app = OLD.app AND environment = OLD.environment
                    AND kind = 'lineage' AND subject = OLD.lineage;
                DELETE FROM stale_figures WHERE app = OLD.app AND environment = OLD.environment
                    AND kind = 'lineage' AND subject = OLD.lineage;
                RETURN NULL;
            END
            $$
            """,
            """
            CREATE FUNCTION remove_figures_of_alias() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                DELETE FROM figures WHERE app = OLD.app AND environment = OLD.environment
                    AND kind = 'customer' AND subject = OLD.alias;
                DELETE FROM stale_figures WHERE app = OLD.app AND environment = OLD.environment
                    AND kind = 'customer' AND subject = OLD.alias;
                RETURN NULL;
            END
            $$
            """,
            """
            CREATE FUNCTION remove_figures_of_customer() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                DELETE FROM figures WHERE app = OLD.app AND environment = OLD.environment
                    AND kind = 'customer' AND subject = OLD.customer;
                DELETE FROM stale_figures WHERE app = OLD.app AND environment = OLD.environment
                    AND kind = 'customer' AND subject = OLD.customer;
                INSERT INTO stale_figures (app, environment, kind, subject, mark)
                SELECT app, environment, 'lineage', lineage, nextval('stale_figures_mark') FROM
                    (SELECT DISTINCT app, environment, lineage FROM owner
                    WHERE app = OLD.app AND environment = OLD.environment
                        AND customer = OLD.customer)
                    AS purchase
                ON CONFLICT (app, environment, kind, subject) DO UPDATE SET mark = excluded.mark;
                RETURN NULL;
            END
            $$
            """,
            """
            CREATE TRIGGER figures_of_fact AFTER INSERT ON fact
            FOR EACH ROW EXECUTE FUNCTION mark_figures_of_lineage()
            """,
            """
            CREATE TRIGGER figures_of_owner AFTER INSERT ON owner
            FOR EACH ROW EXECUTE FUNCTION mark_figures_of_lineage()
            """,
            """
            CREATE TRIGGER figures_of_alias AFTER INSERT ON alias
            FOR EACH ROW EXECUTE FUNCTION mark_figures_of_alias()
            """,
            """
            CREATE TRIGGER figures_without_fact AFTER DELETE ON fact
            FOR EACH ROW EXECUTE FUNCTION remove_figures_of_lineage()
            """,
            """
            CREATE TRIGGER figures_without_alias AFTER DELETE ON alias
            FOR EACH ROW EXECUTE FUNCTION remove_figures_of_alias()
            """,
            """
            CREATE TRIGGER figures_without_customer AFTER DELETE ON customer
            FOR EACH ROW EXECUTE FUNCTION remove_figures_of_customer()
            """,
        ]
    )
}
