/// An SQLite file in a folder, by `sqlite3`. It is next to its configuration.
struct SQLiteDatabase {
    let name: String
    let folder: String

    private var path: String { "\(folder)/\(name).db" }
}

extension SQLiteDatabase: GrownDatabase {
    var storage: String? { nil }
    var isMigrated: Bool { false }

    var dialect: Dialect {
        Dialect(
            decimal: "printf('%08d', n.n)",
            hexadecimal: "printf('%08x', n.n)",
            purchase: "substr(r.lineage, instr(r.lineage, ':') + 1)",
            numbers: { count in
                """
                (WITH RECURSIVE numbers (n) AS (
                    SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT \(count)
                ) SELECT n FROM numbers) n
                """
            },
            text: { $0 },
            document: { $0 }
        )
    }

    /// Copies the file; its log was written into it when it was closed.
    func create(from original: String, of stage: Stage) throws {
        _ = try Child.run(
            ["cp", "\(folder)/\(original).db", path],
            on: nil,
            name: "cp",
            in: folder
        )
    }

    func columns(of table: String) throws -> [String] {
        try run("SELECT name FROM pragma_table_info('\(table)') ORDER BY cid")
            .split(separator: "\n").map(String.init)
    }

    /// Without a log, which would be as large as the table.
    func copy(_ query: String, to table: String) throws {
        try run("PRAGMA journal_mode = OFF; INSERT INTO \(table) \(query)")
    }

    /// The figures of copies are in no row, so none is stale.
    func finishLoading() throws { try run("DELETE FROM stale_figures") }

    @discardableResult
    func run(_ statement: String) throws -> String {
        // Statements that return no row, so that only those of the statement are printed.
        let settings = "PRAGMA synchronous = OFF; PRAGMA cache_size = -262144"
        return try Child.run(
            ["sqlite3", "-bail", "-batch", path, settings, statement],
            on: nil,
            name: "sqlite3",
            in: folder
        )
    }

    func bytes() throws -> Int { Files.size(path) }
}
