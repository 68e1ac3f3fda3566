/// How a rehearsal takes its time for a back end that goes by a clock of its own: it begins now, a month of
/// the store takes as long as is chosen, and nothing happens before the clock shows its time. Instants and
/// lengths are in milliseconds, instants since 1970.
public struct ScenarioPace: Sendable {
    /// A pause before the rehearsal goes on.
    public struct Pause: Hashable, Sendable {
        /// Which instant of the store is waited for.
        public let until: Int64
        /// How long, by the clock.
        public let length: Int64
    }

    private let month: Int64?
    private let clock: @Sendable () -> Int64
    private let sleep: @Sendable (_ milliseconds: Int64) async -> Void
    private let tell: @Sendable (Pause) -> Void

    /// A pace by a clock.
    ///
    /// - Parameters:
    ///   - month: How long a month of the store, 30 days, takes; nil to have the store's dates as they are
    ///     written, which the clock must have reached.
    ///   - clock: What the back end's clock shows.
    ///   - sleep: Waits so long; less where the task is cancelled.
    ///   - tell: Told of each pause before it.
    public init(
        month: Int64?,
        clock: @escaping @Sendable () -> Int64,
        sleep: @escaping @Sendable (_ milliseconds: Int64) async -> Void,
        tell: @escaping @Sendable (Pause) -> Void = { _ in }
    ) {
        self.month = month
        self.clock = clock
        self.sleep = sleep
        self.tell = tell
    }

    /// How long a scenario takes, from its start to its last step.
    public func length(of scenario: Scenario) -> Int64 {
        guard let end = scenario.steps.last?.at else { return 0 }
        let dial = StoreDial(from: scenario.start, at: 0, month: month ?? StoreDial.month)
        return max(0, dial.shown(end))
    }

    /// The dial of a rehearsal that begins now at an instant of the store.
    func dial(from start: Int64) -> StoreDial {
        StoreDial(
            from: start,
            at: month == nil ? start : clock(),
            month: month ?? StoreDial.month,
            clock: clock
        )
    }

    /// Whether the store's time follows the clock from the beginning, rather than catch up with it.
    public var beginsNow: Bool { month != nil }

    /// The last instant of the store that the clock has reached.
    func present(_ dial: StoreDial) -> Int64 { dial.last(at: clock()) }

    /// Waits until the clock shows an instant of the store; not once the task is cancelled.
    func wait(until instant: Int64, _ dial: StoreDial) async {
        let due = dial.shown(instant)
        let length = due - clock()
        guard length > 0 else { return }
        tell(Pause(until: instant, length: length))
        while !Task.isCancelled {
            let rest = due - clock()
            guard rest > 0 else { return }
            await sleep(rest)
        }
    }
}

/// Why a simulated store whose clock is the back end's own does not do what it is told.
public struct AheadOfClock: Error, Hashable, Sendable, CustomStringConvertible {
    public var description: String {
        "the store goes by the clock here and does nothing ahead of it: leave `at` and `after` out, and let "
            + "the time pass; without --month and --clock wall it is the store's clock that counts"
    }
}
