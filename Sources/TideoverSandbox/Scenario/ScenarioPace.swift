/// The pace of a rehearsal for a back end that uses its own clock. The rehearsal begins now, a
/// month of the store has a chosen length, and nothing happens before its time on the clock.
/// Instants and durations are in milliseconds, instants since 1970.
public struct ScenarioPace: Sendable {
    /// A pause before the rehearsal continues.
    public struct Pause: Hashable, Sendable {
        /// The instant of the store that it waits for.
        public let until: Int64
        /// The length on the clock.
        public let length: Int64
    }

    private let month: Int64?
    private let clock: @Sendable () -> Int64
    private let sleep: @Sendable (_ milliseconds: Int64) async -> Void
    private let tell: @Sendable (Pause) -> Void

    /// Creates a pace with a clock.
    ///
    /// - Parameters:
    ///   - month: The length of a month of the store, 30 days. With nil, the store's dates are used
    ///     as they are written, and the clock must have reached them.
    ///   - clock: The back end's clock.
    ///   - sleep: Waits this long; less if the task is cancelled.
    ///   - tell: The function to call before each pause.
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

    /// Returns the length of a scenario, from its start to its last step.
    public func length(of scenario: Scenario) -> Int64 {
        guard let end = scenario.steps.last?.at else { return 0 }
        let dial = StoreTimeScale(from: scenario.start, at: 0, month: month ?? StoreTimeScale.month)
        return max(0, dial.shown(end))
    }

    /// Returns the dial of a rehearsal that begins now at an instant of the store.
    func dial(from start: Int64) -> StoreTimeScale {
        StoreTimeScale(
            from: start,
            at: month == nil ? start : clock(),
            month: month ?? StoreTimeScale.month,
            clock: clock
        )
    }

    /// Whether the store's time follows the clock from the start, instead of catching up with it.
    public var beginsNow: Bool { month != nil }

    /// Returns the last instant of the store that the clock has reached.
    func present(_ dial: StoreTimeScale) -> Int64 { dial.last(at: clock()) }

    /// Waits until the clock shows an instant of the store, or until the task is cancelled.
    func wait(until instant: Int64, _ dial: StoreTimeScale) async {
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

/// Why a simulated store that uses the back end's own clock rejects a request.
public struct AheadOfClock: Error, Hashable, Sendable, CustomStringConvertible {
    public var description: String {
        "the store goes by the clock here and does nothing ahead of it: leave `at` and `after` out, and let "
            + "the time pass; without --month and --clock wall it is the store's clock that counts"
    }
}
