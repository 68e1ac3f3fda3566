import Testing
import TideoverHTTP
import TideoverHTTPServer
import TideoverLocks

/// Runs a test with a separate server, and stops it.
func withServer<T>(
    _ limits: HTTPServerLimits = HTTPServerLimits(),
    report: @escaping FailureReport = { error, _, _ in Issue.record("reported: \(error)") },
    handler: @escaping Handler,
    _ body: (HTTPServer) async throws -> T
) async throws -> T {
    let server = try HTTPServer(port: 0, limits: limits, report: report, handler: handler)
    do {
        let result = try await body(server)
        await server.stop(within: .seconds(5))
        return result
    } catch {
        await server.stop(within: .zero)
        throw error
    }
}

/// Responds with the content of the request, without suspending.
let echo: Handler = { request in
    var words = [request.method, request.path]
    words += request.query.map { "\($0.name)=\($0.value)" }
    if !request.body.isEmpty {
        words.append(String(decoding: request.body.prefix(64), as: UTF8.self))
    }
    return .text(words.joined(separator: " "))
}

/// Responds with the length of the body.
let measure: Handler = { request in .text("\(request.body.count)") }

extension Response {
    var text: String { String(decoding: body, as: UTF8.self) }

    /// The last part of the problem's type; nil if the response is not a problem document.
    var problem: String? {
        let start = #"{"type":"/problems/"#
        guard headers["Content-Type"] == "application/problem+json", text.hasPrefix(start),
            text.contains(#""status":\#(status)"#)
        else { return nil }
        return String(text.dropFirst(start.count).prefix { $0 != "\"" })
    }
}

/// Blocks handlers until the test opens it, or until they are cancelled.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
        var arrivals = 0
        var cancelled = 0
    }

    private let state = Locked(State())

    /// The number of handlers that arrived so far.
    var arrivals: Int { state.withLock { $0.arrivals } }
    /// The number of handlers that were cancelled while they waited.
    var cancelled: Int { state.withLock { $0.cancelled } }

    func pass() async throws {
        let number = state.withLock { state in
            state.arrivals += 1
            return state.arrivals
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let settled: Result<Void, any Error>? = state.withLock { state in
                    if state.isOpen { return .success(()) }
                    if Task.isCancelled {
                        state.cancelled += 1
                        return .failure(CancellationError())
                    }
                    state.waiting[number] = continuation
                    return nil
                }
                if let settled { continuation.resume(with: settled) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume() }
    }

    private func cancel(_ number: Int) {
        let continuation = state.withLock { state in
            let continuation = state.waiting.removeValue(forKey: number)
            if continuation != nil { state.cancelled += 1 }
            return continuation
        }
        continuation?.resume(throwing: CancellationError())
    }
}

/// Waits until a condition is true; returns false after a minute.
func eventually(_ holds: () -> Bool) async -> Bool {
    for _ in 0..<6_000 {
        if holds() { return true }
        try? await Task.sleep(for: .milliseconds(10))
    }
    return holds()
}

/// Starts a server on a port that stays free after the server stops. The system assigns ports from
/// 32768 to other connections and listeners.
func serverOnAPortOfItsOwn(_ handler: @escaping Handler) throws -> HTTPServer {
    var last = HTTPServerError.engineFailed
    for port in (20_000..<22_000).shuffled().prefix(50) {
        do {
            return try HTTPServer(port: port, handler: handler)
        } catch {
            last = error
        }
    }
    throw last
}
