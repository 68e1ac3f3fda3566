import TideoverAppStore
import TideoverCommandLine
import TideoverCore
import TideoverHTTP
import TideoverHTTPServer
import TideoverLocks
import TideoverSQLite
import TideoverSandbox
import TideoverServer
import TideoverSignatures
import TideoverStorage

/// A simulated store and the server it speaks to, with one clock between them.
struct Rehearsal {
    let scenario: Scenario
    private let storage: SQLiteStorage
    let service: Service
    let clock: StoryClock
    private let authority: SandboxAuthority
    /// The key with which the server asks the store.
    private let key = P256PrivateKey.generate()
    private let storeAPI = Locked<Handler?>(nil)

    private let googlePlay: GooglePlayRehearsal?

    private static let issuerId = "57246542-96fe-1a63-e053-0824d011072a"
    private static let keyId = "REHEARSAL1"
    private let adminKey = APIKey(.admin) { .random(in: .min ... .max) }

    init(_ scenario: Scenario, _ folder: TemporaryFolder) throws {
        let authority = try SandboxAuthority()
        let clock = StoryClock()
        let trust = AppStoreTrust(
            identity: AppStoreIdentity(
                bundleId: scenario.app.store.bundleId,
                appAppleId: scenario.app.store.appAppleId,
                environments: [.simulated]
            ),
            authorities: try AppStoreTrust.roots(
                simulated: TrustAnchor(name: "simulated", der: authority.root)
            )
        )
        let storage = try SQLiteStorage(path: "\(folder.path)/tideover.db")
        let (key, storeAPI) = (key, storeAPI)
        let access = StoreAccess(
            environment: .simulated,
            key: TideoverAppStore.AppStoreAPIKey(
                issuerId: Self.issuerId,
                keyId: Self.keyId,
                bundleId: scenario.app.store.bundleId
            ),
            signer: { key.sign($0) },
            handler: { request in
                guard let ask = storeAPI.withLock({ $0 }) else { return Response(status: 503) }
                return try await ask(request)
            }
        )
        googlePlay = scenario.googlePlay.map { GooglePlayRehearsal($0.app, clock: clock.now) }
        self.scenario = scenario
        self.authority = authority
        self.clock = clock
        self.storage = storage
        service = try Service(
            apps: [
                App(
                    id: scenario.app.id,
                    environments: [.simulated],
                    catalogue: Catalogue(scenario),
                    policy: Policy(),
                    appStore: trust,
                    googlePlay: googlePlay?.trust
                )
            ],
            storage: storage,
            version: Tideover.version,
            clock: clock.now,
            log: { _ in },
            adminKey: adminKey,
            access: [scenario.app.id: [access]],
            // A rehearsal's time does not pass while anybody waits.
            sleep: { _ in await Task.yield() }
        )
    }

    func play() async throws -> ScenarioReport {
        var target = ScenarioTarget(
            deliver: service.handler,
            readBack: service.handler,
            setClock: clock.set,
            readHeaders: ["Authorization": "Bearer \(adminKey.text)"]
        )
        if let googlePlay { target.googlePlay = googlePlay.target }
        let storeAPI = storeAPI
        target.meetStore = { handler in storeAPI.withLock { $0 = handler } }
        let (service, app) = (service, scenario.app.id)
        target.catchUp = { _ = await service.backfillNow(app: app, environment: .simulated) }
        target.storeKeys = [
            TideoverSandbox.AppStoreAPIKey(
                issuerId: Self.issuerId,
                keyId: Self.keyId,
                publicKey: key.publicKey
            )
        ]
        return try await ScenarioRunner(target: target, authority: authority).run(scenario)
    }

    /// Ends the server; what it stored goes with its folder.
    func close() async { await storage.close() }

    /// Answers on loopback with the story's clock, which stands still at its end.
    func listen(at address: ListenAddress) throws -> HTTPServer {
        do {
            return try HTTPServer(
                address: address.host,
                port: address.port,
                handler: service.handler
            )
        } catch {
            throw CommandFailure(
                .unavailable,
                "cannot serve: \(error)\n"
                    + "Choose another with --listen 127.0.0.1:0, or use --no-serve."
            )
        }
    }
}

/// The one clock of a story: the store's, which the server follows.
final class StoryClock: Sendable {
    private let instant = Locked(Instant(millisecondsSince1970: 0))

    var now: Clock {
        { self.instant.withLock { $0 } }
    }

    var set: @Sendable (Int64) async -> Void {
        { milliseconds in
            self.instant.withLock { $0 = Instant(millisecondsSince1970: milliseconds) }
        }
    }
}

extension Catalogue {
    /// What a scenario's store sells, as the operator would describe it.
    init(_ scenario: Scenario) {
        let app = scenario.app
        self.init()
        for product in app.store.products {
            products[product.id] = Product(
                entitlements: app.entitlements[product.id] ?? [],
                group: product.group,
                period: Period(iso8601: product.period.text),
                trial: product.trial.flatMap { Period(iso8601: $0.text) },
                price: Money(milliunits: product.price.milliunits, currency: product.price.currency)
            )
        }
        for product in app.store.oneTimeProducts {
            products[product.id] = Product(
                entitlements: app.entitlements[product.id] ?? [],
                kind: Product.Kind(product.kind),
                period: product.length.flatMap { Period(iso8601: $0.text) },
                price: Money(milliunits: product.price.milliunits, currency: product.price.currency)
            )
        }
        if let play = scenario.googlePlay { addProducts(of: play) }
    }
}

extension Product.Kind {
    /// The operator's word for a kind of product of the store's.
    init(_ kind: AppStoreOneTimeProduct.Kind) {
        self =
            switch kind {
            case .consumable: .consumable
            case .nonConsumable: .nonConsumable
            case .nonRenewing: .nonRenewing
            }
    }
}
