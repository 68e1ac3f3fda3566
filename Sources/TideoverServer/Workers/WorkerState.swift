/// The state of one worker. Times are nanoseconds of a monotonic clock.
struct WorkerState: Hashable, Sendable {
    enum Condition: String, CaseIterable, Sendable {
        case running
        /// It ended by an error, and has not completed a round since.
        case failing
        /// Its round takes longer than one may.
        case stuck
    }

    /// When the current round began; nil during a pause.
    private(set) var roundBegan: Int64?
    private(set) var failingSince: Int64?

    init() {}

    mutating func began(at now: Int64) { roundBegan = now }

    mutating func completed() {
        roundBegan = nil
        failingSince = nil
    }

    mutating func failed(at now: Int64) {
        roundBegan = nil
        failingSince = failingSince ?? now
    }

    /// Returns the condition, and since when the worker has it unless it is running.
    func condition(
        at now: Int64,
        longestRound: Int64
    ) -> (condition: Condition, since: Int64) {
        if let roundBegan, now - roundBegan > longestRound { return (.stuck, roundBegan) }
        if let failingSince { return (.failing, failingSince) }
        return (.running, now)
    }
}
