extension Migration {
    /// Marks purchases that cannot change an answer any more. The mark has the fingerprint of the
    /// catalogue and policy of that derivation, and the instant from which it is true.
    ///
    /// The mark is in the row of the purchase's only owner, and is removed when a new fact about
    /// the purchase arrives. The list of owners itself does not change.
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
