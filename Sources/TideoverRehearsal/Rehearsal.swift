import TideoverCore
public import TideoverHTTP
import TideoverLocks
import TideoverSQLite
public import TideoverSandbox
public import TideoverServer
import TideoverSignatures
import TideoverStorage

/// Tideover in process beside the simulated stores of one scenario, with one clock between them.
public struct Rehearsal: Sendable {
    /// The server that the scenario is played to.
    public let service: Service
    /// The stores' clock, which the server follows; it stands where the scenario ended.
    public let clock = StoryClock()
    /// What opens every route of the server.
    public let credentials: Headers

    private let scenario: Scenario
    private let storage: SQLiteStorage
    /// What the scenario's stores sign with.
    package let authority: SandboxAuthority
    private let appStore: AppStoreRehearsal
    private let googlePlay: GooglePlayRehearsal?
    private let revenueCat: RevenueCatRehearsal?
    /// The simulated App Store's Server API, once the scenario has a store.
    private let storeAPI = Locked<Handler?>(nil)

    /// A server that has heard nothing yet. Its database is made in `folder`, which the caller removes
    /// after `close()`; `version` is what the server says that it is.
    ///
    /// - Throws: `MintingError` where the store's certificates cannot be made, `StorageError` where the database
    ///   cannot.
    public init(_ scenario: Scenario, in folder: String, version: String) throws {
        let (clock, storeAPI) = (clock, storeAPI)
        authority = try SandboxAuthority()
        appStore = try AppStoreRehearsal(scenario.app.store, root: authority.root)
        googlePlay = scenario.googlePlay.map {
            GooglePlayRehearsal($0, clock: { clock.now })
        }
        let catalogue = Catalogue(scenario)
        revenueCat = scenario.revenueCat.map {
            RevenueCatRehearsal($0, catalogue: catalogue, clock: { clock.now })
        }
        storage = try SQLiteStorage(path: "\(folder)/tideover.db")
        self.scenario = scenario
        let adminKey = APIKey(.admin) { .random(in: .min ... .max) }
        credentials = ["Authorization": "Bearer \(adminKey.text)"]
        let access = appStore.access { request in
            guard let ask = storeAPI.withLock({ $0 }) else { return Response(status: 503) }
            return try await ask(request)
        }
        service = try Service(
            apps: [
                App(
                    id: scenario.app.id,
                    environments: [.simulated],
                    catalogue: catalogue,
                    policy: Policy(prompts: Policy.Prompts(scenario.prompts)),
                    appStore: appStore.trust,
                    googlePlay: googlePlay?.trust,
                    revenueCat: revenueCat?.trust
                )
            ],
            storage: storage,
            version: version,
            clock: { clock.now },
            log: { _ in },
            adminKey: adminKey,
            // Requests to the stores are spaced in the rehearsal's own time.
            instruments: Instruments(uptime: { clock.now.millisecondsSince1970 * 1_000_000 }),
            access: [scenario.app.id: [access]],
            // A rehearsal's time does not pass while anybody waits: who would wait for a store that wants
            // to be left alone comes back when it does not any more.
            sleep: { _ in await Task.yield() },
            patience: .zero
        )
    }

    /// Plays the scenario from start to end.
    ///
    /// - Parameters:
    ///   - keepsUp: Whether the server also does what it does by itself, as one that runs does.
    ///   - planting: Puts something between the scenario and the server, such as a fault that should be found.
    /// - Returns: What happened.
    /// - Throws: `SignatureRefusal` when the scenario makes the store say more than one notification holds.
    public func play(
        keepsUp: Bool = false,
        planting: (inout ScenarioTarget) -> Void = { _ in }
    ) async throws -> ScenarioReport {
        var target = target
        if keepsUp {
            target.keepUp = { [service] in
                _ = await service.keepUpNow()
                return service.nextUpkeep?.millisecondsSince1970
            }
        }
        planting(&target)
        return try await ScenarioRunner(target: target, authority: authority).run(scenario)
    }

    /// As a scenario meets the server, which can ask the scenario's stores.
    package var target: ScenarioTarget {
        let (service, clock, storeAPI, app) = (service, clock, storeAPI, scenario.app.id)
        var target = ScenarioTarget(
            deliver: service.handler,
            readBack: service.handler,
            setClock: { clock.now = Instant(millisecondsSince1970: $0) },
            readHeaders: credentials
        )
        if let googlePlay { target.googlePlay = googlePlay.target }
        if let revenueCat { target.revenueCat = revenueCat.target }
        target.meetStore = { handler in storeAPI.withLock { $0 = handler } }
        target.catchUp = {
            _ = await service.backfillNow(app: app, environment: .simulated)
            let goesOn = service.backfillGoesOn(app: app, environment: .simulated)
            return goesOn?.millisecondsSince1970
        }
        target.storeKeys = [appStore.storeKey]
        return target
    }

    /// Ends the server; what it stored stays in its folder.
    public func close() async { await storage.close() }
}

extension Policy.Prompts {
    fileprivate init(_ prompts: ScenarioPrompts?) {
        self.init(
            quiet: Milliseconds(prompts?.quiet ?? 0),
            interval: Milliseconds(prompts?.interval ?? 0),
            perDay: prompts?.perDay
        )
    }
}
