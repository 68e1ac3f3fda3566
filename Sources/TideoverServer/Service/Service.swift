package import TideoverAppStore
package import TideoverConfiguration
package import TideoverCore
package import TideoverHTTP
import TideoverJSON
package import TideoverLocks
package import TideoverStorage

/// Tideover as one function from request to response. It opens no socket and no database; the
/// caller provides both.
package struct Service: Sendable {
    /// The context of each app, by id.
    let contexts: [String: AppContext]
    let storage: any Storage
    /// Nil if all reads are from the storage.
    let replica: ReplicaReading?
    let clock: Clock
    let log: Log
    package let version: String
    /// The keys that authorise requests.
    let keys: Locked<KeyTable>
    let random: @Sendable () -> UInt64
    /// The counts of rejected and unknown content, until they are stored.
    let tallies: CounterBuffer
    let refusals: RefusalLog
    private let writeAheadLogAlarm = Locked(WriteAheadLogAlarm())
    /// The counters since the start, for `/metrics`.
    let metrics: Metrics
    let readiness: Readiness
    let workerWatch: WorkerWatch
    /// Limits the concurrent verification of notifications.
    package let verifications: ConcurrencyLimiter
    /// Limits the concurrent reports that read the storage.
    package let longReads: LongReads
    /// Limits senders with repeatedly rejected requests.
    package let rateLimiter: RateLimiter
    let probes: Probes
    /// The arrival times of notifications.
    let arrivals: NotificationLog
    /// The access to the stores, by app.
    let access: [String: [StoreAccess]]
    let clients: StoreClients
    /// The App Store's open requests for consumption information.
    let consumption: ConsumptionQueues
    /// The purchase changes that are being sent to a store.
    let storeActions: Locked<Set<StoreActionName>>
    /// The replayers of stored evidence, for each app and environment.
    let replayers: [Replayer]
    let copier: DatabaseCopier?
    /// Nil if no responder is asked about revoked certificates.
    let revocation: RevocationChecks?
    let webhooks: WebhookBook
    /// Nil if this service sends no webhooks.
    let webhookSending: WebhookSending?
    /// The sessions of the dashboard; nil if it is not enabled.
    let dashboard: DashboardSessions?
    /// The configuration with the source of each value; nil for a server without a file.
    let effective: EffectiveConfiguration?
    /// The control servers of the simulated stores of a rehearsal, by app; empty otherwise.
    let simulatedStores: [String: Handler]
    /// The keys of RevenueCat's SDKs, of all apps.
    let sdkKeys: SDKKeyTable
    let sdkSightings: SDKSightings
    let sleep: Sleep
    /// The maximum time for a receipt of RevenueCat's SDKs. A device that waits longer repeats it.
    let receiptTime: Duration
    /// Reloads the configuration; nil for a service without a configuration file.
    package let reload: Reload?
    /// Whether a worker of this service recorded a policy, for the next service to adopt.
    let recordedRules = Locked(false)

    /// Creates a service over a storage, and reads its keys.
    ///
    /// - Parameters:
    ///   - apps: The apps that it serves.
    ///   - storage: The storage of all durable data.
    ///   - replica: A copy of the storage that may answer for customers.
    ///   - version: The version of the program.
    ///   - clock: The time.
    ///   - log: Receives log lines.
    ///   - adminKey: A key that is accepted without being stored.
    ///   - localKey: The key for requests through the server's own socket.
    ///   - probes: The system readings for `/metrics`.
    ///   - verifications: The limit of concurrent verifications.
    ///   - clients: The limits of one client's rejected notifications.
    ///   - access: The access to the stores, by app.
    ///   - former: The service that this one replaces; keys and counters continue.
    ///   - adoptsRules: Whether the newest recorded catalogue and policy of an app replace those of
    ///     `apps`.
    ///   - reload: Reloads the configuration on request.
    ///   - copier: Copies the database.
    ///   - webhooks: The configured webhooks, and the connection to receivers.
    ///   - revocation: The list of revocations that the apps' trust reads, to be kept up to date.
    ///   - dashboard: Whether `/dashboard` is served.
    ///   - effective: The configuration with the source of each value; nil without a file.
    ///   - simulatedStores: The control servers of the simulated stores of a rehearsal, by app.
    ///   - sleep: Suspends a task for a duration.
    ///   - patience: The maximum wait for a store that throttles.
    ///   - receiptTime: The maximum time for a receipt of RevenueCat's SDKs.
    ///   - threads: The threads for tasks that wait for the storage; nil if it needs none.
    ///   - random: A cryptographically secure source for new keys.
    /// - Throws: `StorageError` if the keys, the versions of the policy, or the progress of an
    ///   earlier backfill cannot be read.
    package init(
        apps: [App],
        storage: any Storage,
        replica: ReplicaReading? = nil,
        version: String,
        clock: @escaping Clock,
        log: @escaping Log,
        adminKey: APIKey? = nil,
        localKey: APIKey? = nil,
        probes: Probes = Probes(),
        verifications: WorkLimits = WorkLimits(),
        clients: ClientLimits = ClientLimits(),
        access: [String: [StoreAccess]] = [:],
        succeeding former: Service? = nil,
        adoptsRules: Bool = false,
        reload: Reload? = nil,
        copier: DatabaseCopier? = nil,
        webhooks: WebhookSetup = WebhookSetup(),
        revocation: RevocationChecks? = nil,
        dashboard: Bool = false,
        effective: EffectiveConfiguration? = nil,
        simulatedStores: [String: Handler] = [:],
        sleep: @escaping Sleep = { try await Task.sleep(for: $0) },
        patience: Milliseconds = .minutes(5),
        receiptTime: Duration = .seconds(9),
        threads: TaskThreads? = nil,
        random: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) }
    ) throws(StorageError) {
        let metrics = former?.metrics ?? Metrics()
        let now = clock()
        let apps = try apps.map { app throws(StorageError) in
            var app = try app.withHistory(from: storage, now: now, adopting: adoptsRules)
            app.googlePlay = app.googlePlay?.comparingClocks(
                StoreClockWatch(app: app.id, metrics: metrics, log: log, uptime: probes.uptime)
            )
            return app
        }
        let pollQueues = PollQueues(of: apps)
        let readinessState = Locked(ReadinessState())
        let storage = WatchedStorage(
            storage,
            metrics: metrics,
            uptime: probes.uptime,
            log: log,
            told: { commitRequest in
                pollQueues.note(commitRequest)
                readinessState.withLock { $0.committed() }
            },
            failed: { reason in
                readinessState.withLock {
                    $0.commitFailed(at: probes.uptime(), isFull: reason == .full)
                }
            }
        )
        self.storage = storage
        self.replica = replica
        self.version = version
        self.random = random
        // Requests to the former service may still add and revoke keys, so both use one table.
        if let former {
            keys = former.keys
        } else {
            let stored = try storage.keys()
            keys = Locked(KeyTable(stored, adminKey: adminKey, localKey: localKey))
        }
        self.reload = reload
        self.clock = clock
        self.log = log
        self.metrics = metrics
        self.probes = probes
        self.verifications = ConcurrencyLimiter(verifications)
        longReads = LongReads(apps: apps.map(\.id), succeeding: former?.longReads)
        rateLimiter = RateLimiter(
            clients,
            uptime: probes.uptime,
            metrics: metrics,
            log: log
        )
        // The workers of the former service run until they are replaced.
        workerWatch = former?.workerWatch ?? WorkerWatch()
        readiness = Readiness(
            readinessState,
            storage: storage,
            uptime: probes.uptime,
            servers: probes.servers,
            workers: workerWatch,
            threads: threads,
            log: log
        )
        tallies = CounterBuffer(storage: storage, log: log)
        refusals = RefusalLog(log)
        arrivals = try NotificationLog(
            of: apps,
            storage: storage,
            now: clock(),
            succeeding: former?.arrivals
        )
        // Requests to the former service may still run, so both share these.
        storeActions = former?.storeActions ?? Locked([])
        consumption = try ConsumptionQueues(
            of: apps,
            storage: storage,
            succeeding: former?.consumption
        )
        self.copier = copier
        self.access = access
        self.revocation = revocation
        self.webhooks = WebhookBook(
            apps: apps.map(\.id),
            webhooks,
            storage: storage,
            clock: clock
        )
        webhookSending = webhooks.sending
        self.dashboard = dashboard ? former?.dashboard ?? DashboardSessions(random: random) : nil
        self.effective = effective
        self.simulatedStores = simulatedStores
        sdkKeys = SDKKeyTable(apps)
        sdkSightings = former?.sdkSightings ?? SDKSightings(metrics: metrics, log: log)
        self.sleep = sleep
        self.receiptTime = receiptTime
        let timing = Timing(
            clock: clock,
            uptime: probes.uptime,
            sleep: sleep,
            patience: patience
        )
        var contexts: [AppContext] = []
        for app in apps {
            let context = AppContext(
                AppContext.Shared(
                    app: app,
                    storage: storage,
                    clock: clock,
                    random: random,
                    keys: keys,
                    metrics: metrics,
                    tallies: tallies,
                    verifications: self.verifications,
                    longReads: longReads,
                    rateLimiter: rateLimiter,
                    arrivals: arrivals,
                    consumption: consumption,
                    playQuestions: app.googlePlay.map { _ in
                        RequestLimiter(environment: .production, timing: timing)
                    }
                ),
                log: log
            )
            contexts.append(context)
        }
        self.contexts = Dictionary(uniqueKeysWithValues: contexts.map { ($0.app.id, $0) })
        self.clients = try StoreClients(contexts, access, pollQueues, timing: timing)
        replayers = contexts.flatMap { context in
            context.app.environments.map {
                Replayer($0, context: context, version: version, servers: probes.servers)
            }
        }
        for app in apps { metrics.expect(app) }
        if replica != nil { metrics.expectReplicaReads() }
        if revocation != nil { metrics.expectRevocationChecks() }
        if former != nil { keys.withLock { $0.configure(adminKey) } }
    }

    /// The handler for a socket server or for direct calls. It never throws.
    package var handler: Handler { handler(at: .all) }

    /// The handler of one of the server's addresses.
    package func handler(at entrance: Entrance) -> Handler {
        { request in await answer(request, at: entrance) }
    }

    /// An address of the server, by the requests that it answers.
    package enum Entrance: Sendable, CaseIterable {
        case all
        /// Those of RevenueCat's SDKs, and of back ends that read its REST API.
        case sdk
        case withoutSDK
    }

    /// Stores the counts since the last call, and logs the number of suppressed lines.
    package func flushTallies() async {
        refusals.flush()
        await tallies.flush()
    }

    func watchWriteAheadLog() {
        guard let bytes = probes.writeAheadLogBytes(),
            writeAheadLogAlarm.withLock({ $0.observed(bytes: bytes) })
        else { return }
        log(LogLine(.warning, "write-ahead log is large", detail: "\(bytes) bytes"))
    }

    /// Makes `/readyz` report that the server is about to stop. Other routes are unaffected.
    package func beginDraining() { readiness.beginDraining() }

    /// Cancels running and waiting reports, so that they do not delay the server's stop.
    package func endReports() { longReads.stop() }

    /// The ids of the apps with real purchases and without a public or secret key.
    package var appsWithoutKey: [String] {
        keys.withLock { keys in
            apps.filter { !$0.isRehearsal && !keys.hasKey(for: $0.id) }.map(\.id)
        }
    }

    /// Whether the configured admin key was revoked as a stored key, and so is invalid.
    package var isAdminKeyRevoked: Bool { keys.withLock { $0.isConfiguredKeyRevoked } }

    func respond(to call: Call) async throws -> Response {
        guard let route = call.route else { throw Problem.notFound }
        guard call.otherMethods.isEmpty else {
            throw Problem.methodNotAllowed(allowed: call.otherMethods)
        }
        try authorise(call, route)
        if let objection = QueryNames.documented.objection(to: call.request, of: route) {
            throw objection
        }
        do {
            return try await route.respond(self, call)
        } catch let error as StorageError {
            log(of: call)(
                LogLine(.error, "storage failed", code: "storage", detail: error.description)
            )
            throw Problem.storageUnavailable
        }
    }

    /// Checks authorisation first, so that no response reveals whether an app exists.
    private func authorise(_ call: Call, _ route: Route) throws(Problem) {
        guard route.need != .nothing else { return }
        let isRehearsal = call.appID.flatMap { contexts[$0]?.isRehearsal } ?? false
        if let objection = route.need.objection(
            to: call.presented,
            app: call.appID,
            isRehearsal: isRehearsal,
            writes: route.writes
        ) {
            metrics.count(.keyRefusals, objection.slug)
            throw objection
        }
    }

    /// Returns the context of the request's app.
    ///
    /// - Throws: `unknown-app`; `app-needed` if the request names no app.
    func context(_ call: Call) throws(Problem) -> AppContext {
        guard let id = call.appID else { throw .appNeeded }
        guard let context = context(of: id, for: call) else { throw .unknownApp(id) }
        return context
    }

    /// Returns the context of an app for a request: its log adds the request's id to each line. Nil
    /// for an unknown app.
    func context(of id: String, for call: Call) -> AppContext? {
        guard var context = contexts[id] else { return nil }
        context.log = log(of: call)
        context.notes = call.notes
        return context
    }

    /// The effective settings, with their sources; empty for a server without a file.
    package var settings: [Configuration.Setting] { effective?.settings ?? [] }

    var health: Response {
        .json(["status": "ok", "version": .string(version), "time": .string(clock().rfc3339)])
    }

    /// Returns the contexts of a report: of the requested app, or of all apps that the key permits.
    func reportedContexts(_ call: Call) throws(Problem) -> [AppContext] {
        if call.appID != nil { return [try context(call)] }
        guard case .key(let grant, _) = call.presented else { return [] }
        return orderedContexts.filter { grant.opens(app: $0.app.id) }
    }

    /// The contexts, in the order of the apps' ids.
    var orderedContexts: [AppContext] { contexts.values.sorted { $0.app.id < $1.app.id } }
    var apps: [App] { orderedContexts.map(\.app) }

    /// Returns the log, with the request's id on every line.
    func log(of call: Call) -> Log {
        { [log, id = call.id] line in
            var line = line
            line.request = id
            log(line)
        }
    }
}
