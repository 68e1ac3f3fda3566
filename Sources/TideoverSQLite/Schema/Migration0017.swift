extension Migration {
    /// Stores what the portfolio report needs of each purchase and of each customer, so that it
    /// need not read all facts, and which of it is out of date.
    ///
    /// Triggers mark a purchase when a fact or an owner of it is added, and a customer when an
    /// alias is declared, whatever the write. Each mark is a new number, so that a change during
    /// the calculation is noticed. `form` is the core's compact form; all rows can be made again.
    ///
    /// Removing a purchase removes its rows. The other owners of a removed customer's purchases
    /// may be counted differently without that customer's other purchases.
    static let seventeenth = Migration(
        number: 17,
        sql: """
            CREATE TABLE figures (
                app TEXT NOT NULL,
                environment TEXT NOT NULL,
                kind TEXT NOT NULL,
                subject TEXT NOT NULL,
                stamp INTEGER NOT NULL,
                form BLOB NOT NULL,
                PRIMARY KEY (app, environment, kind, subject)
            ) STRICT, WITHOUT ROWID;

            CREATE TABLE stale_figures (
                app TEXT NOT NULL,
                environment TEXT NOT NULL,
                kind TEXT NOT NULL,
                subject TEXT NOT NULL,
                mark INTEGER NOT NULL,
                PRIMARY KEY (app, environment, kind, subject)
            ) STRICT, WITHOUT ROWID;

            INSERT INTO stale_figures (app, environment, kind, subject, mark)
            SELECT app, environment, 'lineage', lineage, random() FROM (
                SELECT app, environment, lineage FROM owner
                UNION SELECT app, environment, lineage FROM unclaimed
            );

            CREATE TRIGGER figures_of_fact AFTER INSERT ON fact BEGIN
                INSERT INTO stale_figures (app, environment, kind, subject, mark)
                VALUES (NEW.app, NEW.environment, 'lineage', NEW.lineage, random())
                ON CONFLICT (app, environment, kind, subject) DO UPDATE SET mark = excluded.mark;
            END;
            CREATE TRIGGER figures_of_owner AFTER INSERT ON owner BEGIN
                INSERT INTO stale_figures (app, environment, kind, subject, mark)
                VALUES (NEW.app, NEW.environment, 'lineage', NEW.lineage, random())
                ON CONFLICT (app, environment, kind, subject) DO UPDATE SET mark = excluded.mark;
            END;
            CREATE TRIGGER figures_of_alias AFTER INSERT ON alias BEGIN
                INSERT INTO stale_figures (app, environment, kind, subject, mark)
                VALUES (NEW.app, NEW.environment, 'customer', NEW.alias, random()),
                    (NEW.app, NEW.environment, 'customer', NEW.customer, random())
                ON CONFLICT (app, environment, kind, subject) DO UPDATE SET mark = excluded.mark;
            END;
            CREATE TRIGGER figures_without_fact AFTER DELETE ON fact BEGIN
                DELETE FROM figures WHERE app = OLD.app AND environment = OLD.environment
                    AND kind = 'lineage' AND subject = OLD.lineage;
                DELETE FROM stale_figures WHERE app = OLD.app AND environment = OLD.environment
                    AND kind = 'lineage' AND subject = OLD.lineage;
            END;
            CREATE TRIGGER figures_without_alias AFTER DELETE ON alias BEGIN
                DELETE FROM figures WHERE app = OLD.app AND environment = OLD.environment
                    AND kind = 'customer' AND subject = OLD.alias;
                DELETE FROM stale_figures WHERE app = OLD.app AND environment = OLD.environment
                    AND kind = 'customer' AND subject = OLD.alias;
            END;
            CREATE TRIGGER figures_without_customer AFTER DELETE ON customer BEGIN
                DELETE FROM figures WHERE app = OLD.app AND environment = OLD.environment
                    AND kind = 'customer' AND subject = OLD.customer;
                DELETE FROM stale_figures WHERE app = OLD.app AND environment = OLD.environment
                    AND kind = 'customer' AND subject = OLD.customer;
                INSERT INTO stale_figures (app, environment, kind, subject, mark)
                SELECT DISTINCT app, environment, 'lineage', lineage, random() FROM owner
                WHERE app = OLD.app AND environment = OLD.environment AND customer = OLD.customer
                ON CONFLICT (app, environment, kind, subject) DO UPDATE SET mark = excluded.mark;
            END;

            PRAGMA user_version = 17;
            """
    )
}
