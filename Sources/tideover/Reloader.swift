import TideoverCommandLine
import TideoverServer
import TideoverStorage

/// Reloads the configuration of a running server, one reload at a time.
actor Reloader {
    /// Reads the configuration file and makes its service, in succession to another.
    typealias Make = @Sendable (_ former: Service) throws -> ServedConfiguration

    private let make: Make
    private let log: Log
    private var started: (configuration: Configuration, live: LiveService)?
    private var work: ServiceWork?
    /// The exchange of the workers that the last reload began.
    private var exchange: Task<Void, Never>?
    private var isStopped = false
    /// Whether nothing is reloaded any more, because the server stops.
    private var isRefusing = false
    /// The reload that was requested last.
    private var latest: Task<Reloading, Never>?

    init(log: @escaping Log, _ make: @escaping Make) {
        self.log = log
        self.make = make
    }

    /// Starts the work of the first service; before that nothing is reloaded.
    func start(_ configuration: Configuration, _ live: LiveService) {
        started = (configuration, live)
        work = ServiceWork(live.service, keeping: configuration.retention)
    }

    /// Refuses every later reload.
    func refuse() { isRefusing = true }

    /// Puts the configuration as it now is into effect. If it cannot be used, all stays as it was.
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
            // Before another reload reads the versions.
            await recordPolicyVersions(of: next.service)
            guard !isStopped, !isRefusing else { return Self.refusal }
            let needRestart = next.configuration.keysNeedingRestart(since: started.configuration)
            let drained = started.live.replace(by: next.service)
            // The workers of the last reload run before they are stopped again.
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

    /// Two services must not do the same work at once, and the former one must not decide by its
    /// policy what the new one has decided. The new one reads what is due once the last request to
    /// the former one is stored.
    private func exchangeWork(
        _ next: ServedConfiguration,
        after drained: @Sendable () async -> Void
    ) async {
        await work?.stop()
        await drained()
        // What the last requests counted.
        await work?.flush()
        work = isStopped ? nil : ServiceWork(next.service, keeping: next.configuration.retention)
    }

    /// Stores the versions of catalogue and policy that a service answers by.
    func recordPolicyVersions(of service: Service) async {
        do {
            try await service.recordPolicyVersions()
        } catch {
            // Answers are right without it; what is lost is the instant of the change.
            log(LogLine(.error, "policy version not recorded", detail: error.description))
        }
    }

    /// Ends all work.
    func stop() async {
        isStopped = true
        await exchange?.value
        await work?.stop()
        work = nil
    }
}

/// A configuration with the service that answers by it.
struct ServedConfiguration {
    let configuration: Configuration
    let service: Service
}
