import Testing
import TideoverHTTP
import TideoverHTTPServer
import TideoverLocks

/// Runs a test against a server of its own, and stops it.
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

/// Says what it was asked, without suspending.
let echo: Handler = { request in
    var words = [request.method, request.path]
    words += request.query.map { "\($0.name)=\($0.value)" }
    if !request.body.isEmpty {
        words.append(String(decoding: request.body.prefix(64), as: UTF8.self))
    }
    return .text(words.joined(separator: " "))
}

/// Says how long the body was.
let measure: Handler = { request in .text("\(request.body.count)") }

extension Response {
    var text: String { String(decoding: body, as: UTF8.self) }

    /// The last part of the problem's type; nil if the answer is no problem document.
    var problem: String? {
        let start = #"{"type":"/problems/"#
        guard headers["Content-Type"] == "application/problem+json", text.hasPrefix(start),
            text.contains(#""status":\#(status)"#)
        else { return nil }
        return String(text.dropFirst(start.count).prefix { $0 != "\"" })
    }
}

/// A place where handlers wait until the test lets them go on, or until they are cancelled.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
        var arrivals = 0
        var cancelled = 0
    }

    private let state = Locked(State())

    /// How many have come so far.
    var arrivals: Int { state.withLock { $0.arrivals } }
    /// How many were cancelled while they waited.
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

/// Waits until something holds; false if it does not within ten seconds.
func eventually(_ holds: () -> Bool) async -> Bool {
    for _ in 0..<1000 {
        if holds() { return true }
        try? await Task.sleep(for: .milliseconds(10))
    }
    return holds()
}

/// A server on a port that stays free once the server has stopped: from 32768 on the system gives ports
/// to whoever connects or listens next.
func serverOnAPortOfItsOwn(_ handler: @escaping Handler) throws -> HTTPServer {
    var last = HTTPServerError.engineFailed
    for port in (20_000..<30_000).shuffled().prefix(50) {
        do {
            return try HTTPServer(port: port, handler: handler)
        } catch {
            last = error
        }
    }
    throw last
}
