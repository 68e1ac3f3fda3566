import Glibc
import Testing
import TideoverLocks

/// Threads for tasks that block.
@Suite struct TaskThreadsTests {
    /// Lets blocked tasks continue.
    private final class Gate: Sendable {
        private let isOpen = ConditionLock(false)
        private let arrived = ConditionLock(0)

        func pass() {
            arrived.update { $0 += 1 }
            _ = isOpen.wait { $0 ? true : nil }
        }

        func awaitArrivals(_ count: Int) { _ = arrived.wait { $0 >= count ? true : nil } }

        func open() { isOpen.update { $0 = true } }
    }

    /// Many rounds: a thread that has just taken a task must not count as idle for the next one.
    @Test func `tasks run while more than there are processors block`() async throws {
        for _ in 0..<300 {
            let threads = try TaskThreads(most: 16)
            let gate = Gate()
            await withTaskGroup { group in
                for _ in 0..<15 { group.addTask { await threads.run { gate.pass() } } }
                let answer = await threads.run {
                    gate.awaitArrivals(15)
                    return 42
                }
                #expect(answer == 42)
                gate.open()
            }
            threads.close()
        }
    }

    @Test func `no more threads than allowed run tasks, and none is lost`() async throws {
        let threads = try TaskThreads(most: 3)
        let names = Locked<Set<pthread_t>>([])
        await withTaskGroup { group in
            for _ in 0..<200 {
                group.addTask {
                    await threads.run { names.withLock { _ = $0.insert(pthread_self()) } }
                }
            }
        }
        #expect((1...3).contains(names.withLock { $0.count }))
        threads.close()
    }

    /// A task that waits for something else while the pool is closed must still end.
    @Test(.timeLimit(.minutes(20)))
    func `a task continues after the threads have ended`() async throws {
        let threads = try TaskThreads(most: 1)
        let ended = Locked(0)
        for _ in 0..<3 {
            await threads.run { ended.withLock { $0 += 1 } }
            threads.close()
            // The only thread leaves its last job, and ends.
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(ended.withLock { $0 } == 3)
    }

    @Test func `a task and its children stay on the threads after waiting`() async throws {
        let threads = try TaskThreads(most: 1)
        let names = Locked<Set<pthread_t>>([])
        await threads.run {
            names.withLock { _ = $0.insert(pthread_self()) }
            try? await Task.sleep(for: .milliseconds(1))
            names.withLock { _ = $0.insert(pthread_self()) }
            async let child: Void = names.withLock { _ = $0.insert(pthread_self()) }
            await child
        }
        #expect(names.withLock { $0.count } == 1)
        threads.close()
    }
}
