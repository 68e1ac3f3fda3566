import Foundation
import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSQLite
import TideoverSandbox
import TideoverServer
import TideoverSignatures

/// The server that a scenario is played against.
final class Rehearsal: Sendable {
    let service: Service
    let clock = TestClock()
    private let app: String
    private let storage: SQLiteStorage
    private let folder: URL
    private let key = P256PrivateKey.generate()
    private let storeAPI = Locked<Handler?>(nil)
    private let googlePlay: RehearsedGooglePlay?

    init(_ scenario: Scenario, root: [UInt8]) throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "tideover-scenario-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let storage = try SQLiteStorage(path: folder.appending(path: "tideover.db").path)
        var catalogue = Catalogue()
        for product in scenario.app.store.products {
            catalogue.products[product.id] = Product(
                entitlements: scenario.app.entitlements[product.id] ?? [],
                period: Period(iso8601: product.period.text)
            )
        }
        let now = clock
        googlePlay = scenario.googlePlay.map { RehearsedGooglePlay($0, clock: { now.now }) }
        googlePlay?.addProducts(to: &catalogue)
        for product in scenario.app.store.oneTimeProducts {
            catalogue.products[product.id] = Product(
                entitlements: scenario.app.entitlements[product.id] ?? [],
                kind: Product.Kind(rawValue: product.kind.rawValue) ?? .nonConsumable,
                period: product.length.flatMap { Period(iso8601: $0.text) }
            )
        }
        let trust = AppStoreTrust(
            identity: AppStoreIdentity(
                bundleId: scenario.app.store.bundleId,
                appAppleId: scenario.app.store.appAppleId,
                environments: [.simulated]
            ),
            authorities: try AppStoreTrust.roots(
                simulated: TrustAnchor(name: "simulated", der: root)
            )
        )
        let app = App(
            id: scenario.app.id,
            environments: [.simulated],
            catalogue: catalogue,
            policy: Policy(),
            appStore: trust,
            googlePlay: googlePlay?.trust
        )
        let clock = clock
        let (key, storeAPI) = (key, storeAPI)
        let access = StoreAccess(
            environment: .simulated,
            key: TideoverAppStore.AppStoreAPIKey(
                issuerId: RehearsedStore.issuer,
                keyId: RehearsedStore.keyId,
                bundleId: scenario.app.store.bundleId
            ),
            signer: { key.sign($0) },
            handler: { request in
                guard let ask = storeAPI.withLock({ $0 }) else { return Response(status: 503) }
                return try await ask(request)
            }
        )
        self.app = scenario.app.id
        self.folder = folder
        self.storage = storage
        service = try Service(
            apps: [app],
            storage: storage,
            version: "test",
            clock: { clock.now },
            log: { _ in },
            adminKey: TestServer.adminKey,
            access: [scenario.app.id: [access]],
            sleep: { _ in await Task.yield() }
        )
    }

    /// As a scenario meets the server, which can ask the scenario's store.
    var target: ScenarioTarget {
        let (clock, storeAPI, app) = (clock, storeAPI, app)
        var target = ScenarioTarget(
            deliver: service.handler,
            readBack: service.handler,
            setClock: { clock.set($0) },
            readHeaders: TestServer.credentials
        )
        if let googlePlay { target.googlePlay = googlePlay.target }
        target.meetStore = { handler in storeAPI.withLock { $0 = handler } }
        let service = service
        target.catchUp = { _ = await service.backfillNow(app: app, environment: .simulated) }
        target.storeKeys = [
            TideoverSandbox.AppStoreAPIKey(
                issuerId: RehearsedStore.issuer,
                keyId: RehearsedStore.keyId,
                publicKey: key.publicKey
            )
        ]
        return target
    }

    /// What a route answers to the admin key.
    func get(_ target: String) async throws -> JSONValue {
        guard
            let request = Request(
                method: "GET",
                target: target,
                headers: TestServer.credentials,
                body: []
            )
        else { preconditionFailure("\(target) is a request target") }
        return JSONValue(try JSONDocument(try await service.handler(request).body).root)
    }

    func close() async {
        await storage.close()
        try? FileManager.default.removeItem(at: folder)
    }
}
