import Foundation
import TideoverAppStore
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverRehearsal
import TideoverSQLite
import TideoverSandbox
import TideoverServer
import TideoverStorage

/// A simulated App Store with its Server API, and a key for it.
struct RehearsedStore {
    static let start: Instant = "2026-01-05T10:00:00Z"

    let store: SimulatedAppStore
    let authority: SandboxAuthority
    /// The back end's side.
    let backEnd: AppStoreRehearsal

    init(
        seed: UInt64 = 7,
        trial: String? = nil,
        grace: BillingGrace = .sixteenDays,
        environment: AppStoreEnvironment = .production,
        limits: AppStoreRateLimits = .byTheHour,
        alsoSelling others: [AppStoreProduct] = [],
        oneTimeProducts: [AppStoreOneTimeProduct] = []
    ) throws {
        authority = try SandboxAuthority()
        guard let month = StorePeriod(iso: "P1M"), let price = StorePrice("9.99 USD") else {
            preconditionFailure("a month and a price are written so")
        }
        let product = AppStoreProduct(
            id: "cards.pro.monthly",
            group: "pro",
            period: month,
            trial: trial.flatMap { StorePeriod(iso: $0) },
            price: price,
            grace: grace
        )
        let app = AppStoreApp(
            bundleId: "com.example.cards",
            environment: environment,
            products: [product] + others,
            oneTimeProducts: oneTimeProducts
        )
        backEnd = try AppStoreRehearsal(app, root: authority.root)
        store = SimulatedAppStore(
            app,
            seed: seed,
            now: Self.start.millisecondsSince1970,
            authority: authority,
            keys: [backEnd.storeKey],
            limits: limits,
            wait: { _ in }
        )
    }

    /// Returns access to the store; `before` is called for each request, and may fail it.
    func access(
        before: @escaping @Sendable (Request) async throws -> Void = { _ in }
    ) -> StoreAccess {
        let handler = store.serverAPI
        return backEnd.access { request in
            try await before(request)
            return try await handler(request)
        }
    }
}

extension SimulatedAppStore {
    /// Adds a customer, who subscribes for a month without a trial.
    @discardableResult
    func subscribe(
        _ customer: String = "anna",
        token: String? = nil
    ) throws -> [TideoverSandbox.AppStoreNotification] {
        try register(StoreCustomer(name: customer, appAccountToken: token))
        return try perform(.subscribe(product: "cards.pro.monthly", trial: .declined), by: customer)
    }

    /// Lets the time of a test pass, and the store deliver what falls due.
    func pass(
        _ length: Milliseconds,
        on time: TestTime,
        posting post: @Sendable ([UInt8]) async throws -> Int
    ) async throws {
        time.clock.now = time.clock.now + length
        try await advance(to: time.clock.now.millisecondsSince1970, posting: post)
    }
}

extension RehearsedStore {
    /// Returns the same access with a store clock that follows the test's, which advances during
    /// waits.
    func following(_ time: TestTime) -> StoreAccess {
        access { _ in
            _ = try await store.advance(to: time.clock.now.millisecondsSince1970) { _ in 500 }
        }
    }
}

/// A clock and a stopwatch that only tests move.
final class TestTime: Sendable {
    let clock = TestClock()
    private let nanoseconds = Locked<Int64>(0)
    /// Whether sleeping moves the clock too; it always moves the stopwatch.
    private let movesClock: Bool
    private let end = Locked<Instant>(.distantFuture)
    private let stands = Locked(false)
    private let leap = Locked<Milliseconds?>(nil)
    /// The event of the log with which time stops; nil for none.
    private let lastEvent = Locked<String?>(nil)

    init(at instant: Instant = RehearsedStore.start, movesClock: Bool = false) {
        self.movesClock = movesClock
        clock.now = instant
    }

    var uptime: Int64 { nanoseconds.withLock { $0 } }

    /// Makes every sleep after an instant fail, as if cancelled.
    func end(at instant: Instant) { end.withLock { $0 = instant } }

    /// Makes the next sleep move the clock by a length, as a simulated store's clock may.
    func leap(by length: Milliseconds) { leap.withLock { $0 = length } }

    /// Makes sleepers wait, so that no time passes, from when an event is logged until `pass()`.
    func stand(fromLogging event: String) { lastEvent.withLock { $0 = event } }

    func pass() {
        lastEvent.withLock { $0 = nil }
        stands.withLock { $0 = false }
    }

    fileprivate func logged(_ line: String) {
        guard let event = lastEvent.withLock({ $0 }), line.contains(event) else { return }
        stands.withLock { $0 = true }
    }

    @Sendable func sleep(_ duration: Duration) async throws {
        try Task.checkCancellation()
        while stands.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
        if clock.now >= end.withLock({ $0 }) { throw CancellationError() }
        let parts = duration.components
        let length = parts.seconds * 1_000_000_000 + parts.attoseconds / 1_000_000_000
        nanoseconds.withLock { $0 += length }
        if movesClock { clock.now = clock.now + Milliseconds(length / 1_000_000) }
        let leapt = leap.withLock { leap in
            defer { leap = nil }
            return leap
        }
        if let leapt { clock.now = clock.now + leapt }
        await Task.yield()
    }
}

/// The server beside a simulated store: it receives notifications and can query the store. Several
/// can share one storage, as servers on one database do.
final class RehearsedBackEnd: Sendable {
    let service: Service
    let storage: SQLiteStorage
    let folder: URL
    let app: App

    init(
        _ rehearsed: RehearsedStore,
        _ time: TestTime,
        folder: URL? = nil,
        access: StoreAccess? = nil,
        schedule: BackfillSchedule = BackfillSchedule(),
        consumption: ConsumptionChoices = ConsumptionChoices(),
        faults: SQLiteFaults = SQLiteFaults(),
        catalogue: Catalogue = TestServer.catalogue,
        policy: Policy = Policy(),
        revenueCatSDK: RevenueCatSDK? = nil,
        clients: ClientLimits = ClientLimits(),
        receiptTime: Duration = .seconds(3_600),
        sharing other: RehearsedBackEnd? = nil
    ) throws {
        let folder =
            folder ?? other?.folder
            ?? FileManager.default.temporaryDirectory.appending(
                path: "tideover-backfill-\(UUID().uuidString)"
            )
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let storage =
            try other?.storage
            ?? SQLiteStorage(
                path: folder.appending(path: "tideover.db").path,
                options: SQLiteOptions(),
                faults: faults
            )
        let app = App(
            id: "cards",
            environments: [.simulated],
            catalogue: catalogue,
            policy: policy,
            appStore: rehearsed.backEnd.trust,
            revenueCatSDK: revenueCatSDK,
            backfill: schedule,
            consumption: consumption
        )
        self.folder = folder
        self.storage = storage
        self.app = app
        let lines = LineBox()
        log = lines
        service = try Service(
            apps: [app],
            storage: storage,
            version: "test",
            clock: { time.clock.now },
            log: { line in
                let text = String(decoding: line.json(at: time.clock.now), as: UTF8.self)
                lines.append(text)
                time.logged(text)
            },
            adminKey: TestServer.adminKey,
            probes: Probes(uptime: { time.uptime }),
            clients: clients,
            access: ["cards": [access ?? rehearsed.access()]],
            sleep: time.sleep,
            receiptTime: receiptTime
        )
    }

    private let log: LineBox
    var logged: [String] { log.lines }

    /// Returns the samples of `/metrics`, one per line.
    func samples() async throws -> [String] {
        let body = try await service.handler(Request(path: "/metrics")).body
        return String(decoding: body, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    func post(_ body: [UInt8]) async throws -> Int {
        try await service.handler(
            Request(method: "POST", path: "/v1/apps/cards/notifications/app-store", body: body)
        ).status
    }

    /// Runs a backfill, and returns its report.
    func backfill() async throws -> JSONValue? {
        let response = await service.backfillNow(app: "cards", environment: .simulated)
        return JSONValue(try JSONDocument(response.body).root)["last"]
    }

    func get(_ target: String) async throws -> JSONValue { try await service.get(target) }

    /// Returns a customer's answer without the parts that depend on the number of changes.
    func answer(_ customer: String) async throws -> JSONValue {
        let answer = try await get("/v1/apps/cards/customers/\(customer)?environment=simulated")
        return [
            "entitlements": answer["entitlements"] ?? .null, "prompt": answer["prompt"] ?? .null,
        ]
    }

    /// Returns a customer's timeline without the time and the bytes of arrival.
    func timeline(_ customer: String, until: Instant) throws -> String {
        guard let id = CustomerID(customer) else { preconditionFailure("this is a customer's id") }
        let key = CustomerKey(app: "cards", environment: .simulated, customer: id)
        guard let known = try storage.lineages(of: key, now: until) else { return "no customer" }
        let record = CustomerRecord(
            customer: id,
            environment: .simulated,
            lineageRecords: known.lineageRecords.map {
                CustomerRecord.LineageRecord(
                    lineage: $0.lineage,
                    facts: $0.facts,
                    owners: $0.owners
                )
            },
            catalogue: app.catalogue,
            policy: app.policy
        )
        let timeline = CustomerTimeline(record, until: until).timeline(of: "premium")
        var writer = JSONWriter()
        writer.object { timeline.writeFields(to: &$0) }
        let all = JSONValue(try JSONDocument(writer.bytes, limits: .local).root)
        return String(decoding: all.without(["learnedAt", "evidence"]).encoded(), as: UTF8.self)
    }

    func close() async {
        await storage.close()
        try? FileManager.default.removeItem(at: folder)
    }
}

extension JSONValue {
    /// Returns the value without members of these names, at any depth.
    func without(_ names: Set<String>) -> JSONValue {
        switch self {
        case .array(let elements): .array(elements.map { $0.without(names) })
        case .object(let object):
            .object(
                object.reduce(into: JSONObject()) { kept, member in
                    if !names.contains(member.key) {
                        kept[member.key] = member.value.without(names)
                    }
                }
            )
        case .null, .bool, .integer, .double, .string: self
        }
    }
}
