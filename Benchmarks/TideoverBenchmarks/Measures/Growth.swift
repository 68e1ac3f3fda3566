import Glibc
import TideoverCommandLine
import TideoverConfiguration

/// `growth`: reads, deadlines and notifications of a database with few customers and with very
/// many.
///
/// A thousand customers are loaded as a server would, and then multiplied in the database: each
/// copy has ids of its own in its keys and in its documents. The evidence and the events of the
/// copies are left out, as of months that were pruned. With PostgreSQL, `tideover migrate` copies
/// the thousand there first.
struct Growth {
    static let folder = Parameter.option(
        "--folder",
        "FOLDER",
        "Where a folder for files is made",
        default: "/tmp"
    )
    private static let postgres = Parameter.option(
        "--postgres",
        "ADDRESS",
        "An otherwise unused PostgreSQL, as in the configuration; without it, SQLite is measured"
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
        summary: "measure reads, deadlines and notifications with very many customers",
        examples: [
            Example(
                "TideoverBenchmarks growth --tideover FILE --customers 1000000",
                "a million beside ten thousand, on SQLite"
            ),
            Example(
                "TideoverBenchmarks growth --tideover FILE --postgres ADDRESS --customers 10000000",
                "ten million beside ten thousand, on PostgreSQL"
            ),
        ],
        parameters: [Run.tideover, folder, postgres, customers, seconds, isLoaded],
        notes: [
            "A customer takes 5 KB. Databases of PostgreSQL remain, so that they can be measured "
                + "again with --loaded."
        ],
        run: run
    )

    /// The customers that are loaded one by one, and then copied.
    private static let loaded = 1_000
    private static let few = 10_000
    /// More than any machine measured so far commits.
    private static let notificationsEachSecond = 4_000

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
            notifications: 1 + arguments[seconds] * notificationsEachSecond
        )
        output.print(Machine.description(in: folder))
        output.message("loading \(loaded) customers")
        try await Measure.load(loaded, "growth", stage)
        let growth = Growth(stage: stage, output: output)
        for copies in [few, arguments[customers]].map({ $0 / loaded }) {
            let database = growth.database("grown_\(copies)", server: arguments[postgres])
            if !arguments[isLoaded] { try growth.load(database, copies: copies) }
            try growth.measure(database, copies: copies)
        }
        return .success
    }

    private func database(_ name: String, server: String?) -> any GrownDatabase {
        guard let server else { return SQLiteDatabase(name: name, folder: stage.folder) }
        return PostgreSQLDatabase(name: name, server: server, folder: stage.folder)
    }

    private func load(_ database: any GrownDatabase, copies: Int) throws {
        let began = Clocks.now(CLOCK_MONOTONIC)
        try database.create(from: "growth", of: stage)
        if database.isMigrated { try derive(database) }
        for table in MultipliedTable.all(in: database.dialect) {
            output.message("copying \(table.name) \(copies) times")
            let columns = try database.columns(of: table.name)
            try database.copy(
                table.query(columns: columns, copies: copies, in: database.dialect),
                to: table.name
            )
        }
        try database.finishLoading()
        let seconds = Double(Clocks.now(CLOCK_MONOTONIC) - began) / 1_000_000_000
        output.print("loaded in \(Int(seconds)) s")
    }

    /// Derives the originals' answers. Those that `migrate` brings are derived again when they are
    /// read or due, and each read of a copy would be a commit.
    private func derive(_ database: any GrownDatabase) throws {
        try database.run("UPDATE customer SET valid_until = \(stage.now)")
        let server = try stage.serve(database.name, storage: database.storage)
        defer { server.child.stop() }
        _ = try secondsUntilDerived(server)
    }

    private func measure(_ database: any GrownDatabase, copies: Int) throws {
        let bytes = try database.bytes()
        let customers = try database.run("SELECT count(*) FROM customer").trimmed
        output.print("\(customers) customers, \(bytes) bytes")
        // As many as are due of ten million customers in four minutes of a month.
        try database.run(
            "UPDATE customer SET valid_until = \(stage.now) WHERE customer LIKE '%00000001'"
        )
        let began = Clocks.now(CLOCK_MONOTONIC)
        let server = try stage.serve(database.name, storage: database.storage)
        defer { server.child.stop() }
        let start = Double(Clocks.now(CLOCK_MONOTONIC) - began) / 1_000_000_000
        output.print("  the server answered \(start.written) s after its start")
        try check(server)
        let seconds = try secondsUntilDerived(server)
        output.print("  the \(Self.loaded) answers that were due: derived in \(seconds.written) s")
        let reads = Load.copies(of: "\(stage.folder)/growth.ids", count: copies)
        for round in 1...3 { try measure("reads, round \(round)", reads, server) }
        try measure("notifications", .notifications(stage.corpus), server)
        output.print("  memory \(server.child.peakMegabytes.written) MB at most")
    }

    private func measure(_ name: String, _ load: Load, _ server: ServerUnderLoad) throws {
        let reading = try server.bear(load, seconds: stage.seconds, in: stage.folder)
        output.print(
            "  \(name): \(reading.perSecond.written) a second, "
                + "\(reading.processorMicroseconds.written) us of processor time, p50 "
                + "\(reading.p50Milliseconds.written) ms, p99 "
                + "\(reading.p99Milliseconds.written) ms"
        )
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
}
