import Glibc
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSQLite
import TideoverServer
import TideoverStorage

extension Fuzzer {
    static let server = Fuzzer(
        "server",
        promise: """
            whatever a server is sent as webhooks of RevenueCat, imports of its answers and imports of an \
            export, it answers without a fault of its own; it replays what it stored to the end, and a \
            server opened again on the same database replays that with nothing new and answers
            """,
        maximumByteCount: 8192,
        seeds: { ServerSeeds.bodies },
        words: RevenueCatSeeds.words + ServerSeeds.words,
        mutate: RevenueCatMutations.line,
        check: { ServerChecks.check($0) }
    )
}

/// One server with a new database, from the first request to a restart.
private enum ServerChecks {
    private static let environments: [Environment] = [.production, .sandbox]
    private static let authorization = "Bearer of the dashboard"
    private static let adminKey = APIKey(.admin) { 7 }
    private static let now = Instant(millisecondsSince1970: 1_780_272_600_000)
    private static let app = App(
        id: "cards",
        environments: environments,
        catalogue: FactChecks.catalogue,
        policy: Policy(),
        appStore: nil,
        revenueCat: RevenueCatTrust(
            environments: environments,
            catalogue: FactChecks.catalogue,
            authorization: authorization
        )
    )

    static func check(_ input: [UInt8]) {
        let folder = Folder()
        defer { folder.remove() }
        let path = folder.path + "/tideover.db"
        BlockingWait.run {
            await visit(path) { service in
                await send(input, to: service)
                // A replay may find new facts once, as after a change of version.
                for environment in environments { await replay(environment, by: service) }
            }
            await visit(path) { service in
                for environment in environments {
                    let added = await replay(environment, by: service)
                    expect(added == 0, "a second replay adds \(added) facts in \(environment)")
                }
                await ask("GET", "/v1/apps/cards/customers/anna", of: service)
            }
        }
    }

    private static func visit(_ path: String, _ body: (Service) async -> Void) async {
        let storage = unfailing("the database does not open") { try SQLiteStorage(path: path) }
        let service = unfailing("the service does not start") {
            try Service(
                apps: [app],
                storage: storage,
                version: "fuzz",
                clock: { now },
                log: { _ in },
                adminKey: adminKey
            )
        }
        await body(service)
        await storage.close()
    }

    // MARK: Requests

    /// Sends each line by its kind: an event to the webhook, a record of an export to the import,
    /// any other line to the import of answers.
    private static func send(_ input: [UInt8], to service: Service) async {
        var records = [ServerSeeds.header]
        var answers: [[UInt8]] = []
        for line in input.split(separator: UInt8(ascii: "\n")).map(Array.init) {
            let root = try? JSONDocument(line, limits: .local).root
            if root?["event"] != nil {
                await ask(
                    "POST",
                    "/v1/apps/cards/notifications/revenuecat",
                    line,
                    key: authorization,
                    of: service
                )
            } else if root?["kind"] != nil {
                records.append(line)
            } else {
                answers.append(line)
            }
        }
        let lines = { (lines: [[UInt8]]) in Array(lines.joined(separator: [UInt8(ascii: "\n")])) }
        await ask("POST", "/v1/apps/cards/imports/revenuecat", lines(answers), of: service)
        await ask("POST", "/v1/apps/cards/import", lines(records), of: service)
    }

    private static func ask(
        _ method: String,
        _ path: String,
        _ body: [UInt8] = [],
        key: String? = nil,
        of service: Service
    ) async {
        let headers: Headers = ["Authorization": key ?? "Bearer \(adminKey.text)"]
        let request = Request(method: method, path: path, headers: headers, body: body)
        guard let response = try? await service.handler(request) else {
            Failure.stop("the handler throws")
        }
        // Data that is dated ahead of the clock is answered with 503.
        let isFault = response.status >= 500 && response.status != 503
        expect(!isFault, "\(method) \(path) is answered \(response.status)")
    }

    @discardableResult
    private static func replay(_ environment: Environment, by service: Service) async -> Int64 {
        let response = await service.replayNow(
            app: "cards",
            environment: environment,
            apply: true
        )
        let report = (try? JSONDocument(response.body).root)?["last"]
        let status = report?["status"]?.string ?? "nothing"
        let reason = report?["stopped"]?["detail"]?.string ?? ""
        expect(status == "completed", "a replay is \(status): \(reason)")
        return report?["added"]?["count"]?.int64 ?? -1
    }
}

/// A folder in memory if possible, so that inputs do not wait for a disk.
private struct Folder {
    private static let count = Locked(0)

    let path: String

    init() {
        let number = Self.count.withLock { count in
            count += 1
            return count
        }
        let parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        path = "\(parent)/tideover-fuzz-\(getpid())-\(number)"
        expect(mkdir(path, 0o700) == 0, "the folder \(path) cannot be made")
    }

    func remove() {
        guard let folder = opendir(path) else { return }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            unlink("\(path)/\(name)")
        }
        closedir(folder)
        rmdir(path)
    }
}

/// Runs asynchronous code on other threads and waits for its end. A storage has its own thread, so
/// ``Waiting`` cannot be used.
private enum BlockingWait {
    static func run(_ body: @escaping @Sendable () async -> Void) {
        let isDone = Locked(false)
        Task.detached {
            await body()
            isDone.withLock { $0 = true }
        }
        while !isDone.withLock({ $0 }) { usleep(50) }
    }
}

private enum ServerSeeds {
    static let header = Array(
        #"{"format":"tideover-export","version":1,"app":"cards","holds":"everything"}"#.utf8
    )

    static let bodies: [[UInt8]] =
        RevenueCatSeeds.webhooks + RevenueCatSeeds.files + ExportSeeds.lines
        + [bothEnvironments, Array(lines.joined(separator: [UInt8(ascii: "\n")]))]

    /// An event, an answer and a record of one customer.
    private static let lines = [
        RevenueCatSeeds.webhooks[0], bothEnvironments, ExportSeeds.lines[2],
    ]

    private static let bothEnvironments = Array(
        """
        {"app_user_id":"anna","request_date_ms":1780272000000,"subscriber":{\
        "original_app_user_id":"anna","subscriptions":{\
        "cards.pro.monthly":{"purchase_date":"2026-05-01T10:00:00Z",\
        "expires_date":"2026-06-01T10:00:00Z","period_type":"normal","store":"app_store",\
        "is_sandbox":false,"store_transaction_id":"1"},\
        "cards.pro.yearly":{"purchase_date":"2026-05-01T10:00:00Z",\
        "expires_date":"2026-06-01T10:00:00Z","period_type":"normal","store":"play_store",\
        "is_sandbox":true,"store_transaction_id":"GPA.1..2"}},"entitlements":{}}}
        """.utf8
    )

    static let words = [
        "\"is_sandbox\":true", "\"is_sandbox\":false", "\"environment\":\"sandbox\"",
        "\"kind\":\"fact\"",
    ]
}
