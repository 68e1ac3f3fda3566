import TideoverCommandLine
import TideoverConfiguration
import TideoverLocks
import TideoverServer
import TideoverStorage

/// Replaces the service of a running server, once at a time: after a reload of the configuration,
/// and to adopt the catalogues and policies that another server or a worker recorded.
actor Reloader {
    /// Creates the service that replaces a former one: with the recorded catalogues and policies in
    /// place of those of `adopting`, or from the configuration file without it.
    typealias Make =
        @Sendable (_ former: Service, _ adopting: Configuration?) throws -> ServedConfiguration

    private let make: Make
    private let log: Log
    private var started: (configuration: Configuration, live: LiveService)?
    /// The configuration in effect.
    private var served: Configuration?
    private var work: ServiceWork?
    /// The latest replacement of workers.
    private var exchange: Task<Void, Never>?
    private var isStopped = false
    /// Whether reloads are rejected, because the server stops.
    private var isRefusing = false
    /// Receives the service that is being made.
    private var making: AsyncStream<Result<ServedConfiguration, any Error>>.Continuation?
    /// Why a recorded policy could not be adopted.
    private var failedAdoption: String?
    /// The most recently requested replacement.
    private var latest: Task<Void, Never>?

    init(log: @escaping Log, _ make: @escaping Make) {
        self.log = log
        self.make = make
    }

    /// Starts the workers of the first service. Reloads work only after that.
    func start(_ configuration: Configuration, _ live: LiveService) {
        started = (configuration, live)
        served = configuration
        work = ServiceWork(live.service, keeping: configuration.retention, on: live.threads)
    }

    /// The fingerprint of the configuration in effect; empty before the start.
    var fingerprint: String { served?.fingerprint ?? "" }

    /// Rejects all later reloads, and the current one while it reads its files.
    func refuse() {
        isRefusing = true
        making?.finish()
    }

    /// Applies the current configuration file. If it is invalid, nothing changes.
    func reload() async -> Reloading {
        await inTurn { await self.reloadNow() }
    }

    /// Follows what other servers change in the storage. After a failure it looks again without a
    /// longer pause, so that a key which another server revoked is not accepted for long.
    nonisolated func follower(of live: LiveService) -> Worker {
        Worker(.otherServers) { sleep in
            var follower = ChangeFollower()
            var isFailing = false
            while true {
                do throws(StorageError) {
                    if try follower.look(at: live.service) {
                        await self.inTurn { await self.adoptNow() }
                    }
                    isFailing = false
                } catch {
                    if !isFailing { self.tell(error) }
                    isFailing = true
                }
                try await sleep(ChangeFollower.interval)
            }
        }
    }

    private nonisolated func tell(_ error: StorageError) {
        log(
            LogLine(
                .error,
                "changes of other servers not read",
                code: "storage",
                detail: error.description
            )
        )
    }

    /// Does something after everything that was requested before.
    private func inTurn<Result: Sendable>(
        _ work: @escaping @Sendable () async -> Result
    ) async -> Result {
        let task = Task { [latest] () -> Result in
            await latest?.value
            return await work()
        }
        latest = Task { _ = await task.value }
        return await task.value
    }

    private static let refusal = Reloading.refused("The server is starting or stopping.")

    private func reloadNow() async -> Reloading {
        guard let started, !isStopped, !isRefusing else { return Self.refusal }
        do {
            guard let next = try await made(succeeding: started.live.service) else {
                return Self.refusal
            }
            // Recorded before another reload reads the versions.
            await prepare(next.service)
            guard !isStopped, !isRefusing else { return Self.refusal }
            let needRestart = next.configuration.keysNeedingRestart(since: started.configuration)
            replace(started.live, by: next)
            let keys = needRestart.joined(separator: ", ")
            log(
                needRestart.isEmpty
                    ? LogLine(.info, "configuration reloaded")
                    : LogLine(.warning, "configuration reloaded", detail: "need a restart: \(keys)")
            )
            return .applied(needRestart: needRestart, notices: next.configuration.notices)
        } catch {
            let reason = (error as? any ReportableFailure)?.message ?? "\(error)"
            log(LogLine(.error, "configuration not reloaded", detail: reason))
            return .refused(reason)
        }
    }

    /// Replaces the service by one with the catalogues and policies that another server or a worker
    /// recorded.
    private func adoptNow() async {
        guard let started, let served, !isStopped, !isRefusing else { return }
        do {
            // A reload that was requested before may have read it.
            guard try started.live.service.hasOutdatedRules() else { return }
            guard let next = try await made(succeeding: started.live.service, adopting: served),
                !isStopped, !isRefusing
            else { return }
            replace(started.live, by: next)
            log(LogLine(.info, "recorded policy adopted"))
            failedAdoption = nil
        } catch {
            let reason = (error as? any ReportableFailure)?.message ?? "\(error)"
            // It is repeated each second, and logged once.
            guard reason != failedAdoption else { return }
            failedAdoption = reason
            log(LogLine(.error, "recorded policy not adopted", detail: reason))
        }
    }

    /// Makes a service on a thread of its own: a file on a disk that does not answer blocks it, and
    /// the server must still stop. Returns nil if reloads are rejected meanwhile.
    private func made(
        succeeding former: Service,
        adopting: Configuration? = nil
    ) async throws -> ServedConfiguration? {
        let (results, result) = AsyncStream<Result<ServedConfiguration, any Error>>.makeStream()
        making = result
        defer { making = nil }
        let code = startThread { [make] in
            result.yield(Result { try make(former, adopting) })
        }
        guard code == 0 else {
            throw CommandFailure(.cannotCreate, "the system has no thread left")
        }
        for await made in results { return try made.get() }
        return nil
    }

    private func replace(_ live: LiveService, by next: ServedConfiguration) {
        served = next.configuration
        let drained = live.replace(by: next.service)
        // The workers of the last replacement start before they are stopped again.
        exchange = Task { [exchange] in
            await exchange?.value
            await exchangeWork(next, after: drained)
        }
    }

    /// Replaces the workers of the former service.
    ///
    /// Two services must not do the same work at once. The former one must not override the new
    /// one's decisions by its own policy. The new one reads its due work after the last request to
    /// the former one is stored.
    private func exchangeWork(
        _ next: ServedConfiguration,
        after drained: @Sendable () async -> Void
    ) async {
        await work?.stop()
        await drained()
        // Stores the counts of the last requests.
        await work?.flush()
        work =
            isStopped
            ? nil
            : ServiceWork(
                next.service,
                keeping: next.configuration.retention,
                on: started?.live.threads
            )
    }

    /// Stores the versions of a service's catalogue and policy, and its configured webhooks, which
    /// receive the events from then on.
    func prepare(_ service: Service) async {
        do {
            try await service.recordPolicyVersions()
        } catch {
            // Answers are correct without the record; only the instant of the change is lost.
            log(LogLine(.error, "policy version not recorded", detail: error.description))
        }
        await service.synchroniseWebhooks()
    }

    /// Stops all workers.
    func stop() async {
        isStopped = true
        await exchange?.value
        await work?.stop()
        work = nil
    }
}

/// A configuration and the service made from it.
struct ServedConfiguration {
    let configuration: Configuration
    let service: Service
}
