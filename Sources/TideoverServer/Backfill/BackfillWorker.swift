public import TideoverCore

/// When the stores are asked for what has not arrived by itself.
public struct BackfillSchedule: Hashable, Sendable {
    /// From the end of one run to the next.
    public var every: Milliseconds
    /// How far the clock may leap, or how long notifications may fail, before there was a gap.
    public var gap: Milliseconds
    /// How soon a run that stopped is taken up again; doubled each time it stops again.
    public var retry: Milliseconds
    /// How often it is looked whether a run is due.
    public var look: Duration

    public init(
        every: Milliseconds = .hours(6),
        gap: Milliseconds = .minutes(15),
        retry: Milliseconds = .minutes(1),
        look: Duration = .seconds(1)
    ) {
        self.every = every
        self.gap = gap
        self.retry = retry
        self.look = look
    }
}

/// Has one backfiller run when it is due: at the start, by the schedule, when somebody wants it, and
/// after a gap in which notifications may have been missed.
struct BackfillWorker: Sendable {
    let backfiller: Backfiller
    let schedule: BackfillSchedule

    /// Runs until cancelled.
    func run() async {
        let timing = backfiller.timing
        var plan = Plan(now: timing.clock(), failures: failedNotifications, schedule)
        while !Task.isCancelled {
            plan.look(at: timing.clock(), failures: failedNotifications)
            if plan.isDue || backfiller.isWanted, let report = await backfiller.run() {
                plan.ended(report, at: timing.clock())
            }
            do { try await timing.sleep(schedule.look) } catch { return }
        }
    }

    /// Notifications that we could not take in: each is a gap of our own making.
    private var failedNotifications: Int {
        backfiller.ingest.metrics.value(.notifications, backfiller.app.id, "failed")
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
            if now - lookedAt >= schedule.gap { next = min(next, now) }
            if failures > self.failures { next = min(next, now + schedule.retry) }
            // A clock that was put back must not put off the next run.
            next = min(next, now + max(schedule.every, .hours(24)))
            self.failures = failures
            lookedAt = now
            isDue = now >= next
        }

        mutating func ended(_ report: BackfillReport, at now: Instant) {
            lookedAt = now
            switch report.outcome {
            case .running, .completed:
                stops = 0
                next = now + schedule.every
            case .stopped(let stop):
                let wait = Milliseconds(schedule.retry.count << min(stops, 16))
                stops += 1
                next = max(now + min(wait, schedule.every), stop.retryAt ?? now)
            }
        }
    }
}
