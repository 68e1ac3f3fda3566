import Foundation
import Testing
import TideoverServer

@Suite(.timeLimit(.minutes(20))) struct PoolTests {
    /// The thread that reads sockets must stay free while a notification is verified.
    @Test func `long work leaves the thread that requested it`() async throws {
        for _ in 0..<500 { #expect(await leavesTheAskingThread()) }
    }

    private func leavesTheAskingThread() async -> Bool {
        await withCheckedContinuation { answer in
            Thread.detachNewThread {
                let asking = pthread_self()
                // Keep the thread alive, because the id of an ended thread could be reused.
                let isDone = DispatchSemaphore(value: 0)
                Task.immediate {
                    let working = try await onPool { pthread_self() }
                    answer.resume(returning: pthread_equal(asking, working) == 0)
                    isDone.signal()
                }
                isDone.wait()
            }
        }
    }
}
