import TideoverConfiguration
import TideoverCore

extension BackfillSchedule {
    /// The delay before a stopped run is retried; it doubles each time.
    static let retry = Milliseconds.minutes(1)
    /// The maximum of that delay, unless runs follow each other faster.
    static let longestRetry = Milliseconds.hours(6)
    /// The interval of the checks for a due run.
    static let look = Duration.seconds(1)
}

/// Starts the runs of one store: at startup, by schedule, on request, and after a gap in which
/// notifications may have been missed.
struct BackfillWorker: Sendable {
    private let place: NotificationLog.Place
    private let schedule: BackfillSchedule
    private let clock: Clock
    private let arrivals: NotificationLog
    private let isWanted: @Sendable () -> Bool
    private let ask: @Sendable () async -> BackfillReport?

    init(backfiller: Backfiller) {
        let app = backfiller.app
        place = .init(app: app.id, environment: backfiller.environment, store: .appStore)
        schedule = app.backfill
        clock = backfiller.timing.clock
        arrivals = backfiller.context.arrivals
        isWanted = { backfiller.isWanted }
        ask = { await backfiller.run() }
    }

    init(poller: PlayPoller) {
        let app = poller.app
        place = .init(app: app.id, environment: poller.environment, store: .googlePlay)
        schedule = app.playChoices.backfill
        clock = poller.timing.clock
        arrivals = poller.context.arrivals
        isWanted = { poller.book.isWanted }
        ask = { await poller.backfill() }
    }

    var worker: Worker {
        Worker(.backfills, app: place.app, environment: place.environment, store: place.store) {
            sleep in
            var plan = Plan(now: clock(), schedule)
            while true {
                plan.look(at: clock(), missed: arrivals.takeMissed(in: place))
                if plan.isDue || isWanted(), let report = await ask() {
                    plan.ended(report, at: clock())
                }
                try await sleep(BackfillSchedule.look)
            }
        }
    }

    /// The schedule state of the next run, as a value.
    struct Plan {
        private let schedule: BackfillSchedule
        private(set) var isDue = true
        private var next: Instant
        private var lookedAt: Instant
        private var stops = 0

        init(now: Instant, _ schedule: BackfillSchedule) {
            self.schedule = schedule
            next = now
            lookedAt = now
        }

        /// Schedules a run after a gap: the worker did not run for some time, or a notification was
        /// missed.
        mutating func look(at now: Instant, missed: Bool) {
            let isBehindGap = schedule.gap > .zero && now - lookedAt >= schedule.gap
            if isBehindGap || missed { next = min(next, now + schedule.afterGap) }
            // A clock that was set back must not delay the next run.
            if schedule.interval > .zero {
                next = min(next, now + max(schedule.interval, .hours(24)))
            }
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
                // One purchase without an answer must not delay the runs for the others.
                let longest = min(schedule.interval, BackfillSchedule.longestRetry)
                let limit = longest > .zero ? longest : BackfillSchedule.longestRetry
                stops += 1
                next = max(now + min(wait, limit), stop.retryAt ?? now)
            }
        }
    }
}
