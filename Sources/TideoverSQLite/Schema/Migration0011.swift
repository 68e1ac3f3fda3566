extension Migration {
    /// Which purchases can change no answer any more: the fingerprint of the catalogue and policy by
    /// which that was found, and from when on it holds.
    ///
    /// The mark stands beside the line of the purchase's only owner, and is taken back when something new
    /// is learned of it. The list of owners itself does not change.
    static let eleventh = Migration(
        number: 11,
        sql: """
            ALTER TABLE owner ADD COLUMN settled TEXT;
            ALTER TABLE owner ADD COLUMN settled_since INTEGER;

            DROP INDEX owner_by_customer;
            CREATE INDEX owner_by_customer
                ON owner (app, environment, customer, lineage, settled, settled_since);

            PRAGMA user_version = 11;
            """
    )
}
