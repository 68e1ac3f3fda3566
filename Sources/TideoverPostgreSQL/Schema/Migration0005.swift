extension Migration {
    /// Finds the customers with an email address. A longer text is not an address (RFC 5321).
    static let fifth = Migration(
        number: 5,
        statements: [
            """
            CREATE INDEX attribute_by_email ON attribute
                (app, environment, lower(value), customer)
                WHERE name = '$email' AND length(value) <= 254
            """
        ]
    )
}
