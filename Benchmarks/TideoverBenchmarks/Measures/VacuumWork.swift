import Glibc
import TideoverCommandLine

/// `vacuum`: what notifications leave for PostgreSQL's vacuum to remove.
///
/// PostgreSQL writes a changed row anew. The old one is removed by the next change in its page if no
/// index has a changed column (HOT), and otherwise by vacuum.
enum VacuumWork {
    private static let postgres = Parameter.requiredOption(
        "--postgres",
        "ADDRESS",
        "An otherwise unused PostgreSQL, as in the configuration"
    )
    private static let seconds = Parameter.option(
        "--seconds",
        "N",
        "How long notifications are sent",
        as: ValueForm<Int>.integer(in: 1...600),
        default: "10"
    )

    static let command = Command(
        "vacuum",
        summary: "count what notifications leave for PostgreSQL's vacuum",
        examples: [
            Example(
                "TideoverBenchmarks vacuum --tideover FILE --postgres ADDRESS",
                "by table, for one notification"
            )
        ],
        parameters: [Run.tideover, Growth.folder, postgres, seconds],
        notes: [
            "Rows are counted by PostgreSQL, whether or not its own vacuum works meanwhile."
        ],
        run: run
    )

    /// More than a server commits in a second to a PostgreSQL on the same machine.
    private static let mostPerSecond = 2_000

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let folder = try Run.makeFolder(in: arguments[Growth.folder])
        defer { Files.removeFolder(folder) }
        let seconds = arguments[seconds]
        output.message("minting notifications")
        let stage = try await Stage(
            folder: folder,
            tideover: arguments[Run.tideover],
            itself: CommandLine.arguments[0],
            seconds: seconds,
            notifications: seconds * mostPerSecond
        )
        let database = PostgreSQLDatabase(
            name: "vacuumed",
            server: arguments[postgres],
            folder: folder
        )
        try database.create()
        output.print(Machine.description(in: folder))
        try load(database, stage)
        output.print(try counts(in: database))
        let began = Clocks.now(CLOCK_MONOTONIC)
        try database.run("VACUUM")
        let spent = Double(Clocks.now(CLOCK_MONOTONIC) - began) / 1_000_000_000
        output.print("VACUUM of all tables: \(spent.written) s")
        return .success
    }

    private static func load(_ database: PostgreSQLDatabase, _ stage: Stage) throws {
        let server = try stage.serve("vacuum", storage: database.address)
        // Its connections report what they changed when they end.
        defer { server.child.stop() }
        _ = try server.bear(
            .notifications(stage.corpus),
            seconds: stage.seconds,
            in: stage.folder
        )
    }

    private static func counts(in database: PostgreSQLDatabase) throws -> Table {
        let notifications = try database.run("SELECT count(*) FROM evidence").trimmed
        guard let count = Double(notifications), count > 0 else {
            throw CommandFailure(.software, "no notification was stored")
        }
        let rows = try database.run(
            """
            SELECT relname, n_tup_ins, n_tup_upd, n_tup_hot_upd, n_tup_del, n_dead_tup,
                pg_total_relation_size(relid) FROM pg_stat_user_tables
            WHERE n_tup_ins + n_tup_upd + n_tup_del > 0 ORDER BY n_tup_ins + n_tup_upd DESC, relname
            """
        )
        var table = Table([
            .init("\(notifications) notifications"), .init("inserted", .trailing),
            .init("updated", .trailing), .init("of these HOT", .trailing),
            .init("deleted", .trailing), .init("dead", .trailing), .init("MB", .trailing),
        ])
        for row in rows.split(separator: "\n") {
            let parts = row.split(separator: "|")
            let numbers = parts.dropFirst().compactMap { Double($0) }
            guard numbers.count == 6 else { throw CommandFailure(.software, "\(row)") }
            let hot = (numbers[2] / numbers[1] * 100).rounded()
            table.add([
                .init("\(parts[0])"), .init((numbers[0] / count).written),
                .init((numbers[1] / count).written),
                .init(numbers[1] > 0 ? "\(hot.written) %" : "-"),
                .init((numbers[3] / count).written), .init((numbers[4] / count).written),
                .init((numbers[5] / 1_000_000).written),
            ])
        }
        return table
    }
}
