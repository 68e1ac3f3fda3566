package import TideoverStorage

extension PostgreSQLStorage {
    /// For how many milliseconds after its last announcement a server counts as running.
    package static let serverLifetime: Int64 = 30_000

    /// Announces a server to the others, for `serverLifetime`. Returns the mark of the announcement.
    @discardableResult
    package func announce(_ server: ServerRecord) async throws(StorageError) -> Int64 {
        try await openWriter().write(app: Self.noApp) { session throws(StorageError) in
            try session.announce(server)
        }
    }

    /// Ends the announcement of a server that stops.
    package func withdraw(_ id: String) async throws(StorageError) {
        try await openWriter().write(app: Self.noApp) { session throws(StorageError) in
            try session.withdraw(id)
        }
    }

    /// Returns the servers that run, in the order of their ids.
    package func servers() throws(StorageError) -> [ServerRecord] {
        try readSessions.read { session throws(StorageError) in try session.servers() }
    }
}

extension WriteSession {
    fileprivate func announce(_ server: ServerRecord) throws(StorageError) -> Int64 {
        try connection.ask(SQL.removeSilentServers, .integer(PostgreSQLStorage.serverLifetime))
        let answer = try connection.ask(
            SQL.putServer,
            .text(server.id),
            .text(server.version),
            .integer(Int64(Migration.latest)),
            .text(server.configuration)
        )
        return try answer.first { $0.integer(0) } ?? 0
    }

    fileprivate func withdraw(_ id: String) throws(StorageError) {
        try connection.ask(SQL.removeServer, .text(id))
    }
}
