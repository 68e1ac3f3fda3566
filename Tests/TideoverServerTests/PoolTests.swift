import Foundation
import Testing
import TideoverServer

@Suite struct PoolTests {
    /// The thread that reads sockets must be free for reads while a notification is verified.
    @Test func `long work leaves the thread whose task asked for it`() async throws {
        let (asking, working) = await withCheckedContinuation { answer in
            Thread.detachNewThread {
                let asking = pthread_self()
                let isDone = DispatchSemaphore(value: 0)
                Task.immediate {
                    let working = try await onPool { pthread_self() }
                    answer.resume(returning: (asking, working))
                    isDone.signal()
                }
                // A thread that had ended could give its name to the one that works.
                isDone.wait()
            }
        }
        #expect(asking != working)
    }
}
