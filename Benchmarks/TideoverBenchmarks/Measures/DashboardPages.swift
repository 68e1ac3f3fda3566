import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverHTTPClient
import TideoverSQLite
import TideoverServer
import TideoverStorage

/// A page of the dashboard that is asked for by a line of a file, as the parts of its path.
enum PageSearch: String, CaseIterable, Sendable {
    case customer, id, email

    private static let app = "/dashboard/apps/\(Setting.appID)"

    var prefix: String {
        switch self {
        case .customer: "\(Self.app)/customers/"
        case .id, .email: "\(Self.app)/search?environment=simulated&q="
        }
    }

    var suffix: String { self == .customer ? "?environment=simulated" : "" }

    var row: Row {
        switch self {
        case .customer: .customerPage
        case .id: .customerSearch
        case .email: .emailSearch
        }
    }

    /// Returns the text for a customer's id.
    func line(for id: String) -> String {
        switch self {
        case .customer: id
        // Long enough to find few customers, and not the whole id, which leads to the page.
        case .id: String(id.prefix(8))
        case .email: DashboardPages.email(of: id)
        }
    }
}

/// The dashboard's page of a customer and its searches, over many customers. An app states the email
/// address of each.
struct DashboardPages {
    static let database = "dashboard"
    private static let batchLength = 1_000

    let stage: Stage
    /// The number of customers.
    var count = 100_000

    private var path: String { "\(stage.folder)/\(Self.database)" }
    /// These numbers are in no corpus.
    private var numbers: Range<Int> { 1_000_000..<1_000_000 + count }

    static func email(of id: String) -> String { "\(id)@example.com" }

    // MARK: Preparation

    func prepare() async throws {
        let configuration = try Setting.write(
            in: stage.folder,
            database: Self.database,
            store: stage.store,
            dashboard: true
        )
        let app = try App(Setting.load(configuration))
        let loading = Loading(path: "\(path).db", app: app, store: stage.store, now: stage.now)
        try await loading.load(numbers)
        let ids = numbers.map { Subscriber($0, months: 0, now: stage.now).token }
        for page in PageSearch.allCases {
            let lines = ids.map { page.line(for: $0) + "\n" }.joined()
            try Files.write(Array(lines.utf8), to: "\(path).\(page.rawValue)")
        }
        try await withStorage { storage in try await state(ids, in: storage) }
    }

    private func withStorage<Result>(
        _ use: (SQLiteStorage) async throws -> Result
    ) async throws -> Result {
        let storage = try SQLiteStorage(path: "\(path).db")
        do {
            let result = try await use(storage)
            await storage.close()
            return result
        } catch {
            await storage.close()
            throw error
        }
    }

    /// Stores the addresses.
    private func state(_ ids: [String], in storage: SQLiteStorage) async throws {
        let now = Setting.now()
        for start in stride(from: 0, to: ids.count, by: Self.batchLength) {
            let batch = ids[start..<min(start + Self.batchLength, ids.count)]
            let records = batch.compactMap { id -> StoredRecord? in
                guard let customer = CustomerID(id) else { return nil }
                let attribute = CustomerAttribute(
                    name: EmailAddress.attribute,
                    value: Self.email(of: id),
                    updatedAt: now
                )
                return .attribute(AttributeRecord(customer: customer, attribute: attribute))
            }
            _ = try await storage.restore(
                records,
                in: AppScope(Setting.appID, .simulated),
                now: now
            )
        }
    }

    private func service(_ storage: SQLiteStorage, _ app: App) throws -> Service {
        try Service(
            apps: [app],
            storage: storage,
            version: "1",
            clock: Setting.now,
            log: { _ in },
            adminKey: Setting.adminKey,
            dashboard: true
        )
    }

    // MARK: Measures

    /// Measures each page as one person reads them, one after the other.
    func round() async throws -> [Row: Reading] {
        let server = try stage.serve(Self.database, dashboard: true)
        defer { server.child.stop() }
        let client = try HTTPClient(userAgent: "benchmarks")
        let place = Destination(
            try HTTPURL("http://\(server.address)"),
            addresses: .any,
            limits: ExchangeLimits()
        )
        let cookie = try await signIn(to: client.handler(under: place))
        var readings: [Row: Reading] = [:]
        for page in PageSearch.allCases {
            readings[page.row] = try server.bear(
                .pages(of: "\(path).\(page.rawValue)", page, cookie: cookie),
                connections: 1,
                seconds: stage.seconds,
                in: stage.folder
            )
        }
        return readings
    }

    /// Reads each page of one customer once, in process.
    func smoke() async throws -> String {
        try await prepare()
        let app = try App(Setting.load("\(path).json"))
        let id = Subscriber(numbers.lowerBound, months: 0, now: stage.now).token
        return try await withStorage { storage in
            let handler = try service(storage, app).handler
            let cookie = try await signIn(to: handler)
            for page in PageSearch.allCases {
                let target = page.prefix + page.line(for: id) + page.suffix
                guard
                    let request = Request(
                        method: "GET",
                        target: target,
                        headers: ["Cookie": cookie],
                        body: []
                    )
                else { throw CommandFailure(.software, "\(target) is no request target") }
                let response = try await handler(request)
                let text = String(decoding: response.body, as: UTF8.self)
                guard response.status == 200, text.contains("/customers/\(id)") else {
                    throw CommandFailure(.failure, "\(target): \(response.status)\n\(text)")
                }
            }
            return "\(PageSearch.allCases.count) pages of the dashboard read"
        }
    }

    /// Signs in, and returns the cookie of the session.
    private func signIn(to handler: Handler) async throws -> String {
        let path = "/dashboard/sign-in"
        let shown = try await handler(Request(path: path))
        let text = String(decoding: shown.body, as: UTF8.self)
        guard let token = text.firstMatch(of: /name="form_token" value="([^"]*)"/)?.1,
            let formCookie = Self.cookie(in: shown)
        else { throw CommandFailure(.software, "no form: status \(shown.status)") }
        let response = try await handler(
            Request(
                method: "POST",
                path: path,
                headers: [
                    "Cookie": formCookie, "Content-Type": "application/x-www-form-urlencoded",
                ],
                body: Array("form_token=\(token)&key=\(Setting.adminKey.text)".utf8)
            )
        )
        guard response.status == 303, let cookie = Self.cookie(in: response) else {
            throw CommandFailure(.software, "no session: status \(response.status)")
        }
        return cookie
    }

    /// Returns the first cookie that a response sets and does not remove.
    private static func cookie(in response: Response) -> String? {
        response.headers.all("Set-Cookie").first { !$0.contains("Max-Age=0") }
            .map { String($0.prefix { $0 != ";" }) }
    }
}
