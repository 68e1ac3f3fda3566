extension Migration {
    /// Finds the customers with an email address. A longer text is not an address (RFC 5321).
    static let eighteenth = Migration(
        number: 18,
        sql: """
            CREATE INDEX attribute_by_email ON attribute
                (app, environment, lower(value), customer)
                WHERE name = '$email' AND length(value) <= 254;

            PRAGMA user_version = 18;
            """
    )
}
