public import TideoverCore

/// When the stores are asked for what has not arrived by itself.
public struct BackfillSchedule: Hashable, Sendable {
    /// From the end of one run to the next; zero for none but those of a start, a gap and a wish.
    public var interval: Milliseconds
    /// How far the clock may leap, as it does when a machine stood still, before there was a gap; zero
    /// for ever.
    public var gap: Milliseconds
    /// How long after a gap they are asked, and after a notification that we could not take in or read.
    public var afterGap: Milliseconds

    /// What is asked for unless the operator says otherwise.
    public init(
        interval: Milliseconds = .hours(6),
        gap: Milliseconds = .minutes(15),
        afterGap: Milliseconds = .minutes(1)
    ) {
        self.interval = interval
        self.gap = gap
        self.afterGap = afterGap
    }

    /// How soon a run that stopped is taken up again; doubled each time it stops again.
    static let retry = Milliseconds.minutes(1)
    /// The longest that it is doubled to.
    static let longestRetry = Milliseconds.hours(6)
    /// How often it is looked whether a run is due.
    static let look = Duration.seconds(1)
}

/// Has one store asked when it is due: at the start, by the schedule of its app, when somebody wants it,
/// and after a gap in which notifications may have been missed.
struct BackfillWorker: Sendable {
    private let schedule: BackfillSchedule
    private let timing: Timing
    private let isWanted: @Sendable () -> Bool
    /// How many notifications we could not take in, or not read.
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

    init(upkeep: PlayUpkeep) {
        let (metrics, app) = (upkeep.ingest.metrics, upkeep.app)
        schedule = app.playChoices.backfill
        timing = upkeep.timing
        isWanted = { upkeep.book.isWanted }
        failures = { metrics.value(.notifications, app.id, "failed") }
        ask = { await upkeep.backfill() }
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

    /// When the next run is due, as a value.
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
            // A clock that was put back must not put off the next run.
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
