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

extension PostgreSQLDatabase: GrownDatabase {
    var storage: String? { address }
    var isMigrated: Bool { true }

    var dialect: Dialect {
        Dialect(
            decimal: "lpad(n::text, 8, '0')",
            hexadecimal: "lpad(to_hex(n), 8, '0')",
            purchase: "split_part(r.lineage, ':', 2)",
            numbers: { "generate_series(1, \($0)) n" },
            text: { "convert_from(\($0), 'UTF8')" },
            document: { "convert_to(\($0), 'UTF8')" }
        )
    }

    func create(from original: String, of stage: Stage) throws {
        try create()
        _ = try Child.run(
            [
                stage.tideover, "migrate", "--config", "\(stage.folder)/\(original).json",
                "--from", "sqlite:\(stage.folder)/\(original).db", "--to", address,
            ],
            on: nil,
            name: "migrate",
            in: stage.folder
        )
    }

    func columns(of table: String) throws -> [String] {
        try run(
            """
            SELECT column_name FROM information_schema.columns
            WHERE table_name = '\(table)' ORDER BY ordinal_position
            """
        )
        .split(separator: "\n").map(String.init)
    }

    func finishLoading() throws { try run("VACUUM (ANALYZE)") }

    func bytes() throws -> Int {
        Int(try run("SELECT pg_database_size(current_database())").trimmed) ?? 0
    }
}

extension String {
    var trimmed: String { filter { !$0.isWhitespace } }
}
