extension Migration {
    /// Stores when a device first presented all purchases of a customer.
    ///
    /// The time is unknown for rows derived before. A customer without purchases is confirmed by
    /// the next reconcile.
    static let eighth = Migration(
        number: 8,
        sql: """
            ALTER TABLE customer ADD COLUMN reconciled_at INTEGER;

            PRAGMA user_version = 8;
            """
    )
}
