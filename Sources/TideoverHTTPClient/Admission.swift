/// Which exchanges run and which wait for their turn, first come first served, except that an origin
/// with as many as it may have lets others pass.
package struct Admission<ID: Hashable> {
    /// What becomes of a newcomer.
    package enum Verdict: Hashable {
        case start, wait
        /// So many wait already.
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

    /// How many run.
    package var runningCount: Int { running.count }

    /// When the first of those that wait is out of time; nil if none waits.
    package var nextDeadline: ContinuousClock.Instant? { waiting.lazy.map(\.deadline).min() }

    /// Somebody wants to start.
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

    /// One that ran has ended. Who is to start then, `next` tells.
    package mutating func ended(_ id: ID) {
        guard let origin = running.removeValue(forKey: id) else { return }
        let left = (runningOfOrigin[origin] ?? 1) - 1
        runningOfOrigin[origin] = left > 0 ? left : nil
    }

    /// The first that waits and may start, which then runs; nil if there is none.
    package mutating func next() -> ID? {
        guard running.count < limits.exchanges,
            let index = waiting.firstIndex(where: { mayStart($0.origin) })
        else { return nil }
        let waiter = waiting.remove(at: index)
        start(waiter.id, waiter.origin)
        return waiter.id
    }

    /// Forgets one that waits; false if it does not.
    package mutating func withdrew(_ id: ID) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return false }
        waiting.remove(at: index)
        return true
    }

    /// Forgets those that wait and whose time is over, and tells who they were.
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
