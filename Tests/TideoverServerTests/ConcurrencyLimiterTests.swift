import Synchronization
import Testing
import TideoverServer

/// The queue of a gate, as a value.
@Suite struct ConcurrencyQueueTests {
    @Test func `work runs up to the limit, then waits, then is rejected`() {
        var order = ConcurrencyQueue<String>(WorkLimits(running: 2, waiting: 1))
        #expect([order.enter(), order.enter(), order.enter()] == [true, true, false])
        #expect([order.wait("anna", ticket: 1), order.wait("ben", ticket: 2)] == [true, false])
        #expect(order.running == 2)
        #expect(order.waiting.map(\.visitor) == ["anna"])
    }

    @Test func `finished work starts the first waiting work`() {
        var order = full(["anna", "ben", "cleo"])
        #expect([order.leave(), order.leave()] == ["anna", "ben"])
        #expect(order.running == 1)
        #expect([order.leave(), order.leave()] == ["cleo", nil])
        #expect(order.running == 0)
    }

    @Test func `cancelled work leaves the queue once`() {
        var order = full(["anna", "ben"])
        #expect([order.giveUp(ticket: 0), order.giveUp(ticket: 0)] == ["anna", nil])
        #expect([order.leave(), order.giveUp(ticket: 1)] == ["ben", nil])
    }

    /// Returns a queue with one running task, and these waiting with tickets from 0.
    private func full(_ names: [String]) -> ConcurrencyQueue<String> {
        var order = ConcurrencyQueue<String>(WorkLimits(running: 1, waiting: names.count))
        _ = order.enter()
        for (ticket, name) in names.enumerated() { _ = order.wait(name, ticket: ticket) }
        return order
    }
}

/// The gate with concurrent tasks.
@Suite(.timeLimit(.minutes(20))) struct ConcurrencyLimiterTests {
    @Test func `the gate bounds concurrent work and completes all of it`() async throws {
        let gate = ConcurrencyLimiter(WorkLimits(running: 3, waiting: 200))
        let load = Load()
        try await withThrowingTaskGroup { group in
            for _ in 0..<200 {
                group.addTask { try await gate.pass { await load.work() } }
            }
            try await group.waitForAll()
        }
        #expect(load.done.load(ordering: .relaxed) == 200)
        #expect((1...3).contains(load.most.load(ordering: .relaxed)))
        #expect(gate.isIdle)
    }

    /// Work that counts its maximum concurrency.
    private final class Load: Sendable {
        let inside = Atomic(0)
        let most = Atomic(0)
        let done = Atomic(0)

        func work() async {
            most.max(inside.wrappingAdd(1, ordering: .relaxed).newValue, ordering: .relaxed)
            await Task.yield()
            inside.wrappingSubtract(1, ordering: .relaxed)
            done.wrappingAdd(1, ordering: .relaxed)
        }
    }

    @Test func `a full queue rejects new work at once`() async throws {
        let gate = ConcurrencyLimiter(WorkLimits(running: 1, waiting: 1))
        let holder = Holder(gate)
        let waiter = Task { try await gate.pass { "done" } }
        try await gate.settles { $0.waiting == 1 }
        await #expect(throws: ConcurrencyLimiter.Full.self) { try await gate.pass {} }
        #expect(gate.reading.turnedAway == 1)
        try await holder.release()
        #expect(try await waiter.value == "done")
        #expect(gate.isIdle)
    }

    @Test func `cancelled work leaves the queue, and later work moves up`() async throws {
        let gate = ConcurrencyLimiter(WorkLimits(running: 1, waiting: 2))
        let holder = Holder(gate)
        let first = Task { try await gate.pass {} }
        try await gate.settles { $0.waiting == 1 }
        let second = Task { try await gate.pass { "second" } }
        try await gate.settles { $0.waiting == 2 }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(gate.reading.waiting == 1)
        try await holder.release()
        #expect(try await second.value == "second")
        #expect(gate.isIdle)
    }

    @Test func `work cancelled before it waits does not wait`() async throws {
        let gate = ConcurrencyLimiter(WorkLimits(running: 1, waiting: 1))
        let holder = Holder(gate)
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            try await gate.pass {}
        }
        late.cancel()
        await #expect(throws: CancellationError.self) { try await late.value }
        try await holder.release()
        #expect(gate.isIdle)
    }

    @Test func `failed work releases its slot`() async throws {
        struct Failure: Error {}
        let gate = ConcurrencyLimiter(WorkLimits(running: 1, waiting: 0))
        for _ in 0..<3 {
            await #expect(throws: Failure.self) { try await gate.pass { throw Failure() } }
        }
        #expect(gate.isIdle)
    }

    @Test func `many cancellations leave no slot occupied`() async throws {
        let gate = ConcurrencyLimiter(WorkLimits(running: 2, waiting: 20))
        await withTaskGroup { group in
            for number in 0..<400 {
                group.addTask {
                    let task = Task {
                        try await gate.pass { for _ in 0..<(number % 5) { await Task.yield() } }
                    }
                    for _ in 0..<(number % 3) { await Task.yield() }
                    if number.isMultiple(of: 2) { task.cancel() }
                    _ = await task.result
                }
            }
        }
        #expect(gate.isIdle)
        #expect(try await gate.pass { "open" } == "open")
    }
}

/// A task that occupies a gate until it is released.
struct Holder {
    private let order: AsyncStream<Void>.Continuation
    private let task: Task<Void, any Error>

    init(_ gate: ConcurrencyLimiter) {
        let (orders, order) = AsyncStream<Void>.makeStream()
        self.order = order
        task = .immediate { try await gate.pass { for await _ in orders {} } }
    }

    func release() async throws {
        order.finish()
        try await task.value
    }
}

extension ConcurrencyLimiter {
    var isIdle: Bool { reading.running == 0 && reading.waiting == 0 }

    /// Returns once the gate is as expected; the suite's time limit ends an unsuccessful wait.
    func settles(
        _ isAsExpected: ((running: Int, waiting: Int, turnedAway: Int)) -> Bool
    ) async throws {
        while !isAsExpected(reading) { try await Task.sleep(for: .milliseconds(1)) }
    }
}
