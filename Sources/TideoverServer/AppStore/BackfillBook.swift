import TideoverCore
import TideoverLocks
import TideoverStorage

/// The state of the backfill runs for one store, app and environment: one run at a time, and
/// whether another is requested.
final class BackfillBook: Sendable {
    let store: Store
    private let environment: Environment
    private let context: AppContext
    private let timing: Timing
    private let state = Locked(State())

    private struct State {
        var report: BackfillReport?
        var isWanted = false
        var toldAt: Int64 = 0
    }

    init(_ store: Store, _ environment: Environment, context: AppContext, timing: Timing) {
        self.store = store
        self.environment = environment
        self.context = context
        self.timing = timing
    }

    /// The current run, or the last one since the process started.
    var report: BackfillReport? { state.withLock { $0.report } }

    var isRunning: Bool { report?.outcome == .running }

    /// Requests a run.
    func want() { state.withLock { $0.isWanted = true } }

    /// Whether a run was requested since the last one started.
    var isWanted: Bool { state.withLock { $0.isWanted } }

    // MARK: Runs

    /// Starts a run; false if one is in progress.
    func begin() -> Bool {
        let now = timing.clock()
        return state.withLock { state in
            guard state.report?.outcome != .running else { return false }
            state.isWanted = false
            state.report = BackfillReport(
                app: context.app.id,
                environment: environment,
                store: store,
                startedAt: now
            )
            return true
        }
    }

    func begin(_ step: BackfillStep) {
        state.withLock { state in
            state.report?.step = step
            state.report?.sums[step] = BackfillReport.Sum()
        }
    }

    func end(_ outcome: BackfillReport.Outcome) -> BackfillReport? {
        let now = timing.clock()
        let report = state.withLock { state in
            state.report?.outcome = outcome
            state.report?.endedAt = now
            return state.report
        }
        let app = context.app.id
        context.metrics.count(.backfills, app, environment.rawValue, outcome.word)
        var line = LogLine(.info, "backfill completed", app: app, environment: environment)
        if case .stopped(let stop) = outcome {
            line = LogLine(
                .warning,
                "backfill stopped",
                app: app,
                environment: environment,
                code: stop.code,
                detail: stop.sentence
            )
        }
        context.log(line)
        return report
    }

    // MARK: Progress

    /// Adds to the counts of a step.
    func note(_ step: BackfillStep, _ change: (inout BackfillReport.Sum) -> Void) {
        state.withLock { state in
            var sum = state.report?.sums[step] ?? BackfillReport.Sum()
            change(&sum)
            state.report?.sums[step] = sum
        }
        tell(step, isEnd: false)
    }

    /// The interval of log lines during a step, in nanoseconds.
    private static let silence: Int64 = 10_000_000_000

    func tell(_ step: BackfillStep, isEnd: Bool) {
        let uptime = timing.uptime()
        let sum: BackfillReport.Sum? = state.withLock { state in
            guard isEnd || uptime - state.toldAt >= Self.silence else { return nil }
            state.toldAt = uptime
            return state.report?.sums[step]
        }
        guard let sum else { return }
        context.log(
            .info,
            isEnd ? "backfill step done" : "backfill goes on",
            in: environment,
            code: step.rawValue,
            detail: "items \(sum.items), pages \(sum.pages), new facts \(sum.newFacts)"
                + (sum.until.map { ", until \($0.rfc3339)" } ?? "")
        )
    }
}
