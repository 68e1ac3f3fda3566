import Glibc
import TideoverCommandLine
import TideoverConfiguration

/// `growth`: reads, and deadlines, of a PostgreSQL with few customers and with very many.
///
/// A thousand customers are loaded as a server would, copied to PostgreSQL by `tideover migrate`,
/// and then multiplied by COPY: each copy has ids of its own in its keys and in its documents. The
/// evidence and the events of the copies are left out, as of months that were pruned.
struct Growth {
    static let folder = Parameter.option(
        "--folder",
        "FOLDER",
        "Where a folder for files is made",
        default: "/tmp"
    )
    private static let postgres = Parameter.requiredOption(
        "--postgres",
        "ADDRESS",
        "An otherwise unused PostgreSQL, as in the configuration; it needs 5 KB for each customer"
    )
    private static let customers = Parameter.option(
        "--customers",
        "N",
        "How many customers the large database has, to the thousand",
        as: ValueForm<Int>.integer(in: 10_000...100_000_000),
        default: "1000000"
    )
    private static let seconds = Parameter.option(
        "--seconds",
        "N",
        "How long reads are measured",
        as: ValueForm<Int>.integer(in: 1...600),
        default: "20"
    )
    private static let isLoaded = Parameter.flag(
        "--loaded",
        "Measure the databases that a run before has loaded"
    )

    static let command = Command(
        "growth",
        summary: "measure reads and deadlines with very many customers on PostgreSQL",
        examples: [
            Example(
                "TideoverBenchmarks growth --tideover FILE --postgres ADDRESS --customers 10000000",
                "ten million beside ten thousand"
            )
        ],
        parameters: [Run.tideover, folder, postgres, customers, seconds, isLoaded],
        notes: ["The databases remain, so that they can be measured again with --loaded."],
        run: run
    )

    /// The customers that are loaded one by one, and then copied.
    private static let loaded = 1_000
    private static let few = 10_000

    private let stage: Stage
    private let output: Output

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let folder = try Run.makeFolder(in: arguments[folder])
        defer { Files.removeFolder(folder) }
        let stage = try await Stage(
            folder: folder,
            tideover: arguments[Run.tideover],
            itself: CommandLine.arguments[0],
            seconds: arguments[seconds],
            notifications: 1
        )
        output.print(Machine.description(in: folder))
        output.message("loading \(loaded) customers")
        try await Measure.load(loaded, "growth", stage)
        let growth = Growth(stage: stage, output: output)
        for copies in [few, arguments[customers]].map({ $0 / loaded }) {
            let database = PostgreSQLDatabase(
                name: "grown_\(copies)",
                server: arguments[postgres],
                folder: folder
            )
            if !arguments[isLoaded] { try growth.load(database, copies: copies) }
            try growth.measure(database, copies: copies)
        }
        return .success
    }

    private func load(_ database: PostgreSQLDatabase, copies: Int) throws {
        try database.create()
        let began = Clocks.now(CLOCK_MONOTONIC)
        _ = try Child.run(
            [
                stage.tideover, "migrate", "--config", "\(stage.folder)/growth.json",
                "--from", "sqlite:\(stage.folder)/growth.db", "--to", database.address,
            ],
            on: nil,
            name: "migrate",
            in: stage.folder
        )
        try derive(database)
        for table in Self.tables {
            output.message("copying \(table.name) \(copies) times")
            let names = try database.run(
                """
                SELECT column_name FROM information_schema.columns
                WHERE table_name = '\(table.name)' ORDER BY ordinal_position
                """
            )
            .split(separator: "\n").map(String.init)
            let query = table.query(columns: names, copies: copies)
            try database.copy(query, to: table.name)
        }
        try database.run("VACUUM (ANALYZE)")
        let seconds = Double(Clocks.now(CLOCK_MONOTONIC) - began) / 1_000_000_000
        output.print("loaded by COPY in \(Int(seconds)) s")
    }

    /// Derives the originals' answers. Those that `migrate` brings are derived again when they are
    /// read or due, and each read of a copy would be a commit.
    private func derive(_ database: PostgreSQLDatabase) throws {
        try database.run("UPDATE customer SET valid_until = \(stage.now)")
        let server = try stage.serve(database.name, storage: database.address)
        defer { server.child.stop() }
        _ = try secondsUntilDerived(server)
    }

    private func measure(_ database: PostgreSQLDatabase, copies: Int) throws {
        let bytes = try database.run("SELECT pg_database_size(current_database())").trimmed
        let customers = try database.run("SELECT count(*) FROM customer").trimmed
        output.print("\(customers) customers, \(bytes) bytes")
        // As many as are due of ten million customers in four minutes of a month.
        try database.run(
            "UPDATE customer SET valid_until = \(stage.now) WHERE customer LIKE '%00000001'"
        )
        let server = try stage.serve(database.name, storage: database.address)
        defer { server.child.stop() }
        try check(server)
        let seconds = try secondsUntilDerived(server)
        output.print("  the \(Self.loaded) answers that were due: derived in \(seconds.written) s")
        for round in 1...3 {
            let reading = try server.bear(
                .copies(of: "\(stage.folder)/growth.ids", count: copies),
                seconds: stage.seconds,
                in: stage.folder
            )
            output.print(
                "  reads, round \(round): \(reading.perSecond.written) a second, p50 "
                    + "\(reading.p50Milliseconds.written) ms, p99 "
                    + "\(reading.p99Milliseconds.written) ms"
            )
        }
    }

    /// Waits until no answer is due.
    private func secondsUntilDerived(_ server: ServerUnderLoad) throws -> Double {
        let began = Clocks.now(CLOCK_MONOTONIC)
        while try due(server) > 0 {
            guard Clocks.now(CLOCK_MONOTONIC) - began < 600_000_000_000 else {
                throw CommandFailure(.software, "answers are still due after ten minutes")
            }
            usleep(100_000)
        }
        return Double(Clocks.now(CLOCK_MONOTONIC) - began) / 1_000_000_000
    }

    /// How many customers have a due answer, by the server's metrics.
    private func due(_ server: ServerUnderLoad) throws -> Double {
        let text = try get("/metrics", of: server)
        let samples = text.split(separator: "\n").filter { $0.hasPrefix("tideover_deadlines_due{") }
        guard let value = samples.first?.split(separator: " ").last.flatMap({ Double($0) }) else {
            throw CommandFailure(.software, "the metrics do not say what is due:\n\(text)")
        }
        return value
    }

    /// Makes sure that a copy has the access of its original, and not the answer of an unknown
    /// customer.
    private func check(_ server: ServerUnderLoad) throws {
        let original = Files.text("\(stage.folder)/growth.ids").prefix { $0 != "\n" }
        let id = original.dropLast(8) + "00000002"
        let answer = try get("\(Setting.customers)\(id)?environment=simulated", of: server)
        guard answer.contains(#""access":true"#), answer.contains(#""customer":"\#(id)""#) else {
            throw CommandFailure(.software, "a copy has no access:\n\(answer)")
        }
    }

    private func get(_ path: String, of server: ServerUnderLoad) throws -> String {
        try Child.run(
            [
                "curl", "--silent", "--show-error", "--fail", "--header",
                "Authorization: Bearer \(Setting.adminKey.text)", "http://\(server.address)\(path)",
            ],
            on: nil,
            name: "curl",
            in: stage.folder
        )
    }

    // MARK: Copies

    /// A table with rows for each customer, and what differs in each copy.
    private struct Table {
        let name: String
        /// Its rows `r`, with the ids of their customer and their purchase.
        let rows: String
        /// The expressions of the columns that differ, by column.
        let columns: [String: String]

        /// Copies follow their original in the order of keys, so that indexes grow at few places.
        func query(columns names: [String], copies: Int) -> String {
            let values = names.map { columns[$0] ?? "r.\($0)" }.joined(separator: ", ")
            return "SELECT \(values) FROM (\(rows)) r CROSS JOIN generate_series(1, \(copies)) n"
        }
    }

    /// Ids keep their lengths but for eight digits of the store's.
    private static let customer = "left(r.customer, 28) || lpad(to_hex(n), 8, '0')"
    private static let digits = "lpad(n::text, 8, '0')"
    /// A document with the ids of the copy.
    private static func document(_ column: String, _ ids: [(String, String)]) -> String {
        let text = ids.reduce("convert_from(r.\(column), 'UTF8')") { text, id in
            "replace(\(text), \(id.0), \(id.1))"
        }
        return "convert_to(\(text), 'UTF8')"
    }

    private static let tables: [Table] = {
        let id = "split_part(r.lineage, ':', 2)"
        let purchase = (id, "\(id) || \(digits)")
        let owner = ("r.customer", customer)
        return [
            Table(
                name: "customer",
                rows: "SELECT * FROM customer ORDER BY app, environment, customer",
                columns: ["customer": customer, "answer": document("answer", [owner])]
            ),
            Table(
                name: "owner",
                rows: "SELECT * FROM owner ORDER BY app, environment, lineage, seq",
                columns: [
                    "customer": customer, "lineage": "r.lineage || \(digits)",
                    "form": document("form", [owner, purchase]),
                ]
            ),
            Table(
                name: "fact",
                rows: """
                    SELECT fact.*, owner.customer FROM fact
                    JOIN owner USING (app, environment, lineage)
                    ORDER BY app, environment, lineage, asserted_at, identity
                    """,
                columns: [
                    "lineage": "r.lineage || \(digits)",
                    "form": document("form", [owner, purchase]),
                ]
            ),
            Table(
                name: "purchase_name",
                rows: "SELECT * FROM purchase_name ORDER BY app, kind, name",
                columns: ["name": "r.name || \(digits)", "lineage": "r.lineage || \(digits)"]
            ),
            Table(
                name: "told",
                rows: "SELECT * FROM told ORDER BY app, environment, customer, name",
                columns: ["customer": customer]
            ),
        ]
    }()
}
