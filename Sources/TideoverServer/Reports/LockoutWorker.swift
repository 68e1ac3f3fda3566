import TideoverCore
import TideoverStorage

/// Raises an alarm when it becomes known that we denied access that the store granted.
///
/// It examines purchases with new facts since its last check. The time of that check is stored, so
/// each lockout raises one alarm.
struct LockoutWorker: Sendable {
    let app: App
    let environment: Environment
    let storage: any Storage
    let clock: Clock
    let metrics: Metrics
    let log: Log

    /// The interval of the checks; each reads all facts.
    static let interval = Duration.seconds(3_600)
    private static let lastLook = "lockouts"

    private var cursors: Cursors {
        Cursors(app: app.id, environment: environment, storage: storage)
    }

    /// Runs until cancelled; `sleep` throws on cancellation.
    func run(sleep: Sleep) async {
        while !Task.isCancelled {
            await look()
            do { try await sleep(Self.interval) } catch { break }
        }
    }

    private func look() async {
        do {
            try await judge()
        } catch {
            log(LogLine("lockouts not judged", error, app: app, environment: environment))
        }
    }

    private func judge() async throws {
        let now = clock()
        // Lockouts known before the first check are only in the report.
        let since = try cursors.instant(Self.lastLook) ?? now
        if since < now {
            let (app, environment, storage) = (app.id, environment, storage)
            let history = self.app.policyHistory(in: environment)
            let news = try await onQuietThread { read in
                var news = LockoutNews(since: since, now: now)
                try storage.eachLineageRecord(app: app, environment: environment) {
                    try read.goOn()
                    news.add($0, history)
                }
                return news
            }
            raise(news)
        }
        try await cursors.keep(max(since, now), Self.lastLook)
    }

    private func raise(_ news: LockoutNews) {
        guard news.purchases > 0 else { return }
        for (cause, length) in news.causes {
            let seconds = Int(length.count / Milliseconds.seconds(1).count)
            metrics.count(.lockoutTime, app.id, cause.rawValue, by: seconds)
        }
        log(
            LogLine(
                .error,
                "customers were locked out",
                app: app.id,
                environment: environment,
                code: "lockouts",
                detail: news.sentence
            )
        )
    }
}

extension Service {
    /// Raises an alarm when lockouts of customers become known, until cancelled.
    package func watchForLockouts(
        sleep: @escaping Sleep = { try await Task.sleep(for: $0) }
    ) async {
        await withTaskGroup { group in
            for app in apps.values {
                for environment in app.environments {
                    let worker = LockoutWorker(
                        app: app,
                        environment: environment,
                        storage: storage,
                        clock: clock,
                        metrics: metrics,
                        log: log
                    )
                    group.addTask { await worker.run(sleep: sleep) }
                }
            }
        }
    }
}
