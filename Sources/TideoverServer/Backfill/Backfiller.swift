import TideoverAppStore
import TideoverCore
import TideoverLocks
import TideoverStorage

/// Asks the App Store about one app in one environment for whatever has not arrived by itself: one run
/// at a time, each from where the one before came to.
///
/// Everything that a run brings goes through the one door as if it had been posted; how far it has come
/// is kept behind what it brought. Interrupted anywhere, it asks for some of it again, and what is told
/// twice is one.
final class Backfiller: Sendable {
    let app: App
    let environment: Environment
    let api: AppStoreAPI
    /// Checks what was asked for as it does what is posted.
    let trust: AppStoreTrust
    let ingest: Ingest
    let bookmarks: Bookmarks
    let timing: Timing
    let limiter: RequestLimiter
    private let state = Locked(State())

    private struct State {
        var report: BackfillReport?
        var isWanted = false
        var toldAt: Int64 = 0
    }

    /// - Throws: `StorageError` when it cannot be read whether the store wants to be left alone.
    init(
        _ access: StoreAccess,
        _ trust: AppStoreTrust,
        ingest: Ingest,
        timing: Timing
    ) throws(StorageError) {
        app = ingest.app
        environment = access.environment
        self.ingest = ingest
        self.trust = trust
        self.timing = timing
        api = AppStoreAPI(
            app: trust.identity,
            environment: access.environment,
            tokens: AppStoreTokens(key: access.key, signer: access.signer),
            clock: timing.clock,
            handler: access.handler
        )
        bookmarks = Bookmarks(
            app: ingest.app.id,
            environment: access.environment,
            storage: ingest.storage
        )
        ingest.metrics.expectBackfill(of: ingest.app, access.environment)
        limiter = RequestLimiter(
            environment: access.environment,
            timing: timing,
            pausedUntil: try bookmarks.instant(Self.pause)
        )
    }

    /// The bookmark that says until when the store is left alone.
    static let pause = "pause"

    // MARK: What is known from outside

    /// The run under way, or the last one since the start of the process.
    var report: BackfillReport? { state.withLock { $0.report } }

    var isRunning: Bool { report?.outcome == .running }

    /// Wants a run as soon as can be.
    func want() { state.withLock { $0.isWanted = true } }

    /// Whether a run was wanted since the last one began.
    var isWanted: Bool { state.withLock { $0.isWanted } }

    // MARK: A run

    /// Runs once; nil if a run is under way already.
    func run() async -> BackfillReport? {
        guard begin() else { return nil }
        var first: (any Error)?
        do {
            try await requirePatience()
            for step in BackfillStep.allCases {
                do {
                    try await take(step)
                } catch let failure as AppStoreAPIFailure where !failure.stopsEverything {
                    first = first ?? failure
                }
            }
        } catch {
            first = error
        }
        return end(first.map { .stopped(stop(for: $0)) } ?? .completed)
    }

    /// Runs once, behind a run that is under way; nil when cancelled while it waits for that.
    func runNext() async -> BackfillReport? {
        while true {
            if let report = await run() { return report }
            do { try await timing.sleep(.seconds(1)) } catch { return nil }
        }
    }

    /// A run is not to sit out the better part of an hour.
    private func requirePatience() async throws {
        guard let until = await limiter.pausedUntil, until > timing.clock() + Self.patience else {
            return
        }
        throw BackfillStop(
            code: "throttled",
            sentence: "The App Store asked us to come back later, at \(until.rfc3339).",
            retryAt: until
        )
    }

    private func begin() -> Bool {
        let now = timing.clock()
        return state.withLock { state in
            guard state.report?.outcome != .running else { return false }
            state.isWanted = false
            state.report = BackfillReport(
                app: app.id,
                environment: environment,
                startedAt: now
            )
            return true
        }
    }

    private func take(_ step: BackfillStep) async throws {
        try Task.checkCancellation()
        state.withLock { state in
            state.report?.step = step
            state.report?.sums[step] = BackfillReport.Sum()
        }
        switch step {
        case .failedNotifications: try await readNotifications(onlyFailures: true)
        case .notifications: try await readNotifications(onlyFailures: false)
        case .statuses: try await askAboutSilentLineages()
        case .refunds: try await readRefunds()
        }
        tell(step, isEnd: true)
    }

    private func end(_ outcome: BackfillReport.Outcome) -> BackfillReport? {
        let now = timing.clock()
        let report = state.withLock { state in
            state.report?.outcome = outcome
            state.report?.endedAt = now
            return state.report
        }
        ingest.metrics.count(.backfills, app.id, environment.rawValue, outcome.word)
        var line = LogLine(.info, "backfill completed", app: app.id, environment: environment)
        if case .stopped(let stop) = outcome {
            line = LogLine(
                .warning,
                "backfill stopped",
                app: app.id,
                environment: environment,
                code: stop.code,
                detail: stop.sentence
            )
        }
        ingest.log(line)
        return report
    }

    private func stop(for error: any Error) -> BackfillStop {
        switch error {
        case let stop as BackfillStop: stop
        case let failure as AppStoreAPIFailure:
            BackfillStop(
                code: failure.code,
                sentence: failure.sentence,
                retryAt: failure.retryAt
            )
        case let error as StorageError:
            BackfillStop(code: "storage", sentence: error.description)
        case is CancellationError:
            BackfillStop(code: "cancelled", sentence: "The server stops.")
        default:
            BackfillStop(code: "internal", sentence: String(reflecting: type(of: error)))
        }
    }

    // MARK: What a run brings

    /// Adds to what a step brought.
    func note(_ step: BackfillStep, _ change: (inout BackfillReport.Sum) -> Void) {
        state.withLock { state in
            var sum = state.report?.sums[step] ?? BackfillReport.Sum()
            change(&sum)
            state.report?.sums[step] = sum
        }
        tell(step, isEnd: false)
    }

    /// How long a step that goes on is silent in the log, in nanoseconds.
    private static let silence: Int64 = 10_000_000_000

    private func tell(_ step: BackfillStep, isEnd: Bool) {
        let uptime = timing.uptime()
        let sum: BackfillReport.Sum? = state.withLock { state in
            guard isEnd || uptime - state.toldAt >= Self.silence else { return nil }
            state.toldAt = uptime
            return state.report?.sums[step]
        }
        guard let sum else { return }
        ingest.log(
            LogLine(
                .info,
                isEnd ? "backfill step done" : "backfill goes on",
                app: app.id,
                environment: environment,
                code: step.rawValue,
                detail: "items \(sum.items), pages \(sum.pages), new facts \(sum.newFacts)"
                    + (sum.until.map { ", until \($0.rfc3339)" } ?? "")
            )
        )
    }
}
