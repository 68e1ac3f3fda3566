import Foundation
import Testing
import TideoverAppStore
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSQLite
import TideoverServer
import TideoverSignatures
import TideoverStorage

/// The whole server without a socket, on a database in its own folder, with a settable clock.
/// Several can share one storage, as servers on one database do.
final class TestServer: Sendable {
    static let anna = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
    static let ben = "11111111-2222-4333-8444-555555555555"

    /// The default credentials of a test's requests.
    static let adminKey = APIKey(.admin) { 0x0102_0304_0506_0708 }
    static let credentials: Headers = ["Authorization": "Bearer \(adminKey.text)"]

    let store: TestStore
    let storage: SQLiteStorage
    let service: Service
    let folder: URL

    static let catalogue = Catalogue(products: [
        "cards.pro.monthly": Product(
            entitlements: ["premium"],
            group: "pro",
            period: Period(months: 1),
            grace: Period(days: 16)
        )
    ])

    init(
        catalogue: Catalogue = catalogue,
        policy: Policy = Policy(),
        bundleId: String = "com.example.cards",
        authority: Authority = .pinned(.sandbox),
        receiptAuthorities: [TrustAnchor: Authority] = [:],
        folder: URL? = nil,
        store: TestStore? = nil,
        probes: Probes = Probes(),
        verifications: WorkLimits = WorkLimits(),
        clients: ClientLimits = ClientLimits(),
        faults: SQLiteFaults = SQLiteFaults(),
        adminKey: APIKey? = adminKey,
        passes: PassIssuer? = nil,
        googlePlay: PlayTrust? = nil,
        revenueCat: RevenueCatTrust? = nil,
        revenueCatSDK: RevenueCatSDK? = nil,
        sdkSigner: SDKSigner? = nil,
        environments: [Environment] = [.sandbox, .simulated],
        languages: AnswerLanguages = AnswerLanguages(),
        now: Instant? = nil,
        webhooks: @Sendable (TestClock) -> WebhookSetup = { _ in WebhookSetup() },
        revocation: (list: RevocationList, checks: RevocationChecks)? = nil,
        dashboard: Bool = false,
        effective: EffectiveConfiguration? = nil,
        simulatedStores: [String: Handler] = [:],
        replica: ReplicaReading? = nil,
        adoptsRules: Bool = false,
        storeSigner: @escaping TokenSigner = { _ in Array(repeating: 0, count: 64) },
        sleep: (@Sendable (TestClock) -> Sleep)? = nil,
        receiptTime: Duration = .seconds(3_600),
        sharing other: TestServer? = nil
    ) throws {
        let store = try store ?? other?.store ?? TestStore()
        let folder = try folder ?? other?.folder ?? Self.makeFolder()
        let storage =
            try other?.storage
            ?? SQLiteStorage(
                path: folder.appending(path: "tideover.db").path,
                options: SQLiteOptions(),
                faults: faults
            )
        let trust = AppStoreTrust(
            identity: AppStoreIdentity(
                bundleId: bundleId,
                environments: Set(environments)
            ),
            authorities: [try TrustAnchor(name: "test", der: store.root): authority],
            receiptAuthorities: receiptAuthorities,
            revocations: revocation?.list
        )
        let app = App(
            id: "cards",
            environments: environments,
            catalogue: catalogue,
            policy: policy,
            appStore: trust,
            googlePlay: googlePlay,
            revenueCat: revenueCat,
            revenueCatSDK: revenueCatSDK,
            sdkSigner: sdkSigner,
            languages: languages,
            passes: passes
        )
        self.store = store
        self.folder = folder
        self.storage = storage
        let clock = TestClock()
        if let now { clock.now = now }
        let realSleep: Sleep = { try await Task.sleep(for: $0) }
        let log = LineBox()
        self.clock = clock
        self.log = log
        let rehearsal = App(
            id: "rehearsal",
            environments: [.simulated],
            catalogue: catalogue,
            policy: Policy(),
            appStore: nil
        )
        service = try Service(
            apps: [app, rehearsal],
            storage: storage,
            replica: replica,
            version: "test",
            clock: { clock.now },
            log: { log.append(String(decoding: $0.json(at: clock.now), as: UTF8.self)) },
            adminKey: adminKey,
            probes: probes,
            verifications: verifications,
            clients: clients,
            access: ["cards": [Self.silentStore(storeSigner)]],
            adoptsRules: adoptsRules,
            reload: { .applied(needRestart: [], notices: []) },
            copier: storage.copier,
            webhooks: webhooks(clock),
            revocation: revocation?.checks,
            dashboard: dashboard,
            effective: effective,
            simulatedStores: simulatedStores,
            sleep: sleep.map { $0(clock) } ?? realSleep,
            receiptTime: receiptTime
        )
    }

    /// A store that answers only the progress of an extension.
    private static func silentStore(_ signer: @escaping TokenSigner) -> StoreAccess {
        StoreAccess(
            environment: .sandbox,
            key: AppStoreAPIKey(issuerId: "issuer", keyId: "key", bundleId: "com.example.cards"),
            signer: signer,
            handler: { request in
                guard request.path.contains("/extend/mass/") else { return Response(status: 503) }
                return Response(body: Array(#"{"complete": false}"#.utf8))
            }
        )
    }

    private let clock: TestClock
    private let log: LineBox

    private static func makeFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "tideover-server-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    var logged: [String] { log.lines }

    var now: Instant { clock.now }

    func set(_ instant: Instant) { clock.now = instant }

    /// Closes the database and removes its folder.
    func close() async {
        await storage.close()
        try? FileManager.default.removeItem(at: folder)
    }

    func post(_ body: [UInt8], to app: String = "cards") async throws -> Response {
        try await service.handler(
            Request(
                method: "POST",
                path: "/v1/apps/\(app)/notifications/app-store",
                body: body
            )
        )
    }

    func post(_ message: Message) async throws -> Response {
        try await post(message.body(store))
    }

    func get(_ target: String, headers: Headers = [:]) async throws -> Response {
        try await send("GET", target, headers: headers)
    }

    /// Sends a request with the tests' own key, unless the headers contain a credential.
    func send(
        _ method: String,
        _ target: String,
        headers: Headers = [:],
        body: [UInt8] = []
    ) async throws -> Response {
        var headers = headers
        if headers.all("Authorization").isEmpty {
            headers["Authorization"] = Self.credentials["Authorization"]
        }
        return try await ask(method, target, headers: headers, body: body)
    }

    /// Sends a request with only these headers. An SDK has to accept the answer to its request.
    func ask(
        _ method: String = "GET",
        _ target: String,
        headers: Headers = [:],
        body: [UInt8] = []
    ) async throws -> Response {
        guard let request = Request(method: method, target: target, headers: headers, body: body)
        else { preconditionFailure("\(target) is a request target") }
        return try await service.checkedAnswer(to: request)
    }

    /// Returns the samples of `/metrics`, without the comment lines.
    func samples() async throws -> [String] {
        let text = String(decoding: try await get("/metrics").body, as: UTF8.self)
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
    }

    func answer(
        _ customer: String = anna,
        environment: String = "sandbox"
    ) async throws -> JSONValue {
        let response = try await get(
            "/v1/apps/cards/customers/\(customer)?environment=\(environment)"
        )
        return JSONValue(try JSONDocument(response.body).root)
    }

    /// Returns `state reason access` of premium.
    func premium(_ customer: String = anna) async throws -> String {
        let premium = try await answer(customer)["entitlements"]?["premium"]
        let words = [premium?["state"]?.string, premium?["reason"]?.string]
        let access = premium?["access"]?.bool.map { $0 ? "access" : "none" }
        return (words + [access]).compactMap(\.self).joined(separator: " ")
    }

    /// Returns the stored counts as `kind name count`, sorted.
    func counts() async throws -> [String] {
        await service.flushTallies()
        return try storage.counts(app: "cards").map { "\($0.key.kind) \($0.key.name) \($0.value)" }
            .sorted()
    }
}

/// A clock that moves only on request.
final class TestClock: Sendable {
    private let instant = Locked<Instant>("2026-05-01T10:00:05Z")

    var now: Instant {
        get { instant.withLock { $0 } }
        set { instant.withLock { $0 = newValue } }
    }
}

final class LineBox: Sendable {
    private let all = Locked<[String]>([])

    var lines: [String] { all.withLock { $0 } }

    func append(_ line: String) { all.withLock { $0.append(line) } }
}

extension TestServer {
    /// Returns the input of a customer's next derivation; its output is discarded.
    func derivationInput(of key: CustomerKey) async throws -> CustomerLineages? {
        let seen = Locked<CustomerLineages?>(nil)
        let commitRequest = CommitRequest(
            app: key.app,
            environment: key.environment,
            customers: [key],
            now: now
        )
        await #expect(throws: StorageError.self) {
            _ = try await storage.commit(commitRequest) { lineages in
                seen.withLock { $0 = lineages }
                return Derivation(
                    answer: [],
                    validUntil: nil,
                    fingerprint: "",
                    events: [Event(kind: "", at: lineages.now, body: [])]
                )
            }
        }
        return seen.withLock { $0 }
    }
}
