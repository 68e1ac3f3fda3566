import Glibc
import TideoverCommandLine

/// The server on PostgreSQL: notifications and reads, beside what PostgreSQL writes when
/// nothing but `pgbench` asks it to.
///
/// PostgreSQL may use both cores, so it also takes from the one that loads.
struct OnPostgreSQL {
    let stage: Stage
    private let database: PostgreSQLDatabase

    /// All of these have messages among the first few hundred of a corpus.
    private static let readCustomers = 1..<41

    init(stage: Stage) throws {
        guard let address = stage.postgres else {
            throw CommandFailure(.usage, "`postgres` needs --postgres")
        }
        self.stage = stage
        database = PostgreSQLDatabase(name: "measured", server: address, folder: stage.folder)
    }

    func round() throws -> [Row: Reading] {
        try database.create()
        let shared = try servedTogether()
        try database.create()
        var readings = try served()
        readings[.durableOfThreeServers] = shared
        readings[.postgresAlone] = try written()
        return readings
    }

    /// Three servers on the one measured core, which share the notifications.
    private func servedTogether() throws -> Reading {
        let servers = try (1...3).map { number in
            try stage.serve("postgres-\(number)", storage: database.address)
        }
        defer { for server in servers { server.child.stop() } }
        return try ServerUnderLoad.bear(
            stage.corpus,
            together: servers,
            seconds: stage.seconds,
            in: stage.folder
        )
    }

    private func served() throws -> [Row: Reading] {
        let server = try stage.serve("postgres", storage: database.address)
        defer { server.child.stop() }
        let ids = "\(stage.folder)/postgres.ids"
        let commits = try server.bear(
            .notifications(stage.corpus),
            seconds: stage.seconds,
            in: stage.folder
        )
        try Loading.writeIDs(of: Self.readCustomers, now: stage.now, to: ids)
        let reads = try server.bear(.reads(of: ids), seconds: stage.seconds, in: stage.folder)
        return [.durableOnPostgreSQL: commits, .readsOfPostgreSQL: reads]
    }

    // MARK: PostgreSQL alone

    /// Measures transactions that write the rows of one notification, by as many connections as the
    /// notifications have. They copy rows that the server wrote, in the same database.
    private func written() throws -> Reading {
        let (script, times) = ("\(stage.folder)/pgbench.sql", "\(stage.folder)/pgbench-times")
        try Files.write(Array(try transaction().utf8), to: script)
        let child = try Child(
            [
                "pgbench", "--no-vacuum", "--client", "32", "--jobs", "1", "--protocol", "prepared",
                "--time", "\(stage.seconds)", "--file", script, "--log", "--log-prefix", times,
                database.address,
            ],
            on: Yardstick.loader,
            name: "pgbench",
            in: stage.folder
        )
        let code = child.wait()
        let rate = Files.text(child.said).split(separator: "\n").first { $0.hasPrefix("tps = ") }
            .flatMap { $0.split(separator: " ").dropFirst(2).first }.flatMap { Double($0) }
        // A line has the client, the number of the transaction and its microseconds.
        let latencies = Files.text("\(times).\(child.pid)").split(separator: "\n")
            .compactMap { $0.split(separator: " ").dropFirst(2).first.flatMap { Double($0) } }
            .sorted()
        guard code == 0, let rate, !latencies.isEmpty else {
            throw CommandFailure(.unavailable, "pgbench failed:\n\(Files.text(child.told))")
        }
        return Reading(
            perSecond: rate,
            processorMicroseconds: 0,
            p50Milliseconds: latencies[latencies.count / 2] / 1_000,
            p99Milliseconds: latencies[latencies.count * 99 / 100] / 1_000
        )
    }

    /// Returns a script that copies as many rows of each table as a notification has on average.
    private func transaction() throws -> String {
        var text = "\\set n random(1, 1000000000000000)\nBEGIN;\n"
        let notifications = try number("SELECT count(*) FROM evidence")
        for (table, columns) in Self.tables {
            try database.run("CREATE TABLE sample_\(table) AS SELECT * FROM \(table) LIMIT 1")
            let count = try number("SELECT count(*) FROM \(table)")
            // Each notification writes the customer's row, most of them again.
            let rows = table == "customer" ? 1 : (count / notifications).rounded()
            let values = columns.map { "'\($0)', s.\($0) || :n || i" }.joined(separator: ", ")
            text += """
                INSERT INTO \(table) SELECT r.* FROM sample_\(table) s,
                    generate_series(1, \(Int(rows))) i,
                    LATERAL jsonb_populate_record(s, jsonb_build_object(\(values))) r;

                """
        }
        return text + "END;\n"
    }

    /// The tables that a notification writes to, with the columns that differ in each copy. Facts
    /// bring the marks of figures.
    private static let tables: KeyValuePairs = [
        "evidence": ["dedupe_key", "id"], "fact": ["lineage"], "customer": ["customer"],
        "outbox": ["id"], "told": ["customer"],
    ]

    private func number(_ statement: String) throws -> Double {
        let text = try database.run(statement).trimmed
        guard let number = Double(text), number > 0 else {
            throw CommandFailure(.software, "\(statement): \(text)")
        }
        return number
    }
}
