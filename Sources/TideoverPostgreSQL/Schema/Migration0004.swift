extension Migration {
    /// Stores what the portfolio report needs of each purchase and of each customer, so that it
    /// need not read all facts, and which of it is out of date.
    ///
    /// `form` is the core's compact form; all rows can be made again. `FiguresLedger` marks what is
    /// out of date.
    ///
    /// Servers without this step would add facts without marking them, so they must stop first.
    static let fourth = Migration(
        number: 4,
        minimum: 4,
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
            """
            INSERT INTO stale_figures (app, environment, kind, subject, mark)
            SELECT app, environment, 'lineage', lineage, 0 FROM (
                SELECT app, environment, lineage FROM owner
                UNION SELECT app, environment, lineage FROM unclaimed
            ) AS purchase
            """,
        ]
    )
}
