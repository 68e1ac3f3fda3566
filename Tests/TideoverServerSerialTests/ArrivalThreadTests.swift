import Foundation
import Testing
import TideoverHTTP
import TideoverServer

@testable import TideoverTestServer

/// A socket server starts the handlers of reads on the one thread that serves all connections. It
/// starts no others there, so notifications are verified where they start (`ServingTests`).
@Suite(.timeLimit(.minutes(20))) struct ArrivalThreadTests {
    /// Returns whether a request that arrives on a new thread is also answered there.
    private func staysOnItsThread(_ request: Request, _ handler: @escaping Handler) async -> Bool {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let arrival = pthread_self()
                // Keep the thread alive, because the id of an ended thread could be reused.
                let isDone = DispatchSemaphore(value: 0)
                Task.immediate {
                    _ = try? await handler(request)
                    continuation.resume(returning: pthread_equal(arrival, pthread_self()) != 0)
                    isDone.signal()
                }
                isDone.wait()
            }
        }
    }

    private func get(_ path: String) -> Request {
        let query = [QueryItem(name: "environment", value: "sandbox")]
        return Request(path: path, query: query, headers: TestServer.credentials)
    }

    /// Returns whether the work for a request runs on another thread. If it ends before the caller
    /// awaits it, the answer still returns on the arrival thread; therefore several attempts are
    /// made.
    private func leavesItsThread(_ request: Request, _ handler: @escaping Handler) async -> Bool {
        for _ in 0..<20 {
            if await !staysOnItsThread(request, handler) { return true }
        }
        return false
    }

    @Test func `an explanation leaves the thread`() async throws {
        let server = try TestServer()
        #expect(try await server.post(.purchase()).status == 200)
        let request = get("/v1/apps/cards/customers/\(TestServer.anna)/explain")
        #expect(await leavesItsThread(request, server.service.handler))
        await server.close()
    }

    @Test(arguments: ["/healthz", "/v1/apps/cards/customers/\(TestServer.anna)"])
    func `a read stays on the thread`(path: String) async throws {
        let server = try TestServer()
        #expect(try await server.post(.purchase()).status == 200)
        #expect(await staysOnItsThread(get(path), server.service.handler))
        await server.close()
    }
}
