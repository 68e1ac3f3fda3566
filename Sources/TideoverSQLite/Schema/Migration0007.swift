extension Migration {
    /// Stores the signed pass of a customer's answer.
    ///
    /// Rows derived before have none: it is issued when they are next read.
    static let seventh = Migration(
        number: 7,
        sql: """
            ALTER TABLE customer ADD COLUMN pass TEXT;
            ALTER TABLE customer ADD COLUMN pass_signer TEXT;
            ALTER TABLE customer ADD COLUMN pass_issued_at INTEGER;
            ALTER TABLE customer ADD COLUMN pass_renew_at INTEGER;

            PRAGMA user_version = 7;
            """
    )
}
