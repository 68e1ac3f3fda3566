import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverDoctor
import TideoverHTTPClient
import TideoverHTTPServer
import TideoverJSON
import TideoverServer
import TideoverSignatures

/// `tideover doctor`: finds what prevents the server from working, now or soon, and suggests fixes.
enum Doctor {
    private static let json = Parameter.flag("--json", "Write one JSON object")
    private static let offline = Parameter.flag(
        "--offline",
        "Send no request to stores or the server"
    )
    private static let preflight = Parameter.flag(
        "--preflight",
        "Compare the stores' settings with the catalogue"
    )
    private static let wait = Parameter.option(
        "--wait",
        "SECONDS",
        "How long to wait for each test notification",
        as: .integer(in: 2...600),
        default: "60"
    )

    static let command = Command(
        "doctor",
        summary: "check the server's environment and print what to do",
        examples: [
            Example("tideover doctor", "before the first start"),
            Example(
                "sudo -u tideover tideover doctor --config /etc/tideover/tideover.json",
                "as the user who runs the server, with its permissions"
            ),
            Example(
                "tideover doctor --preflight",
                "compare grace and base plans of the stores with the catalogue"
            ),
        ],
        parameters: [ConfigurationFile.parameter, offline, preflight, wait, json],
        notes: [
            "It checks the configuration, the storage, clocks, the address, files and "
                + "limits, and changes none of them. If no process has the database open, it reads "
                + "all of it. This takes a while for a large one, and no server can start "
                + "meanwhile.",
            "If the server runs, the App Store is asked for a test notification, for each "
                + "app and environment with a Server API key, and the result is printed. The "
                + "server is asked for what arrived. --preflight reads all stored facts.",
            "Google Play is asked whether the service account has access, and with "
                + "--preflight for the settings of base plans. You send a test notification by "
                + "hand in the Play Console. If nothing arrived for a day, and Google can be "
                + "reached, the command prints where to click and waits for it.",
            "If every app is simulated, the simulated store's time applies, and the command "
                + "waits for nothing.",
            "Exit code 1 if there is a problem, else 0, also with warnings.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let findings = await findings(arguments, output)
        let problems = findings.count { $0.verdict == .problem }
        let warnings = findings.count { $0.verdict == .warning }
        if arguments[json] {
            let document = document(findings, passed: problems == 0)
            output.write(document.encoded(pretty: true) + [UInt8(ascii: "\n")])
        } else {
            output.print(table(findings))
            output.message("tideover: problems: \(problems), warnings: \(warnings)")
        }
        return problems == 0 ? .success : .failure
    }

    // MARK: Looking

    private static func findings(_ arguments: Arguments, _ output: Output) async -> [Finding] {
        let path: String
        do {
            path = try ConfigurationFile.path(arguments)
        } catch {
            return problem(error)
        }
        do {
            let (configuration, settings) = try ConfigurationFile.loadWithSettings(path, arguments)
            let machine = try await machine(configuration, output)
            let probe = StoreProbe(
                configuration: configuration,
                path: path,
                isServing: machine.isServing,
                patience: .seconds(Int64(arguments[wait])),
                isPreflight: arguments[preflight],
                output: output
            )
            return Finding.configuration(configuration)
                + configuration.apps.map { Finding.products(of: $0) }
                + configuration.apps.compactMap { Finding.offerings(of: $0) }
                + [Finding.publicURL(configuration)]
                + configuration.apps.compactMap {
                    Finding.notificationURL(of: $0, under: configuration.server.publicURL)
                }
                + configuration.apps.compactMap {
                    Finding.pushEndpoint(of: $0, under: configuration.server.publicURL)
                }
                + secretFiles(settings, besides: path)
                + [Finding.pass(passes(of: configuration))]
                + Finding.allowedNetworks(settings)
                + secrets(of: configuration, withStores: arguments[offline])
                + machine.findings
                + (arguments[offline] ? [] : await probe.findings())
        } catch let failure as any ReportableFailure {
            return Finding.configuration(
                problems: failure.message.split(separator: "\n").map(String.init)
            )
        } catch {
            return Finding.configuration(problems: ["\(error)"])
        }
    }

    private static func secretFiles(
        _ settings: [Configuration.Setting],
        besides configuration: String
    ) -> [Finding] {
        settings.filter(\.namesSecretFile).map { setting in
            let file = Configuration.path(of: setting.text, besides: configuration)
            return Finding.secretFile(file, named: setting.path, SystemReadings.file(file))
        }
    }

    private static func passes(
        of configuration: Configuration
    ) -> Result<PassReading, UnusablePassKey>? {
        ConfigurationFile.openPasses(of: configuration).map { opened in
            opened.map { passes in
                PassReading(
                    issuer: passes.issuer,
                    keyId: passes.keyId,
                    others: passes.keys.ids.count - 1
                )
            }
        }
    }

    /// Reads the secret files as the server does, which does not start with an unusable one. Their
    /// content is never shown.
    ///
    /// Each file is read once, as a pipe can be read only once: those of the stores here, or by
    /// `StoreProbe` when it asks the stores.
    private static func secrets(
        of configuration: Configuration,
        withStores: Bool
    ) -> [Finding] {
        let checks: [() throws -> Void] = [
            { try ConfigurationFile.requireClosedSecrets(of: configuration) },
            { _ = try ConfigurationFile.adminKey(of: configuration) },
            { if withStores { _ = try StoreConnections(configuration) } },
            { _ = try WebhookConnections.setup(configuration) },
        ]
        return checks.flatMap { check -> [Finding] in
            do {
                try check()
                return []
            } catch {
                return problem(error)
            }
        }
    }

    /// Reports why a server does not start with the configuration.
    static func problem(_ error: any Error) -> [Finding] {
        let message = (error as? any ReportableFailure)?.message ?? "\(error)"
        return Finding.configuration(problems: [message.replacing("\n", with: ". ")])
    }

    /// Returns findings about the machine, and whether a server of this configuration runs there.
    private static func machine(
        _ configuration: Configuration,
        _ output: Output
    ) async throws -> (findings: [Finding], isServing: Bool) {
        let now = SystemClock.now()
        var (storage, isOpen, findings) = try await Progress.timing(
            "reading the storage",
            on: output
        ) { stored(configuration, now: now) }
        let address = configuration.server.listen
        let listen = await SystemReadings.listen(address)
        let isServing = if isOpen == true, case .tideover = listen { true } else { false }
        let served = isServing ? await SystemReadings.time(at: address) : nil
        findings += await simulatedStores(of: configuration, now: now, served: served)
        let roots = SystemRoots()
        let connections = HTTPServerLimits().connections
        findings += [
            Finding.listen(
                at: address,
                listen,
                version: Tideover.version,
                isDatabaseOpen: isOpen
            ),
            await sdkListen(configuration, isDatabaseOpen: isOpen, isServing: isServing),
            Finding.fileDescriptors(
                SystemReadings.fileLimit(of: storage),
                needed: connections + Int(OpenFiles.reserve),
                connections: connections
            ),
            Finding.roots(
                arePresent: roots?.arePresent == true,
                places: [roots?.file, roots?.folder].compactMap(\.self)
            ),
        ].compactMap(\.self)
        if isServing, let metrics = await SystemReadings.metrics(at: address) {
            findings += [
                Finding.clientAddresses(metrics), Finding.revocation(metrics),
                Finding.workers(metrics), capacity(of: configuration.storage, metrics),
                Finding.sdkRequests(metrics),
            ].compactMap(\.self)
        }
        return (findings, isServing)
    }

    /// Nil if RevenueCat's SDKs have no address of their own.
    private static func sdkListen(
        _ configuration: Configuration,
        isDatabaseOpen: Bool?,
        isServing: Bool
    ) async -> Finding? {
        guard let address = configuration.server.sdkListen else { return nil }
        return Finding.sdkListen(
            at: address,
            await SystemReadings.sdkListen(address),
            version: Tideover.version,
            isDatabaseOpen: isDatabaseOpen,
            isServing: isServing
        )
    }

    /// Returns the state of an SQLite file, whether a server has the storage open, and findings about
    /// it. A PostgreSQL database is not read as a whole. `isOpen` is nil for a storage that cannot be
    /// read.
    private static func stored(
        _ configuration: Configuration,
        now: Instant
    ) -> (storage: StorageReading, isOpen: Bool?, findings: [Finding]) {
        switch configuration.storage {
        case .postgres(let address):
            let database = SystemReadings.database(address)
            let servers = try? database.get().servers
            let comparison = servers.map {
                Finding.servers($0, fingerprint: configuration.fingerprint)
            }
            return (
                .missing,
                servers.map { !$0.isEmpty },
                [Finding.database(database)] + [comparison].compactMap(\.self)
            )
        case .sqlite(let path):
            let folder = SystemReadings.folder(of: path)
            let storage = SystemReadings.storage(path)
            let findings = [
                Finding.storage(path, storage, in: folder), Finding.disk(folder),
                Finding.clock(now, storage),
            ]
            let isOpen: Bool? =
                switch storage {
                case .inUse: true
                case .missing, .read: false
                case .failed: nil
                }
            return (storage, isOpen, findings + Finding.replays(storage))
        }
    }

    /// Of a file only: a database has its own limits.
    private static func capacity(
        of storage: Configuration.StorageLocation,
        _ metrics: MetricsReading
    ) -> Finding? {
        guard case .sqlite(let path) = storage else { return nil }
        return Finding.capacity(ofFile: SystemReadings.size(of: path), metrics)
    }

    private static func simulatedStores(
        of configuration: Configuration,
        now: Instant,
        served: Instant?
    ) async -> [Finding] {
        var clocks: [String: Result<Instant, FollowedClock.Failure>] = [:]
        for url in Set(configuration.apps.compactMap(clock)) {
            clocks[url.text] = await SystemReadings.clock(at: url)
        }
        let times = clocks.compactMapValues { try? $0.get() }
        let following = Finding.ClockFollowing(configuration.apps, times)
        var findings: [Finding] = []
        for app in configuration.apps {
            var time = served ?? now
            if let url = clock(of: app)?.text, let reading = clocks[url] {
                if let instant = times[url] { time = instant }
                findings.append(
                    Finding.storeClock(
                        of: app.id,
                        at: url,
                        reading,
                        now: now,
                        served: served,
                        following: following
                    )
                )
            }
            if let root = Finding.simulatedRoot(of: app, at: time) { findings.append(root) }
        }
        return findings
    }

    private static func clock(of app: Configuration.App) -> HTTPURL? {
        app.simulatedStore?.url.flatMap { (try? HTTPURL($0))?.appending(path: "/clock") }
    }

    // MARK: Printing

    private static func table(_ findings: [Finding]) -> Table {
        // A column of its own for the check, such as the path of a secret, would leave too little
        // width for the sentences.
        var table = Table([Table.Column("verdict"), Table.Column("check, and what it found")])
        for finding in findings {
            let subject = finding.subject.map { " \($0)" } ?? ""
            table.add(
                Table.Cell(finding.verdict.rawValue, style(of: finding.verdict)),
                Table.Cell(
                    "\(finding.check.rawValue)\(subject): "
                        + (finding.advice.map { "\(finding.detail). \($0)" } ?? finding.detail)
                )
            )
        }
        return table
    }

    private static func style(of verdict: Finding.Verdict) -> Style {
        switch verdict {
        case .ok: .good
        case .warning: .strong
        case .problem: .bad
        }
    }

    private static func document(_ findings: [Finding], passed: Bool) -> JSONValue {
        ["passed": .bool(passed), "findings": .array(findings.map(object))]
    }

    private static func object(_ finding: Finding) -> JSONValue {
        var object: JSONObject = ["check": .string(finding.check.rawValue)]
        object["subject"] = finding.subject.map { .string($0) }
        object["verdict"] = .string(finding.verdict.rawValue)
        object["detail"] = .string(finding.detail)
        object["advice"] = finding.advice.map { .string($0) }
        return .object(object)
    }
}
