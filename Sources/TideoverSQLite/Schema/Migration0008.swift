extension Migration {
    /// When a device first presented all that it had of a customer.
    ///
    /// Of rows derived before nobody knows: a customer without purchases is sure of it with the next
    /// reconcile.
    static let eighth = Migration(
        number: 8,
        sql: """
            ALTER TABLE customer ADD COLUMN reconciled_at INTEGER;

            PRAGMA user_version = 8;
            """
    )
}
