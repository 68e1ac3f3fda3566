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

    init(log: @escaping Log, _ make: @escaping Make) {
        self.log = log
        self.make = make
    }

    /// Starts the work of the first service; before that nothing is reloaded.
    func start(_ configuration: Configuration, _ live: LiveService) {
        started = (configuration, live)
        work = ServiceWork(live.service, keeping: configuration.retention)
    }

    /// Puts the configuration as it now is into effect. If it cannot be used, all stays as it was.
    func reload() -> Reloading {
        guard let started, !isStopped else {
            return .refused("The server is starting or stopping.")
        }
        do {
            let next = try make(started.live.service)
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

    /// Two services must not do the same work at once, nor may the new one read what is due before
    /// the last request to the former one has been stored.
    private func exchangeWork(
        _ next: ServedConfiguration,
        after drained: @Sendable () async -> Void
    ) async {
        await drained()
        await recordPolicyVersions(of: next.service)
        await work?.stop()
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
