extension Migration {
    /// Stores attributes of customers. A deleted one has no value. `stored_at` is by the server's
    /// clock, `updated_at` by the device's.
    static let third = Migration(
        number: 3,
        statements: [
            """
            CREATE TABLE attribute (
                app text COLLATE "C" NOT NULL,
                environment text COLLATE "C" NOT NULL,
                customer text COLLATE "C" NOT NULL,
                name text COLLATE "C" NOT NULL,
                value text COLLATE "C",
                updated_at bigint NOT NULL,
                stored_at bigint NOT NULL,
                PRIMARY KEY (app, environment, customer, name)
            )
            """
        ]
    )
}
