import Glibc
import TideoverCommandLine
import TideoverCore
import TideoverSQLite
import TideoverServer
import TideoverStorage

/// The portfolio report over the stored figures of a million customers in ten apps.
///
/// The figures are those that the server derives for a thousand loaded customers, each stored a
/// thousand times under different keys: the report reads nothing else of customers without news.
struct Portfolio {
    static let apps = (1...10).map { $0 == 1 ? Setting.appID : "\(Setting.appID)-\($0)" }
    static let loaded = 1_000
    /// The customers of each app.
    static let customers = 100_000
    static let database = "portfolio"
    static let path = "/v1/reports/portfolio"

    private static let batchLength = 1_000
    private static let environment = Environment.simulated

    let stage: Stage

    func prepare() async throws {
        let configuration = try Setting.write(
            in: stage.folder,
            database: Self.database,
            store: stage.store,
            apps: Self.apps
        )
        let app = try App(Setting.load(configuration))
        let path = "\(stage.folder)/\(Self.database).db"
        let loading = Loading(path: path, app: app, store: stage.store, now: stage.now)
        try await loading.load(1_000_000..<1_000_000 + Self.loaded)
        let storage = try SQLiteStorage(path: path)
        do {
            try await fill(storage, app)
        } catch {
            await storage.close()
            throw error
        }
        await storage.close()
    }

    private func fill(_ storage: SQLiteStorage, _ app: App) async throws {
        let service = try Service(
            apps: [app],
            storage: storage,
            version: "1",
            clock: Setting.now,
            log: { _ in }
        )
        // It sleeps long once nothing is stale.
        await service.work(on: [.figures]) { duration in
            if duration > .seconds(1) { throw CancellationError() }
        }
        let rows = try storage.figures(
            in: AppScope(app.id, Self.environment),
            kind: .lineage,
            after: nil,
            limit: Self.loaded
        )
        let mark = BookmarkKey(app: app.id, environment: Self.environment, name: "figures")
        guard rows.count == Self.loaded, let stamp = rows.first?.stamp,
            let form = try storage.bookmark(mark)
        else { throw CommandFailure(.software, "\(rows.count) purchases have figures") }
        for id in Self.apps {
            let present = id == app.id ? Self.loaded : 0
            try await copy(rows, stamp, from: present, of: id, to: storage)
            let key = BookmarkKey(app: id, environment: Self.environment, name: "figures")
            try await storage.keep(form, as: key)
        }
    }

    /// Stores the figures repeatedly, until an app has those of all its customers.
    private func copy(
        _ rows: [FiguresRow],
        _ stamp: Int64,
        from present: Int,
        of app: String,
        to storage: SQLiteStorage
    ) async throws {
        for start in stride(from: present, to: Self.customers, by: Self.batchLength) {
            var forms: [FiguresSubject: [UInt8]?] = [:]
            for (number, row) in rows.enumerated() {
                forms[FiguresSubject(.lineage, "appStore:9\(start + number)")] = row.form
            }
            let done = try storage.staleFigures(
                in: AppScope(app, Self.environment),
                limit: 1
            )
            let update = FiguresUpdate(
                app: app,
                environment: Self.environment,
                stamp: stamp,
                done: StaleFiguresPage(turn: done.turn, subjects: []),
                forms: forms
            )
            guard try await storage.keep(update) else {
                throw CommandFailure(.software, "figures were not stored")
            }
        }
    }

    /// Measures the report, and notifications alone and beside a report each second, each on a
    /// separate copy.
    func round() throws -> [Row: Reading] {
        let key = Load.Header.authorization(Setting.adminKey)
        return try [
            .portfolio: onCopy { server in
                try server.bear(
                    .path(Self.path, header: key),
                    connections: 1,
                    seconds: stage.seconds,
                    in: stage.folder
                )
            },
            .commitsAlone: onCopy { try notifications(to: $0) },
            .commitsBesidePortfolio: onCopy { server in
                let asking = try Child(
                    [
                        "sh", "-c",
                        "while curl --silent --fail --output /dev/null "
                            + "--header '\(key.name): \(key.value)' "
                            + "http://\(server.address)\(Self.path); do sleep 1; done",
                    ],
                    on: Yardstick.loader,
                    name: "asking",
                    in: stage.folder
                )
                defer { asking.stop() }
                return try notifications(to: server)
            },
        ]
    }

    private func notifications(to server: ServerUnderLoad) throws -> Reading {
        try server.bear(.notifications(stage.corpus), seconds: stage.seconds, in: stage.folder)
    }

    private func onCopy(_ measure: (ServerUnderLoad) throws -> Reading) throws -> Reading {
        let path = "\(stage.folder)/\(Self.database)"
        let words = ["cp", "\(path).db", "\(path)-copy.db"]
        _ = try Child.run(words, on: nil, name: "cp", in: stage.folder)
        defer { stage.remove("\(Self.database)-copy") }
        let server = try stage.serve("\(Self.database)-copy", apps: Self.apps)
        defer { server.child.stop() }
        return try measure(server)
    }
}
