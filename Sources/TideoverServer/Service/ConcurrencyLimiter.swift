import TideoverLocks

/// The limits on concurrent and waiting work of one kind.
package struct WorkLimits: Hashable, Sendable {
    /// The maximum number of concurrent tasks.
    package var running: Int
    /// The maximum number of waiting tasks; further ones are rejected.
    package var waiting: Int

    package init(running: Int = 2, waiting: Int = 256) {
        precondition(running > 0 && waiting >= 0, "work that may never run would wait for ever")
        self.running = running
        self.waiting = waiting
    }
}

/// The state of a gate: the number of running tasks and the queue of waiting ones, in order of
/// arrival.
///
/// Each function records an event and returns the action for the caller.
package struct ConcurrencyQueue<Visitor> {
    package let limits: WorkLimits
    package private(set) var running = 0
    /// The waiting tasks, by increasing ticket.
    package private(set) var waiting: [(ticket: Int, visitor: Visitor)] = []

    package init(_ limits: WorkLimits) { self.limits = limits }

    /// Records an arrival, and returns whether it may run at once.
    package mutating func enter() -> Bool {
        guard running < limits.running else { return false }
        running += 1
        return true
    }

    /// Adds a task to the queue; false if the queue is full.
    package mutating func wait(_ visitor: Visitor, ticket: Int) -> Bool {
        guard waiting.count < limits.waiting else { return false }
        waiting.append((ticket, visitor))
        return true
    }

    /// Records that a task ended, and returns the next one to run.
    package mutating func leave() -> Visitor? {
        precondition(running > 0, "only who is inside can leave")
        guard !waiting.isEmpty else {
            running -= 1
            return nil
        }
        return waiting.removeFirst().visitor
    }

    /// Removes a waiting task; nil if it no longer waits.
    package mutating func giveUp(ticket: Int) -> Visitor? {
        guard let index = waiting.firstIndex(where: { $0.ticket == ticket }) else { return nil }
        return waiting.remove(at: index).visitor
    }
}

/// Limits the number of tasks that run and that wait, without occupying a thread for waiting tasks.
package final class ConcurrencyLimiter: Sendable {
    /// Thrown if the queue is full.
    package struct Full: Error {}

    private typealias Visitor = CheckedContinuation<Void, any Error>

    private struct State {
        var order: ConcurrencyQueue<Visitor>
        var latestTicket = 0
        var turnedAway = 0
    }

    private let state: Locked<State>

    package init(_ limits: WorkLimits) {
        state = Locked(State(order: ConcurrencyQueue(limits)))
    }

    /// Runs `work` once there is capacity for it.
    ///
    /// - Throws: `Full` if the queue is full, `CancellationError` if cancelled while waiting, and
    ///   the errors of `work`.
    package func pass<Answer>(_ work: () async throws -> Answer) async throws -> Answer {
        try await enter()
        defer { leave() }
        return try await work()
    }

    /// The current numbers of running and waiting tasks, and of those rejected since the start.
    package var reading: (running: Int, waiting: Int, turnedAway: Int) {
        state.withLock { ($0.order.running, $0.order.waiting.count, $0.turnedAway) }
    }

    private func enter() async throws {
        let ticket: Int? = state.withLock { state in
            if state.order.enter() { return nil }
            state.latestTicket += 1
            return state.latestTicket
        }
        if let ticket { try await wait(ticket) }
    }

    private func wait(_ ticket: Int) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { visitor in
                admit(visitor, ticket)?.tell(visitor)
            }
        } onCancel: {
            state.withLock { $0.order.giveUp(ticket: ticket) }?
                .resume(throwing: CancellationError())
        }
    }

    private enum Admission {
        case inside, turnedAway, cancelled

        func tell(_ visitor: Visitor) {
            switch self {
            case .inside: visitor.resume()
            case .turnedAway: visitor.resume(throwing: Full())
            case .cancelled: visitor.resume(throwing: CancellationError())
            }
        }
    }

    /// Returns nil if the task now waits. Capacity may have become free since the ticket was taken.
    private func admit(_ visitor: Visitor, _ ticket: Int) -> Admission? {
        state.withLock { state in
            // Under the lock: an earlier cancellation is seen here, and a later one finds the
            // ticket in the queue.
            if Task.isCancelled { return .cancelled }
            if state.order.enter() { return .inside }
            if state.order.wait(visitor, ticket: ticket) { return nil }
            state.turnedAway += 1
            return .turnedAway
        }
    }

    private func leave() {
        state.withLock { $0.order.leave() }?.resume()
    }
}
