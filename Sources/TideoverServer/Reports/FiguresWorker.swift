import TideoverCore
import TideoverStorage

/// Keeps the figures up to date that the portfolio report sums.
///
/// It derives those that writes have marked as stale, and all of them again after a change of
/// catalogue, policy or rules. Several servers may do so at once: the one that stores first wins,
/// and raises the alarm for lockouts that have become known.
struct FiguresWorker: Sendable {
    let context: AppContext
    let environment: Environment

    /// How long it waits when nothing is stale.
    static let interval = Duration.seconds(10)
    /// How long it leaves the processor and the writer to others between two batches.
    private static let pause = Duration.milliseconds(100)
    private static let batchLength = 200
    private static let pageLength = 1_000
    /// The bookmark with the start of the alarms: earlier lockouts are only in the report.
    private static let alarmStart = "lockouts"

    private var app: App { context.app }
    private var cursors: Cursors { context.cursors(in: environment) }

    var worker: Worker {
        Worker(.figures, app: app.id, environment: environment) { sleep in
            while true {
                try await markOthers()
                let isMore = try await deriveBatch(alarmsSince: alarmStart())
                try await sleep(isMore ? Self.pause : Self.interval)
            }
        }
    }

    /// Marks the figures of other rules as stale, once.
    private func markOthers() async throws {
        let stamp = app.figuresStamp(in: environment)
        guard try cursors.text(FiguresSource.bookmark) != "\(stamp)" else { return }
        var last: String?
        repeat {
            last = try await context.storage.markFigures(
                in: AppScope(app.id, environment),
                otherThan: stamp,
                after: last,
                limit: Self.pageLength
            )
        } while last != nil
        try await cursors.keep("\(stamp)", FiguresSource.bookmark)
    }

    private func alarmStart() async throws -> Instant {
        if let start = try cursors.instant(Self.alarmStart) { return start }
        let now = context.clock()
        try await cursors.keep(now, Self.alarmStart)
        return now
    }

    /// Returns whether there may be more to do at once.
    private func deriveBatch(alarmsSince start: Instant) async throws -> Bool {
        let stale = try context.storage.staleFigures(
            in: AppScope(app.id, environment),
            limit: Self.batchLength
        )
        guard !stale.subjects.isEmpty else { return false }
        let alarmed = AlarmedLockouts(
            range: start..<max(start, context.clock()),
            history: app.policyHistory(in: environment)
        )
        let derived = try await onQuietThread { read in
            try FiguresSource(context, environment, read, alarmed: alarmed)
                .figures(of: stale.subjects.map(\.subject))
        }
        let update = FiguresUpdate(
            app: app.id,
            environment: environment,
            stamp: app.figuresStamp(in: environment),
            done: stale,
            forms: derived.mapValues { $0.map { FiguresForm.bytes(of: $0) } }
        )
        guard try await context.storage.keep(update) else { return false }
        raise(LockoutNews(stale.subjects, derived))
        return true
    }

    private func raise(_ news: LockoutNews) {
        guard news.purchases > 0 else { return }
        for (cause, length) in news.causes {
            let seconds = Int(length.count / Milliseconds.seconds(1).count)
            context.metrics.count(.lockoutTime, app.id, cause.rawValue, by: seconds)
        }
        context.log(
            .error,
            "customers were locked out",
            in: environment,
            code: "lockouts",
            detail: news.sentence
        )
    }
}

extension Service {
    var figuresWorkers: [FiguresWorker] {
        eachPlace { FiguresWorker(context: $0, environment: $1) }
    }
}
