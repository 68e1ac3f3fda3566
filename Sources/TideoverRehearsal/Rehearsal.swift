package import TideoverConfiguration
import TideoverCore
package import TideoverHTTP
import TideoverLocks
import TideoverSQLite
package import TideoverSandbox
package import TideoverServer
import TideoverSignatures
package import TideoverStorage

/// Tideover in the same process as the simulated stores of one scenario, with a shared clock.
package struct Rehearsal: Sendable {
    /// The server under rehearsal.
    package let service: Service
    /// The stores' clock, which the server follows. It stops at the end of the scenario, until a
    /// session moves it.
    package let clock = StoryClock()
    private let time: RehearsalTime
    /// Headers that authorize every route of the server.
    package let credentials: Headers

    private let scenario: Scenario
    private let storage: any Storage
    /// The signing authority of the scenario's stores.
    package let authority: SandboxAuthority
    private let appStore: AppStoreRehearsal
    private let googlePlay: GooglePlayRehearsal?
    private let revenueCat: RevenueCatRehearsal?
    /// The simulated App Store's Server API, once the scenario has a store.
    private let storeAPI = Locked<Handler?>(nil)
    /// The control server of the stores, once `attach` has set it.
    private let control = Locked<Handler?>(nil)

    /// Creates a server without data, with a dashboard if `dashboard` is true, and for RevenueCat's
    /// SDKs with the given keys. Its database is in `folder`, which the caller removes after
    /// `close()`. `version` is the version that the server reports.
    ///
    /// - Throws: `MintingError` if the store's certificates cannot be created, `StorageError` if
    ///   the database cannot.
    package init(
        _ scenario: Scenario,
        in folder: String,
        version: String,
        dashboard: Bool = false,
        revenueCatSDK: RevenueCatSDK? = nil
    ) throws {
        let storage = try SQLiteStorage(path: "\(folder)/tideover.db")
        try self.init(
            scenario,
            on: storage,
            version: version,
            dashboard: dashboard,
            revenueCatSDK: revenueCatSDK
        )
    }

    /// Creates a server on an empty storage, which `close()` closes.
    package init(
        _ scenario: Scenario,
        on storage: any Storage,
        version: String,
        dashboard: Bool = false,
        revenueCatSDK: RevenueCatSDK? = nil
    ) throws {
        let (clock, storeAPI, control) = (clock, storeAPI, control)
        let time = RehearsalTime(clock)
        self.time = time
        authority = try SandboxAuthority()
        appStore = try AppStoreRehearsal(scenario.app.store, root: authority.root)
        googlePlay = scenario.googlePlay.map {
            GooglePlayRehearsal($0, clock: { clock.now })
        }
        let catalogue = Catalogue(scenario)
        revenueCat = scenario.revenueCat.map {
            RevenueCatRehearsal($0, catalogue: catalogue, clock: { clock.now })
        }
        self.storage = storage
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
                    policy: Policy(
                        prompts: Policy.Prompts(scenario.prompts),
                        plan: Policy.Plan(scenario.prompts?.plan ?? [:])
                    ),
                    appStore: appStore.trust,
                    googlePlay: googlePlay?.trust,
                    revenueCat: revenueCat?.trust,
                    revenueCatSDK: revenueCatSDK,
                    consumption: ConsumptionChoices(customersConsent: scenario.customersConsent)
                )
            ],
            storage: storage,
            version: version,
            clock: { clock.now },
            log: { _ in },
            adminKey: adminKey,
            // Sessions of the dashboard never end, as the clock can be moved by years.
            probes: Probes(uptime: { time.uptime }, sessionTime: { 0 }),
            access: [scenario.app.id: [access]],
            dashboard: dashboard,
            simulatedStores: !dashboard
                ? [:]
                : [
                    scenario.app.id: { request in
                        guard let answer = control.withLock({ $0 }) else {
                            return Response(status: 503)
                        }
                        return try await answer(request)
                    }
                ],
            sleep: { try await time.sleep(for: $0) },
            patience: .zero
        )
    }

    /// Plays the scenario from start to end.
    ///
    /// - Parameters:
    ///     - keepsUp: Whether the server also runs its background work, as a running server does.
    ///     - planting: Changes the target before the scenario starts, for example to plant a fault.
    /// - Returns: The report of the events.
    /// - Throws: `SignatureRefusal` if the store's data does not fit into one notification.
    package func play(
        keepsUp: Bool = false,
        planting: (inout ScenarioTarget) -> Void = { _ in }
    ) async throws -> ScenarioReport {
        try await playKeepingStores(keepsUp: keepsUp, planting: planting).report
    }

    /// Plays the scenario as `play`, and returns the stores' record of the past as well.
    package func playKeepingStores(
        keepsUp: Bool = false,
        planting: (inout ScenarioTarget) -> Void = { _ in }
    ) async throws -> (report: ScenarioReport, stores: ScenarioStores) {
        var target = target
        if keepsUp || scenario.customersConsent {
            target.keepUp = { [service] in
                _ = await service.keepUpNow()
                return service.nextUpkeep?.millisecondsSince1970
            }
        }
        planting(&target)
        return try await ScenarioRunner(target: target, authority: authority)
            .runKeepingStores(scenario)
    }

    /// Plays the scenario as `play`. Returns a session in which its stores continue after its end;
    /// from then on the server also runs its background work at each event, and its waits take
    /// time.
    package func playIntoSession() async throws -> (
        report: ScenarioReport, session: ScenarioSession
    ) {
        var target = target
        let (service, time) = (service, time)
        target.keepUp = {
            guard time.isOver else { return nil }
            _ = await service.keepUpNow()
            return service.nextUpkeep?.millisecondsSince1970
        }
        let played = try await ScenarioRunner(target: target, authority: authority)
            .runIntoSession(scenario)
        time.endStory()
        return played
    }

    /// Attaches the control server of the stores to the server's dashboard.
    package func attach(_ controlServer: @escaping Handler) {
        control.withLock { $0 = controlServer }
    }

    /// The server as the scenario's target, with access to the scenario's stores.
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

    /// Stops the server. Its data stays in the folder.
    package func close() async { await storage.close() }
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

extension Policy.Plan {
    /// Reads the names of a scenario, which its reader has checked.
    fileprivate init(_ names: [String: String]) {
        self.init()
        for (name, channel) in names {
            guard let kind = PlannedMessage.Kind(rawValue: name) else { continue }
            channels[kind] = PlannedMessage.Channel(rawValue: channel)
        }
    }
}
