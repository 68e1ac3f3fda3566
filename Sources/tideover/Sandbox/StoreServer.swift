import TideoverCommandLine
import TideoverCore
import TideoverHTTP
import TideoverHTTPServer
import TideoverJSON
import TideoverLocks
import TideoverSandbox

/// Serves the simulated stores to back ends over HTTP, at one address. The paths are disjoint: the
/// clock, the App Store's root certificate and Server API, and all of Google.
final class StoreServer: Sendable {
    /// A handler that is tried before the stores; it returns nil for requests that are not its own.
    typealias Counter = @Sendable (Request) async throws -> Response?

    private struct Stock {
        var counter: Counter?
        var appStore: Handler?
        var google: Handler?
        /// In milliseconds since 1970.
        var now: Int64 = 0
        var server: HTTPServer?
    }

    private let stock = Locked(Stock())
    private let root: [UInt8]

    /// Creates a front without stores, with the stores' root certificate.
    init(root: [UInt8]) { self.root = root }

    // MARK: Stores

    /// Removes the stores before another scenario.
    func clear() {
        stock.withLock { ($0.appStore, $0.google, $0.now) = (nil, nil, 0) }
    }

    func meet(appStore: @escaping Handler) { stock.withLock { $0.appStore = appStore } }
    func meet(google: @escaping Handler) { stock.withLock { $0.google = google } }
    func add(_ counter: @escaping Counter) { stock.withLock { $0.counter = counter } }

    /// The stores' clock, in milliseconds since 1970.
    var now: Int64 { stock.withLock { $0.now } }
    func tell(_ now: Int64) { stock.withLock { $0.now = now } }

    // MARK: Answering

    var handler: Handler {
        { request in
            if let answer = try await self.stock.withLock({ $0.counter })?(request) {
                return answer
            }
            switch (request.method, request.path) {
            case ("GET", "/clock"): return self.clock()
            case ("GET", "/root.der"): return self.certificate()
            case (_, "/clock"), (_, "/root.der"): return Response(status: 405)
            default: break
            }
            guard let store = self.store(for: request) else { return Response(status: 503) }
            return try await store(request)
        }
    }

    private func clock() -> Response {
        .document(["now": .string(Instant(millisecondsSince1970: now).rfc3339)])
    }

    private func certificate() -> Response {
        Response(headers: ["Content-Type": "application/pkix-cert"], body: root)
    }

    /// Returns the handler for a request. Every path outside the App Store's is Google's.
    private func store(for request: Request) -> Handler? {
        stock.withLock { stock in
            guard let google = stock.google, !request.path.hasPrefix("/inApps/") else {
                return stock.appStore
            }
            return google
        }
    }

    // MARK: On a socket

    /// The URL of the server, such as `http://127.0.0.1:9090`; nil while it does not listen.
    var url: String? { stock.withLock { $0.server }.map { "http://\($0.address)" } }

    /// Starts to listen at an address, unless it listens already.
    func listen(at address: ListenAddress, otherwise advice: String) throws(CommandFailure) {
        guard stock.withLock({ $0.server }) == nil else { return }
        let (loopbackGuard, answer) = (LoopbackGuard(listeningAt: address.host), handler)
        let server: HTTPServer
        do {
            server = try HTTPServer(address: address.host, port: address.port) { request in
                if let refusal = loopbackGuard?.refusal(of: request) {
                    return .document(["fault": .string(refusal)], status: 403)
                }
                return try await answer(request)
            }
        } catch {
            throw CommandFailure(.unavailable, "cannot serve: \(error)\n\(advice)")
        }
        stock.withLock { $0.server = server }
    }

    /// Stops the server and releases the stores.
    func close() async {
        let server = stock.withLock { stock in
            defer { stock = Stock() }
            return stock.server
        }
        await server?.stop()
    }
}

extension Response {
    /// Creates a JSON response, with a final line break for readers at a terminal.
    static func document(_ value: JSONValue, status: Int = 200) -> Response {
        Response(
            status: status,
            headers: ["Content-Type": "application/json"],
            body: value.encoded() + [UInt8(ascii: "\n")]
        )
    }
}
