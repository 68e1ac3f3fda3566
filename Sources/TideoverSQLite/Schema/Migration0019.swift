extension Migration {
    /// Stores facts in the order of their arrival, and finds those of a lineage by an index.
    ///
    /// In a table without rowids each row is part of the tree that finds it. Facts are long, so a
    /// page of that tree leads to only six others: the tree is deep, and the three facts of a
    /// notification changed six pages. In a table with rowids they are adjacent at its end.
    ///
    /// Existing rows are moved later, in parts, while the storage is used. Until then statements
    /// read both tables. A moved fact is not new, so the writer marks figures as out of date, and
    /// no trigger does.
    static let nineteenth = Migration(
        number: 19,
        sql: """
            DROP TRIGGER figures_of_fact;
            DROP TRIGGER figures_without_fact;
            ALTER TABLE fact RENAME TO fact_by_key;

            CREATE TABLE fact (
                app TEXT NOT NULL,
                environment TEXT NOT NULL,
                lineage TEXT NOT NULL,
                asserted_at INTEGER NOT NULL,
                identity BLOB NOT NULL,
                form TEXT NOT NULL
            ) STRICT;
            CREATE UNIQUE INDEX fact_of_lineage
                ON fact (app, environment, lineage, asserted_at, identity);

            CREATE TRIGGER figures_without_fact AFTER DELETE ON fact BEGIN
                DELETE FROM figures WHERE app = OLD.app AND environment = OLD.environment
                    AND kind = 'lineage' AND subject = OLD.lineage;
                DELETE FROM stale_figures WHERE app = OLD.app AND environment = OLD.environment
                    AND kind = 'lineage' AND subject = OLD.lineage;
            END;
            CREATE TRIGGER figures_without_fact_by_key AFTER DELETE ON fact_by_key
            WHEN NOT EXISTS (
                SELECT 1 FROM fact WHERE app = OLD.app AND environment = OLD.environment
                    AND lineage = OLD.lineage AND asserted_at = OLD.asserted_at
                    AND identity = OLD.identity
            ) BEGIN
                DELETE FROM figures WHERE app = OLD.app AND environment = OLD.environment
                    AND kind = 'lineage' AND subject = OLD.lineage;
                DELETE FROM stale_figures WHERE app = OLD.app AND environment = OLD.environment
                    AND kind = 'lineage' AND subject = OLD.lineage;
            END;

            PRAGMA user_version = 19;
            """
    )
}
