import TideoverCore
import TideoverStorage

/// Raises an alarm when it has become known that we denied customers what the store vouched for.
///
/// It looks at purchases of which something was learned since its last look, which it remembers across
/// restarts: what became known is raised once.
struct LockoutWorker: Sendable {
    let app: App
    let environment: Environment
    let storage: any Storage
    let clock: Clock
    let metrics: Metrics
    let log: Log

    /// How often it looks: each time all facts are read.
    static let interval = Duration.seconds(3_600)
    private static let lastLook = "lockouts"

    private var bookmarks: Bookmarks {
        Bookmarks(app: app.id, environment: environment, storage: storage)
    }

    /// Works until cancelled, which `sleep` tells by throwing.
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
            let detail =
                (error as? StorageError)?.description ?? String(reflecting: type(of: error))
            tell("lockouts not judged", "storage", detail)
        }
    }

    private func judge() async throws {
        let now = clock()
        // What was known before anybody looked is in the report.
        let since = try bookmarks.instant(Self.lastLook) ?? now
        if since < now {
            let (app, environment, storage) = (app, environment, storage)
            let news = try await onQuietThread { read in
                var news = LockoutNews(since: since, now: now)
                try storage.eachHolding(app: app.id, environment: environment) {
                    try read.goOn()
                    news.add($0, of: app)
                }
                return news
            }
            raise(news)
        }
        try await bookmarks.keep(max(since, now), Self.lastLook)
    }

    private func raise(_ news: LockoutNews) {
        guard news.purchases > 0 else { return }
        for (cause, length) in news.causes {
            let seconds = Int(length.count / Milliseconds.seconds(1).count)
            metrics.count(.lockoutTime, app.id, cause.rawValue, by: seconds)
        }
        tell("customers were locked out", "lockouts", news.sentence)
    }

    private func tell(_ event: String, _ code: String, _ detail: String) {
        log(
            LogLine(
                .error,
                event,
                app: app.id,
                environment: environment,
                code: code,
                detail: detail
            )
        )
    }
}

extension Service {
    /// Raises an alarm where it becomes known that customers were locked out, until cancelled.
    public func watchForLockouts(
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
