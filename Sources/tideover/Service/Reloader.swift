import TideoverCommandLine
import TideoverConfiguration
import TideoverServer
import TideoverStorage

/// Reloads the configuration of a running server, one reload at a time.
actor Reloader {
    /// Reads the configuration file and creates the service that replaces a former one.
    typealias Make = @Sendable (_ former: Service) throws -> ServedConfiguration

    private let make: Make
    private let log: Log
    private var started: (configuration: Configuration, live: LiveService)?
    private var work: ServiceWork?
    /// The replacement of workers that the last reload began.
    private var exchange: Task<Void, Never>?
    private var isStopped = false
    /// Whether reloads are rejected, because the server stops.
    private var isRefusing = false
    /// The most recently requested reload.
    private var latest: Task<Reloading, Never>?

    init(log: @escaping Log, _ make: @escaping Make) {
        self.log = log
        self.make = make
    }

    /// Starts the workers of the first service. Reloads work only after that.
    func start(_ configuration: Configuration, _ live: LiveService) {
        started = (configuration, live)
        work = ServiceWork(live.service, keeping: configuration.retention)
    }

    /// Rejects all later reloads.
    func refuse() { isRefusing = true }

    /// Applies the current configuration file. If it is invalid, nothing changes.
    func reload() async -> Reloading {
        let task = Task { [latest] () -> Reloading in
            _ = await latest?.value
            return await self.reloadNow()
        }
        latest = task
        return await task.value
    }

    private static let refusal = Reloading.refused("The server is starting or stopping.")

    private func reloadNow() async -> Reloading {
        guard let started, !isStopped, !isRefusing else { return Self.refusal }
        do {
            let next = try make(started.live.service)
            // Recorded before another reload reads the versions.
            await prepare(next.service)
            guard !isStopped, !isRefusing else { return Self.refusal }
            let needRestart = next.configuration.keysNeedingRestart(since: started.configuration)
            let drained = started.live.replace(by: next.service)
            // The workers of the last reload start before they are stopped again.
            exchange = Task { [exchange] in
                await exchange?.value
                await exchangeWork(next, after: drained)
            }
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
        work = isStopped ? nil : ServiceWork(next.service, keeping: next.configuration.retention)
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
