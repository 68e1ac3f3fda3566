import TideoverAppStore
import TideoverCommandLine
import TideoverCore
import TideoverHTTPServer
import TideoverJSON
import TideoverLocks
import TideoverSQLite
import TideoverSandbox
import TideoverServer
import TideoverSignatures

/// `tideover demo`: a subscriber's life, played by the simulated App Store against the real server
/// room, and then served so that the reader can ask for himself.
enum Demo {
    private static let noServe = Parameter.flag("--no-serve", "End after the story")
    private static let json = Parameter.flag("--json", "Write the story as one JSON object")
    private static let listen = Parameter.option(
        "--listen",
        "ADDRESS",
        "Where to serve afterwards",
        as: ValueForm("an address and port such as 127.0.0.1:8080") { ListenAddress($0) },
        default: "127.0.0.1:8080"
    )

    static let command = Command(
        "demo",
        summary: "play a subscriber's life in a simulated store, then serve it",
        examples: [
            Example("tideover demo", "play the story, then answer curl on loopback"),
            Example("tideover demo --no-serve", "play it and end; exit code 0 if all went well"),
        ],
        parameters: [noServe, json, listen],
        notes: [
            "Everything is real but the store: signed notifications, verification, storage and "
                + "answers. No network and no account is needed; nothing is kept."
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let stop = StopSignal()
        let scenario = try Scenario(reading: PackageResources.one_subscribers_life_json5)
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let stage = try Stage(scenario, folder)
        let report = try await stage.play()
        if arguments[json] {
            let story = report.json(asOf: stage.clock.now())
            output.write(story.encoded(pretty: true) + [UInt8(ascii: "\n")])
        } else {
            DemoPrinter(output).print(report)
        }
        if !arguments[noServe], !stop.hasArrived {
            let server = try stage.listen(at: arguments[listen])
            if !arguments[json] {
                DemoPrinter(output).printQuestions(report, server.address, asOf: stage.clock.now())
            }
            await Serve.serve(stage.service, on: server, until: stop, output)
        }
        await stage.storage.close()
        return report.passed ? .success : .failure
    }

    /// A simulated store and the server it speaks to, with one clock between them.
    private struct Stage {
        let scenario: Scenario
        let storage: SQLiteStorage
        let service: Service
        let clock: StoryClock
        private let authority: SandboxAuthority

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
            self.scenario = scenario
            self.authority = authority
            self.clock = clock
            self.storage = storage
            service = try Service(
                apps: [
                    App(
                        id: scenario.app.id,
                        environments: [.simulated],
                        catalogue: Catalogue(scenario.app),
                        policy: Policy(),
                        appStore: trust
                    )
                ],
                storage: storage,
                version: Tideover.version,
                clock: clock.now,
                log: { _ in }
            )
        }

        func play() async throws -> ScenarioReport {
            let target = ScenarioTarget(
                deliver: service.handler,
                readBack: service.handler,
                setClock: clock.set
            )
            return try await ScenarioRunner(target: target, authority: authority).run(scenario)
        }

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
    init(_ app: ScenarioApp) {
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
    }
}
