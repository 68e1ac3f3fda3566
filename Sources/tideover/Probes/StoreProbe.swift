import TideoverAppStore
import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverDoctor
import TideoverHTTP
import TideoverHTTPClient
import TideoverJSON
import TideoverServer

/// Requests of `tideover doctor` to the stores of the configured apps, and to a running server
/// about the results.
struct StoreProbe {
    let configuration: Configuration
    let path: String
    /// Whether a server of this configuration runs. Only a server can receive a test notification.
    let isServing: Bool
    /// How long to wait for a test notification.
    let patience: Milliseconds
    /// Whether the stores' settings are compared with the catalogue.
    let isPreflight: Bool
    let output: Output

    func findings() async -> [Finding] {
        let clocks = await SimulatedClocks(of: configuration)
        let following = Task { await clocks.follow(telling: output) }
        let findings = await findings(by: clocks)
        following.cancel()
        await following.value
        return findings
    }

    private func findings(by clocks: SimulatedClocks) async -> [Finding] {
        let connections: StoreConnections
        do {
            connections = try StoreConnections(configuration, clock: clocks.rehearsal)
        } catch {
            return Doctor.problem(error)
        }
        let requests = StoreRequests(self, connections, clocks)
        var findings: [Finding] = []
        for app in configuration.apps where app.appStore != nil {
            if app.appStore?.apiKey == nil { findings.append(.storeKey(missingOf: app)) }
            for environment in app.environments {
                findings += await requests.appStore[Place(app, environment)]?.value ?? []
                if isServing { findings += await silence(app, environment) }
                if isServing || isPreflight {
                    let setting = requests.grace[Place(app, environment)]
                    findings += await survey(app, environment, setting)
                }
            }
        }
        for app in configuration.apps {
            guard let request = requests.googlePlay[app.id] else { continue }
            findings += await request.value
            for environment in app.environments where isServing || isPreflight {
                if isServing { findings += await silence(app, environment, .googlePlay) }
                findings += await catalogue(app, environment)
            }
        }
        for app in configuration.apps {
            findings += await requests.revenueCat[app.id]?.value ?? []
        }
        for app in configuration.apps where isServing {
            for environment in app.environments { findings += await replay(app, environment) }
            findings += await webhooks(of: app)
        }
        return findings
    }

    private struct Place: Hashable {
        let app: String
        let environment: Environment

        init(_ app: Configuration.App, _ environment: Environment) {
            self.app = app.id
            self.environment = environment
        }
    }

    /// The requests to the stores, sent at the same time: they take as long as the slowest one.
    /// Requests about the storage are not among them: without a server each one opens the storage.
    private struct StoreRequests {
        private(set) var appStore: [Place: Task<[Finding], Never>] = [:]
        private(set) var grace: [Place: Task<GraceSetting, any Error>] = [:]
        private(set) var googlePlay: [String: Task<[Finding], Never>] = [:]
        private(set) var revenueCat: [String: Task<[Finding], Never>] = [:]

        init(_ probe: StoreProbe, _ connections: StoreConnections, _ clocks: SimulatedClocks) {
            for app in probe.configuration.apps {
                for environment in app.environments where app.appStore != nil {
                    let access = connections.access[app.id]?.first { $0.environment == environment }
                    let place = Place(app, environment)
                    if let access {
                        appStore[place] = Task { await probe.ask(access, app, clocks) }
                    }
                    guard probe.isPreflight else { continue }
                    grace[place] = Task { try await probe.graceSetting(of: app, access) }
                }
                if let trust = connections.googlePlay[app.id] {
                    let playProbe = probe.playProbe(app, trust, clocks)
                    googlePlay[app.id] = Task { await playProbe.findings() }
                }
                guard probe.isPreflight else { continue }
                revenueCat[app.id] = Task { await RevenueCatProbe(app: app).findings() }
            }
        }
    }

    /// Reports a replay that the server set aside after crashes. If the server does not answer, other
    /// findings report that.
    private func replay(_ app: Configuration.App, _ environment: Environment) async -> [Finding] {
        guard let answer = try? await ask("replay", app, environment, nil) else { return [] }
        return [Finding.replay(of: app.id, in: environment, answer)].compactMap(\.self)
    }

    /// Reports the state of webhooks, from the server or from the PostgreSQL database.
    private func webhooks(of app: Configuration.App) async -> [Finding] {
        let adminClient = AdminClient(configuration, path, server: nil, output)
        let request = Request(path: "/v1/apps/\(app.id)/webhooks")
        guard let answer = try? await adminClient.run(request, onlyReads: true) else { return [] }
        return Finding.webhooks(of: app, answer)
    }

    // MARK: Google Play

    private func playProbe(
        _ app: Configuration.App,
        _ trust: PlayTrust,
        _ clocks: SimulatedClocks
    ) -> PlayProbe {
        PlayProbe(
            app: app,
            trust: trust,
            isServing: isServing,
            // A simulated store has no Play Console to send a test notification from.
            patience: clocks.isRehearsal ? .zero : patience,
            isPreflight: isPreflight,
            output: output,
            arrivals: { try await ask("arrivals", app, $0, .googlePlay) }
        )
    }

    /// Compares purchases on Google Play with the catalogue.
    private func catalogue(
        _ app: Configuration.App,
        _ environment: Environment
    ) async -> [Finding] {
        let subject = "\(app.id) \(environment.rawValue) googlePlay"
        do {
            let answer = try await ask("survey", app, environment, .googlePlay)
            let catalogue = Finding.catalogue(of: app, in: environment, answer)
            return [catalogue].compactMap(\.self)
        } catch {
            return [Finding.catalogue(of: subject, unknown: sentence(error))]
        }
    }

    // MARK: The store

    private func ask(
        _ access: StoreAccess,
        _ app: Configuration.App,
        _ clocks: SimulatedClocks
    ) async -> [Finding] {
        let name = "\(app.id) \(access.environment.rawValue)"
        do {
            guard let trust = try App(app).appStore else { return [] }
            let trial = StoreTrial(
                access,
                of: app.id,
                identity: trust.identity,
                verification: StoreTrial.Verification(
                    check: { trust.check(at: $0) },
                    reason: AppStoreTrust.reason
                ),
                clock: access.environment == .simulated ? clocks[app] : SystemClock.now,
                uptime: Probes().uptime,
                sleep: { try await Task.sleep(for: $0) },
                patience: patience
            )
            // A simulated store delivers by its own clock, which may be stopped or fast: that clock
            // is compared with the server's, not with this machine's.
            guard access.environment != .simulated else {
                return Finding.store(try await trial.knock()).filter { $0.check != .storeClock }
            }
            guard isServing else { return Finding.store(try await trial.knock()) }
            return Finding.store(
                try await trial.run(
                    arrivals: { try await arrivals(app, access.environment) },
                    telling: { output.message("tideover: \(name): \($0)") }
                )
            )
        } catch {
            return [Finding.storeKey(unusable: "\(name): \(sentence(error))")]
        }
    }

    // MARK: The server

    private func arrivals(
        _ app: Configuration.App,
        _ environment: Environment
    ) async throws -> [TestArrival] {
        do {
            return TestArrival.all(in: try await ask("arrivals", app, environment))
        } catch {
            throw Untold(description: sentence(error))
        }
    }

    /// Why the server gave no usable answer.
    private struct Untold: Error, CustomStringConvertible { let description: String }

    private func silence(
        _ app: Configuration.App,
        _ environment: Environment,
        _ store: Store = .appStore
    ) async -> [Finding] {
        do {
            let answer = try await ask("arrivals", app, environment, store)
            return [Finding.silence(answer)].compactMap(\.self)
        } catch {
            return [
                Finding.silence(of: "\(app.id) \(environment.rawValue)", unknown: sentence(error))
            ]
        }
    }

    /// Returns the stored survey of the store's catalogue.
    private func survey(
        _ app: Configuration.App,
        _ environment: Environment,
        _ setting: Task<GraceSetting, any Error>?
    ) async -> [Finding] {
        do {
            let answer = try await ask("survey", app, environment)
            let catalogue = Finding.catalogue(of: app, in: environment, answer)
            var findings = [catalogue].compactMap(\.self)
            if let setting = try await setting?.value {
                findings += Finding.grace(of: app, in: environment, setting, answer)
            }
            return findings
        } catch {
            let subject = "\(app.id) \(environment.rawValue)"
            return [Finding.catalogue(of: subject, unknown: sentence(error))]
        }
    }

    private func graceSetting(
        of app: Configuration.App,
        _ access: StoreAccess?
    ) async throws -> GraceSetting {
        guard let access else { return .untold("no key for requests to it is configured") }
        guard access.environment != .simulated else {
            return .untold("it knows no simulated store")
        }
        guard let trust = try App(app).appStore else { return .untold("the app is not sold there") }
        let place = Destination(
            try HTTPURL(AppStoreAPI.connectURL),
            addresses: .any,
            limits: .storeAnswer
        )
        let client = try HTTPClient(userAgent: "tideover/\(Tideover.version)")
        return try await GraceSetting.ask(
            access,
            of: trust.identity,
            clock: SystemClock.now,
            connect: client.handler(under: place)
        )
    }

    private func ask(
        _ what: String,
        _ app: Configuration.App,
        _ environment: Environment,
        _ store: Store? = .appStore
    ) async throws -> JSONNode {
        let place = QueryItem(name: "environment", value: environment.rawValue)
        let store = store.map { [QueryItem(name: "store", value: $0.rawValue)] } ?? []
        return try await AdminClient(configuration, path, server: nil, output).run(
            Request(path: "/v1/apps/\(app.id)/\(what)", query: [place] + store),
            needsKey: app.environments != [.simulated],
            onlyReads: true
        )
    }

    /// Returns the first line of an error's message.
    private func sentence(_ error: any Error) -> String {
        let text = (error as? any ReportableFailure)?.message ?? "\(error)"
        return String(text.prefix { $0 != "\n" })
    }
}
