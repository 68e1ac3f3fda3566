import TideoverConfiguration
import TideoverCore

extension BackfillSchedule {
    /// The delay before a stopped run is retried; it doubles each time.
    static let retry = Milliseconds.minutes(1)
    /// The maximum of that delay.
    static let longestRetry = Milliseconds.hours(6)
    /// The interval of the checks for a due run.
    static let look = Duration.seconds(1)
}

/// Starts the runs of one store: at startup, by schedule, on request, and after a gap in which
/// notifications may have been missed.
struct BackfillWorker: Sendable {
    private let schedule: BackfillSchedule
    private let timing: Timing
    private let isWanted: @Sendable () -> Bool
    /// Returns the number of notifications that failed or could not be read.
    private let failures: @Sendable () -> Int
    private let ask: @Sendable () async -> BackfillReport?

    init(backfiller: Backfiller) {
        let (metrics, app) = (backfiller.ingest.metrics, backfiller.app)
        schedule = app.backfill
        timing = backfiller.timing
        isWanted = { backfiller.isWanted }
        failures = { metrics.gaps(of: app.id) }
        ask = { await backfiller.run() }
    }

    init(poller: PlayPoller) {
        let (metrics, app) = (poller.ingest.metrics, poller.app)
        schedule = app.playChoices.backfill
        timing = poller.timing
        isWanted = { poller.book.isWanted }
        failures = { metrics.value(.notifications, app.id, "failed") }
        ask = { await poller.backfill() }
    }

    /// Runs until cancelled.
    func run() async {
        var plan = Plan(now: timing.clock(), failures: failures(), schedule)
        while !Task.isCancelled {
            plan.look(at: timing.clock(), failures: failures())
            if plan.isDue || isWanted(), let report = await ask() {
                plan.ended(report, at: timing.clock())
            }
            do { try await timing.sleep(BackfillSchedule.look) } catch { return }
        }
    }

    /// The schedule state of the next run, as a value.
    struct Plan {
        private let schedule: BackfillSchedule
        private(set) var isDue = true
        private var next: Instant
        private var lookedAt: Instant
        private var failures: Int
        private var stops = 0

        init(now: Instant, failures: Int, _ schedule: BackfillSchedule) {
            self.schedule = schedule
            self.failures = failures
            next = now
            lookedAt = now
        }

        mutating func look(at now: Instant, failures: Int) {
            let isBehindGap = schedule.gap > .zero && now - lookedAt >= schedule.gap
            if isBehindGap || failures > self.failures { next = min(next, now + schedule.afterGap) }
            // A clock that was set back must not delay the next run.
            if schedule.interval > .zero {
                next = min(next, now + max(schedule.interval, .hours(24)))
            }
            self.failures = failures
            lookedAt = now
            isDue = now >= next
        }

        mutating func ended(_ report: BackfillReport, at now: Instant) {
            lookedAt = now
            switch report.outcome {
            case .running, .completed:
                stops = 0
                next = schedule.interval > .zero ? now + schedule.interval : .distantFuture
            case .stopped(let stop):
                let wait = Milliseconds(BackfillSchedule.retry.count << min(stops, 16))
                stops += 1
                next = max(now + min(wait, BackfillSchedule.longestRetry), stop.retryAt ?? now)
            }
        }
    }
}
