import TideoverAppStore
import TideoverCore
import TideoverStorage

/// Queries the App Store for missing notifications of one app in one environment. One run at a time
/// is active, and each continues where the previous one ended.
///
/// All content of a run is committed like notifications, and progress is stored after it. An
/// interrupted run queries some of it again; repeated content counts once.
final class Backfiller: Sendable {
    let environment: Environment
    let api: AppStoreAPI
    /// Verifies responses like notifications.
    let trust: AppStoreTrust
    let context: AppContext
    let cursors: Cursors
    let timing: Timing
    let limiter: RequestLimiter
    let book: BackfillBook

    var app: App { context.app }

    /// - Throws: `StorageError` if the end of the store's throttling cannot be read.
    init(
        _ access: StoreAccess,
        _ trust: AppStoreTrust,
        context: AppContext,
        timing: Timing
    ) throws(StorageError) {
        environment = access.environment
        self.context = context
        self.trust = trust
        self.timing = timing
        api = AppStoreAPI(
            app: trust.identity,
            environment: access.environment,
            tokens: AppStoreTokens(key: access.key, signer: access.signer),
            clock: timing.clock,
            handler: access.handler
        )
        cursors = context.cursors(in: access.environment)
        book = BackfillBook(.appStore, access.environment, context: context, timing: timing)
        context.metrics.expectBackfill(of: context.app, access.environment)
        limiter = RequestLimiter(
            environment: access.environment,
            timing: timing,
            pausedUntil: try cursors.instant(Self.pause)
        )
    }

    /// The name of the bookmark for the end of the store's throttling.
    static let pause = "pause"

    // MARK: State

    /// The current run, or the last one since the process started.
    var report: BackfillReport? { book.report }

    var isRunning: Bool { book.isRunning }

    /// Requests a run.
    func want() { book.want() }

    /// Whether a run was requested since the last one started.
    var isWanted: Bool { book.isWanted }

    // MARK: Runs

    /// Runs once; nil if a run is in progress.
    func run() async -> BackfillReport? {
        guard book.begin() else { return nil }
        var first: (any Error)?
        do {
            for step in BackfillStep.ofAppStore {
                do {
                    let failure = try await take(step)
                    first = first ?? failure
                } catch let failure as AppStoreAPIFailure where !failure.stopsEverything {
                    first = first ?? failure
                }
            }
        } catch {
            first = error
        }
        return book.end(first.map { .stopped(BackfillStop($0)) } ?? .completed)
    }

    /// Runs once, after a run in progress; nil if cancelled while waiting.
    func runNext() async -> BackfillReport? {
        while true {
            if let report = await run() { return report }
            do { try await timing.sleep(.seconds(1)) } catch { return nil }
        }
    }

    /// Takes a step to its end. Returns the first failure that it went on after.
    private func take(_ step: BackfillStep) async throws -> AppStoreAPIFailure? {
        try Task.checkCancellation()
        book.begin(step)
        var failure: AppStoreAPIFailure?
        switch step {
        case .failedNotifications: try await readNotifications(onlyFailures: true)
        case .notifications: try await readNotifications(onlyFailures: false)
        case .statuses: failure = try await askAboutSilentLineages()
        case .refunds: failure = try await readRefunds()
        case .purchases, .voidedPurchases: preconditionFailure("Google Play is asked for these")
        }
        book.tell(step, isEnd: true)
        return failure
    }

    /// Adds to the counts of a step.
    func note(_ step: BackfillStep, _ change: (inout BackfillReport.Sum) -> Void) {
        book.note(step, change)
    }
}
