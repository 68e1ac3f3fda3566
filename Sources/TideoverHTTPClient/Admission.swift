/// Schedules exchanges: they run in order of arrival, but those of an origin at its limit wait
/// while others run.
package struct Admission<ID: Hashable> {
    /// The result for a new exchange.
    package enum Verdict: Hashable {
        case start, wait
        /// The queue is full.
        case refuse(waiting: Int)
    }

    private struct Waiter {
        let id: ID
        let origin: String
        let deadline: ContinuousClock.Instant
    }

    private let limits: HTTPClientLimits
    private var running: [ID: String] = [:]
    private var runningOfOrigin: [String: Int] = [:]
    private var waiting: [Waiter] = []

    package init(_ limits: HTTPClientLimits) { self.limits = limits }

    /// The number of running exchanges.
    package var runningCount: Int { running.count }

    /// The earliest deadline of a waiting exchange; nil if none waits.
    package var nextDeadline: ContinuousClock.Instant? { waiting.lazy.map(\.deadline).min() }

    /// Registers a new exchange.
    package mutating func arrived(
        _ id: ID,
        origin: String,
        deadline: ContinuousClock.Instant
    ) -> Verdict {
        if mayStart(origin) {
            start(id, origin)
            return .start
        }
        guard waiting.count < limits.waiting else { return .refuse(waiting: waiting.count) }
        waiting.append(Waiter(id: id, origin: origin, deadline: deadline))
        return .wait
    }

    /// Records that an exchange ended. Call `next` for the exchanges that can then start.
    package mutating func ended(_ id: ID) {
        guard let origin = running.removeValue(forKey: id) else { return }
        let left = (runningOfOrigin[origin] ?? 1) - 1
        runningOfOrigin[origin] = left > 0 ? left : nil
    }

    /// Starts the first waiting exchange that may run and returns it; nil if there is none.
    package mutating func next() -> ID? {
        guard running.count < limits.exchanges,
            let index = waiting.firstIndex(where: { mayStart($0.origin) })
        else { return nil }
        let waiter = waiting.remove(at: index)
        start(waiter.id, waiter.origin)
        return waiter.id
    }

    /// Removes a waiting exchange; returns false if it is not waiting.
    package mutating func withdrew(_ id: ID) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return false }
        waiting.remove(at: index)
        return true
    }

    /// Removes the waiting exchanges with a past deadline and returns them.
    package mutating func expired(at now: ContinuousClock.Instant) -> [ID] {
        let over = waiting.filter { $0.deadline <= now }
        if !over.isEmpty { waiting.removeAll { $0.deadline <= now } }
        return over.map(\.id)
    }

    private func mayStart(_ origin: String) -> Bool {
        running.count < limits.exchanges
            && runningOfOrigin[origin, default: 0] < limits.exchangesPerOrigin
    }

    private mutating func start(_ id: ID, _ origin: String) {
        running[id] = origin
        runningOfOrigin[origin, default: 0] += 1
    }
}
