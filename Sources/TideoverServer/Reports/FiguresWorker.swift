import TideoverCore
import TideoverStorage

/// Keeps the figures up to date that the portfolio report sums.
///
/// It derives those that writes have marked as stale, and all of them again after a change of
/// catalogue, policy or rules. Several servers may do so at once: the one that stores first wins.
struct FiguresWorker: Sendable {
    let app: App
    let environment: Environment
    let storage: any Storage
    let log: Log

    /// How long it waits when nothing is stale.
    static let interval = Duration.seconds(10)
    /// How long it leaves the processor and the writer to others between two batches.
    private static let pause = Duration.milliseconds(100)
    private static let batchLength = 200
    private static let pageLength = 1_000

    /// Runs until cancelled; `sleep` throws on cancellation.
    func run(sleep: Sleep) async {
        while !Task.isCancelled {
            let isBusy = await work()
            do { try await sleep(isBusy ? Self.pause : Self.interval) } catch { break }
        }
    }

    /// Returns whether there may be more to do at once.
    private func work() async -> Bool {
        do {
            try await markOthers()
            return try await deriveBatch()
        } catch {
            log(LogLine("figures not derived", error, app: app, environment: environment))
            return false
        }
    }

    /// Marks the figures of other rules as stale, once.
    private func markOthers() async throws {
        let stamp = app.figuresStamp(in: environment)
        let cursors = Cursors(app: app.id, environment: environment, storage: storage)
        guard try cursors.text(FiguresSource.bookmark) != "\(stamp)" else { return }
        var last: String?
        repeat {
            last = try await storage.markFigures(
                app: app.id,
                environment: environment,
                otherThan: stamp,
                after: last,
                limit: Self.pageLength
            )
        } while last != nil
        try await cursors.keep("\(stamp)", FiguresSource.bookmark)
    }

    private func deriveBatch() async throws -> Bool {
        let stale = try storage.staleFigures(
            app: app.id,
            environment: environment,
            limit: Self.batchLength
        )
        guard !stale.subjects.isEmpty else { return false }
        let (app, environment, storage) = (app, environment, storage)
        let derived = try await onQuietThread { read in
            try FiguresSource(app, environment, in: storage, read)
                .figures(of: stale.subjects.map(\.subject))
        }
        return try await storage.keep(
            FiguresUpdate(
                app: app.id,
                environment: environment,
                stamp: app.figuresStamp(in: environment),
                done: stale,
                forms: derived.mapValues { $0.map { FiguresForm.bytes(of: $0) } }
            )
        )
    }
}

extension Service {
    /// Keeps the figures of all apps up to date, until cancelled.
    package func keepFigures(
        sleep: @escaping Sleep = { try await Task.sleep(for: $0) }
    ) async {
        await withTaskGroup { group in
            for app in apps.values {
                for environment in app.environments {
                    let worker = FiguresWorker(
                        app: app,
                        environment: environment,
                        storage: storage,
                        log: log
                    )
                    group.addTask { await worker.run(sleep: sleep) }
                }
            }
        }
    }
}
