import TideoverAppStore
import TideoverCore
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
    let book: BackfillBook

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
        book = BackfillBook(.appStore, access.environment, ingest: ingest, timing: timing)
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
    var report: BackfillReport? { book.report }

    var isRunning: Bool { book.isRunning }

    /// Wants a run as soon as can be.
    func want() { book.want() }

    /// Whether a run was wanted since the last one began.
    var isWanted: Bool { book.isWanted }

    // MARK: A run

    /// Runs once; nil if a run is under way already.
    func run() async -> BackfillReport? {
        guard book.begin() else { return nil }
        var first: (any Error)?
        do {
            for step in BackfillStep.ofAppStore {
                do {
                    try await take(step)
                } catch let failure as AppStoreAPIFailure where !failure.stopsEverything {
                    first = first ?? failure
                }
            }
        } catch {
            first = error
        }
        return book.end(first.map { .stopped(BackfillStop($0)) } ?? .completed)
    }

    /// Runs once, behind a run that is under way; nil when cancelled while it waits for that.
    func runNext() async -> BackfillReport? {
        while true {
            if let report = await run() { return report }
            do { try await timing.sleep(.seconds(1)) } catch { return nil }
        }
    }

    private func take(_ step: BackfillStep) async throws {
        try Task.checkCancellation()
        book.begin(step)
        switch step {
        case .failedNotifications: try await readNotifications(onlyFailures: true)
        case .notifications: try await readNotifications(onlyFailures: false)
        case .statuses: try await askAboutSilentLineages()
        case .refunds: try await readRefunds()
        case .purchases, .voidedPurchases: preconditionFailure("Google Play is asked for these")
        }
        book.tell(step, isEnd: true)
    }

    /// Adds to what a step brought.
    func note(_ step: BackfillStep, _ change: (inout BackfillReport.Sum) -> Void) {
        book.note(step, change)
    }
}
