import TideoverCore
import TideoverLocks
import TideoverStorage

/// Stops experiments of an app with an arm that does harm.
///
/// A stop is recorded as a version of the policy. So every server follows it, it survives a
/// restart, and an answer as of an earlier instant does not include it.
struct ExperimentWorker: Sendable {
    let app: App
    let service: Service

    /// The interval of the checks; each reads all customers.
    static let interval = Duration.seconds(3_600)

    /// Runs until cancelled; `sleep` throws on cancellation.
    func run(sleep: Sleep) async {
        while !Task.isCancelled {
            for environment in environments { await look(at: environment) }
            do { try await sleep(Self.interval) } catch { break }
        }
    }

    /// Customers of a sandbox decide only for an app without production.
    private var environments: [Environment] {
        app.environments.contains(.production) ? [.production] : app.environments
    }

    private func look(at environment: Environment) async {
        do {
            let stops = try await stops(in: environment)
            if !stops.isEmpty { try await stop(stops, in: environment) }
        } catch {
            let line = LogLine("experiments not judged", error, app: app, environment: environment)
            service.log(line)
        }
    }

    /// Returns the stops that the customers of an environment call for, by experiment.
    private func stops(
        in environment: Environment
    ) async throws -> [String: Experiment.Stop] {
        let now = service.clock()
        let running = app.policy.experiments.filter { $0.phase(at: now) == .running }
        guard !running.isEmpty else { return [:] }
        let (app, storage) = (app, service.storage)
        let rows = try await onQuietThread { read in
            try PurchaseWalk(app, environment, until: now, in: storage, read).experiments(running)
        }
        var stops: [String: Experiment.Stop] = [:]
        for report in rows.reports { stops[report.experiment.id] = report.neededStop }
        return stops
    }

    /// Records stops in each environment, because they share the policy. A service without the
    /// newest policy leaves them to the service that replaces it.
    private func stop(
        _ stops: [String: Experiment.Stop],
        in environment: Environment
    ) async throws {
        guard try !service.hasOutdatedRules() else { return }
        let now = service.clock()
        let dated = stops.mapValues { Experiment.Stop(at: now, reason: $0.reason, arm: $0.arm) }
        let version = PolicyVersion(app.rules.stopping(dated), at: now)
        var isRecorded = false
        for each in app.environments {
            let isNew = try await service.storage.record(version, app: app.id, environment: each)
            isRecorded = isRecorded || isNew
        }
        guard isRecorded else { return }
        service.recordedRules.withLock { $0 = true }
        for (name, stop) in stops.sorted(by: { $0.key < $1.key }) {
            let why = "\(stop.reason.rawValue) rise with the arm \(stop.arm)"
            try await audit("The experiment \(name) was stopped: \(why).", name, environment, now)
            service.log(
                LogLine(
                    .error,
                    "experiment stopped",
                    app: app.id,
                    environment: environment,
                    code: "experiments",
                    detail: "\(name): \(why)"
                )
            )
        }
    }

    private func audit(
        _ why: String,
        _ experiment: String,
        _ environment: Environment,
        _ now: Instant
    ) async throws(StorageError) {
        let entry = AuditEntry(
            .experimentStopped,
            customer: nil,
            actor: .server,
            why: why,
            at: now,
            name: "experiment\n\(experiment)"
        )
        let commitRequest = CommitRequest(
            app: app.id,
            environment: environment,
            audit: [entry],
            now: now
        )
        _ = try await service.storage.commit(commitRequest, derive: Projector(app: app).derive)
    }
}

extension Service {
    /// Stops experiments that do harm, until cancelled.
    package func watchExperiments(
        sleep: @escaping Sleep = { try await Task.sleep(for: $0) }
    ) async {
        await withTaskGroup { group in
            for app in apps.values where !app.policy.experiments.isEmpty {
                let worker = ExperimentWorker(app: app, service: self)
                group.addTask { await worker.run(sleep: sleep) }
            }
        }
    }
}
