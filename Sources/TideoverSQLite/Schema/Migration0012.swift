extension Migration {
    /// Which evidence told nothing new, since when, and of which purchase: it can go by its age, or with
    /// the purchase. And the drift that has ended, by its age.
    ///
    /// Evidence from before this step counts as having told something.
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
