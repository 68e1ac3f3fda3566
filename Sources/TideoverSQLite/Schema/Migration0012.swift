extension Migration {
    /// Adds to evidence without a new fact its arrival and its purchase, and indexes ended drift,
    /// so that both can be removed by age.
    ///
    /// Evidence from before this migration counts as proof of a fact.
    static let twelfth = Migration(
        number: 12,
        sql: """
            ALTER TABLE evidence ADD COLUMN idle_since INTEGER;
            ALTER TABLE evidence ADD COLUMN idle_lineage TEXT;

            CREATE INDEX evidence_idle ON evidence (app, environment, idle_since)
                WHERE idle_since IS NOT NULL;
            CREATE INDEX evidence_idle_of ON evidence (app, environment, idle_lineage)
                WHERE idle_since IS NOT NULL;
            CREATE INDEX drift_ended ON drift (app, environment, healed_at)
                WHERE healed_at IS NOT NULL;

            PRAGMA user_version = 12;
            """
    )
}
