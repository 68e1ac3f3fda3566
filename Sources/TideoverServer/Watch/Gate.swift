import TideoverLocks

/// How much of one kind of work may be under way and how much may wait for it.
public struct WorkLimits: Hashable, Sendable {
    /// How many may work at the same time.
    public var running: Int
    /// How many more may wait; further ones are turned away.
    public var waiting: Int

    public init(running: Int = 2, waiting: Int = 256) {
        precondition(running > 0 && waiting >= 0, "work that may never run would wait for ever")
        self.running = running
        self.waiting = waiting
    }
}

/// The order at a gate: who is inside, and who waits, first come first served.
///
/// Each of the functions tells what happened and answers what the shell around it must do.
package struct GateOrder<Visitor> {
    package let limits: WorkLimits
    package private(set) var running = 0
    /// Those who wait, by ticket; tickets rise.
    package private(set) var waiting: [(ticket: Int, visitor: Visitor)] = []

    package init(_ limits: WorkLimits) { self.limits = limits }

    /// Whether the one who arrives is inside at once.
    package mutating func enter() -> Bool {
        guard running < limits.running else { return false }
        running += 1
        return true
    }

    /// The one who found no place inside waits; false when the queue is full, too.
    package mutating func wait(_ visitor: Visitor, ticket: Int) -> Bool {
        guard waiting.count < limits.waiting else { return false }
        waiting.append((ticket, visitor))
        return true
    }

    /// Somebody has left: who takes the place, if anybody waits.
    package mutating func leave() -> Visitor? {
        precondition(running > 0, "only who is inside can leave")
        guard !waiting.isEmpty else {
            running -= 1
            return nil
        }
        return waiting.removeFirst().visitor
    }

    /// Somebody gives up waiting; nil when he waits no longer.
    package mutating func giveUp(ticket: Int) -> Visitor? {
        guard let index = waiting.firstIndex(where: { $0.ticket == ticket }) else { return nil }
        return waiting.remove(at: index).visitor
    }
}

/// Lets a bounded number of tasks work at the same time and a bounded number wait, without keeping a
/// thread for any that waits.
package final class Gate: Sendable {
    /// Thrown to whoever finds the queue full.
    package struct Full: Error {}

    private typealias Visitor = CheckedContinuation<Void, any Error>

    private struct State {
        var order: GateOrder<Visitor>
        var latestTicket = 0
        var turnedAway = 0
    }

    private let state: Locked<State>

    package init(_ limits: WorkLimits) {
        state = Locked(State(order: GateOrder(limits)))
    }

    /// Runs `work` once there is a place for it.
    ///
    /// - Throws: `Full` when too many wait, `CancellationError` when cancelled while waiting, and
    ///   what `work` throws.
    package func pass<Answer>(_ work: () async throws -> Answer) async throws -> Answer {
        try await enter()
        defer { leave() }
        return try await work()
    }

    /// What the gate is doing now, and how many it has turned away since its start.
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

    /// Nil when the visitor now waits. A place may have become free since the ticket was drawn.
    private func admit(_ visitor: Visitor, _ ticket: Int) -> Admission? {
        state.withLock { state in
            // Under the lock: a cancellation that came before is seen here, one that comes later
            // finds the ticket in the queue.
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
