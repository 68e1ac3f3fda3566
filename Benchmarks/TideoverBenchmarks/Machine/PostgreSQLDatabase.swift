/// A database of a PostgreSQL that is used for nothing else, by `psql`.
struct PostgreSQLDatabase {
    let name: String
    /// The address of the database `postgres`, as in the configuration.
    let server: String
    /// Where the output of the programs is.
    let folder: String

    var address: String {
        server.replacing("/postgres?", with: "/\(name)?", maxReplacements: 1)
    }

    /// Creates it, empty. An older one of this name is removed.
    func create() throws {
        try psql("DROP DATABASE IF EXISTS \(name)", server)
        try psql("CREATE DATABASE \(name)", server)
    }

    /// Runs a statement.
    ///
    /// - Returns: its rows, one per line.
    @discardableResult
    func run(_ statement: String) throws -> String { try psql(statement, address) }

    /// Adds the rows of a query to a table by COPY.
    func copy(_ query: String, to table: String) throws {
        let read = Self.words("COPY (\(query)) TO STDOUT (FORMAT binary)", address)
        let write = Self.words("COPY \(table) FROM STDIN (FORMAT binary)", address)
        let pipe = "set -o pipefail; \"${@:1:\(read.count)}\" | \"${@:\(read.count + 1)}\""
        _ = try Child.run(
            ["bash", "-c", pipe, "copy"] + read + write,
            on: nil,
            name: "copy",
            in: folder
        )
    }

    @discardableResult
    private func psql(_ statement: String, _ address: String) throws -> String {
        try Child.run(Self.words(statement, address), on: nil, name: "psql", in: folder)
    }

    private static func words(_ statement: String, _ address: String) -> [String] {
        [
            "psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set",
            "ON_ERROR_STOP=1", "--command", statement, address,
        ]
    }
}

extension String {
    var trimmed: String { filter { !$0.isWhitespace } }
}
