import Glibc
import TideoverCommandLine
import TideoverServer

/// The available measures, by the names of the command line.
enum Measure: String, CaseIterable, Sendable {
    case inProcess = "in-process"
    case http
    case durable
    case read
    case scale
    case portfolio
    case dashboard
    case postgres

    /// Prepares the data before the measure's first round.
    func prepare(_ stage: Stage) async throws {
        switch self {
        case .inProcess, .http, .durable, .postgres: break
        case .read: try await Self.load(1_000, "read", stage)
        case .portfolio: try await Portfolio(stage: stage).prepare()
        case .dashboard: try await DashboardPages(stage: stage).prepare()
        case .scale:
            for size in Size.allCases {
                try await Self.load(size.rawValue, size.database, stage)
            }
        }
    }

    /// Runs one round. Returns the readings by row.
    func round(_ stage: Stage) async throws -> [Row: Reading] {
        switch self {
        case .inProcess: try Self.inProcess(stage)
        case .http: [.http: try Self.notifications(to: stage.host(.forgetful), stage)]
        case .durable: try Self.durable(stage)
        case .read: try Self.read(stage)
        case .scale: try Self.scale(stage)
        case .portfolio: try Portfolio(stage: stage).round()
        case .dashboard: try await DashboardPages(stage: stage).round()
        case .postgres: try OnPostgreSQL(stage: stage).round()
        }
    }

    // MARK: Rounds

    private static func inProcess(_ stage: Stage) throws -> [Row: Reading] {
        func readings(_ command: [String]) throws -> [Reading] {
            let text = try Child.run(
                [stage.itself] + command,
                on: Yardstick.core,
                name: "in-process",
                in: stage.folder
            )
            return text.split(separator: "\n").compactMap { Reading(text: $0) }
        }
        let loops = try readings(
            ["in-process", stage.folder, "--seconds", "\(stage.seconds * 10)"]
        )
        let committed = try readings(["committing", stage.folder])
        guard loops.count == 2, committed.count == 1 else {
            throw CommandFailure(.software, "the loops printed no results")
        }
        return [.inProcess: loops[0], .withoutSignatures: loops[1], .committed: committed[0]]
    }

    private static func notifications(
        to server: ServerUnderLoad,
        _ stage: Stage
    ) throws -> Reading {
        defer { server.child.stop() }
        return try server.bear(
            .notifications(stage.corpus),
            seconds: stage.seconds,
            in: stage.folder
        )
    }

    private static func durable(_ stage: Stage) throws -> [Row: Reading] {
        defer { stage.remove("durable") }
        return [.durable: try notifications(to: stage.serve("durable"), stage)]
    }

    /// Measures the snapshot, a constant answer of the same process, and the minimum cost of any
    /// answer.
    private static func read(_ stage: Stage) throws -> [Row: Reading] {
        let bare = try stage.host(.constant)
        defer { bare.child.stop() }
        let server = try stage.serve("read")
        defer { server.child.stop() }
        func bear(_ server: ServerUnderLoad, _ load: Load) throws -> Reading {
            try server.bear(load, seconds: stage.seconds, in: stage.folder)
        }
        return [
            .constant: try bear(server, .path("/healthz")),
            .snapshot: try bear(server, .reads(of: "\(stage.folder)/read.ids")),
            .bare: try bear(bare, .path("/")),
        ]
    }

    // MARK: Scale

    /// The number of customers in a database.
    enum Size: Int, CaseIterable {
        case small = 1_000
        case large = 100_000

        var database: String { "customers-\(rawValue)" }
        var reads: Row { self == .small ? .readsOfFew : .readsOfMany }
        var commits: Row { self == .small ? .commitsToFew : .commitsToMany }
    }

    static func load(_ count: Int, _ database: String, _ stage: Stage) async throws {
        let configuration = try Setting.write(
            in: stage.folder,
            database: database,
            store: stage.store
        )
        // These numbers are in no corpus, so the notifications of the rounds concern other
        // customers.
        let customers = 1_000_000..<1_000_000 + count
        try await Loading(
            path: "\(stage.folder)/\(database).db",
            app: try App(Setting.load(configuration)),
            store: stage.store,
            now: stage.now
        ).load(customers)
        try Loading.writeIDs(
            of: customers,
            now: stage.now,
            to: "\(stage.folder)/\(database).ids"
        )
    }

    /// Measures random reads, then notifications about other customers, each on a separate copy.
    private static func scale(_ stage: Stage) throws -> [Row: Reading] {
        var readings: [Row: Reading] = [:]
        for size in Size.allCases {
            let path = "\(stage.folder)/\(size.database).db"
            _ = try Child.run(
                ["cp", path, "\(stage.folder)/scale.db"],
                on: nil,
                name: "cp",
                in: stage.folder
            )
            defer { stage.remove("scale") }
            let server = try stage.serve("scale")
            defer { server.child.stop() }
            readings[size.reads] = try server.bear(
                .reads(of: "\(stage.folder)/\(size.database).ids"),
                seconds: stage.seconds,
                in: stage.folder
            )
            readings[size.commits] = try server.bear(
                .notifications(stage.corpus),
                seconds: stage.seconds,
                in: stage.folder
            )
        }
        return readings
    }
}
