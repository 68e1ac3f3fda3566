import Glibc
package import TideoverHTTP

/// Serves a handler on a socket: HTTP/1.1 without TLS, which a reverse proxy provides.
///
/// One thread does all input and output. The handler of a GET starts on it, so one that does not
/// suspend is answered at once. It must not block, and must do long work elsewhere. Handlers of
/// other methods run on the executor from the start. A handler that suspends keeps its connection
/// until it finishes. It is cancelled when its client disconnects or closes its sending half. HEAD
/// reaches the handler as GET. An error thrown by the handler is answered as a problem.
package final class HTTPServer: Sendable {
    /// Returns the response to a request that the server itself rejects, by the problem and the
    /// request's target as sent; the target is empty if none has arrived.
    package typealias Rejection = @Sendable (Problem, _ target: String) -> Response

    /// The server's address; never with port 0.
    package let address: ListenAddress

    private let core: ServerCore
    private let order: StopOrder

    /// Listens at an address of this machine and serves until stopped.
    ///
    /// - Parameters:
    ///   - address: An IPv4 or IPv6 literal; by default only this machine can connect.
    ///   - port: A port from 0 to 65,535; 0 selects any free one, which `port` then returns.
    ///   - limits: The limits of one client's use.
    ///   - executor: Runs the tasks of handlers; by default Swift's pool does.
    ///   - report: Receives every error that became a 500; must not block either.
    ///   - rejection: Returns the response to a rejected request; by default the problem's own.
    ///   - handler: Responds to each request.
    /// - Throws: The reason why the server cannot listen there.
    package init(
        address: String = "127.0.0.1",
        port: Int,
        limits: HTTPServerLimits = HTTPServerLimits(),
        executor: (any TaskExecutor)? = nil,
        report: @escaping FailureReport = { _, _, _ in },
        rejection: @escaping Rejection = { problem, _ in problem.response },
        handler: @escaping Handler
    ) throws(HTTPServerError) {
        precondition(limits.arePositive, "limits of a server are positive")
        // Writing to a disconnected client must return an error instead of ending the process.
        signal(SIGPIPE, SIG_IGN)
        var limits = limits
        limits.connections = OpenFiles.makeRoom(forConnections: limits.connections)
        let waker = try Waker()
        core = ServerCore(
            limits: limits,
            waker: waker,
            executor: executor,
            rejection: rejection,
            handler: Self.total(handler, report: report)
        )
        order = StopOrder(waker: waker)
        guard (0...65_535).contains(port) else { throw .notAPort(port) }
        guard let place = ListenAddress(host: address, port: port) else {
            throw .notAnAddress(address)
        }
        let listener = try Listener(place)
        self.address = listener.address ?? place
        guard let engine = Engine(core) else {
            throw .engineFailed
        }
        let reaper = ConnectionReaper(core: core, listener: listener, engine: engine, order: order)
        try ConnectionReaperThread.start(reaper)
    }

    deinit { order.give(deadline: .now) }

    /// The port on which the server listens.
    package var port: Int { address.port }

    /// The server's counters since its start.
    package var statistics: HTTPServerStatistics {
        core.counters.statistics(connectionsOpen: core.openConnectionCount)
    }

    /// Stops listening at once, lets running exchanges finish, and closes.
    ///
    /// Handlers that still run after `patience` are cancelled and have `limits.lastWord` to
    /// respond. Returns after all threads of the server have ended; further calls wait for that
    /// too.
    package func stop(within patience: Duration = .seconds(10)) async {
        order.give(deadline: .now + patience)
        await order.fulfilment()
    }

    /// Serves until the task is cancelled or the server stopped; returns once it has stopped.
    package func run(stoppingWithin patience: Duration = .seconds(10)) async {
        await withTaskCancellationHandler {
            await order.fulfilment()
        } onCancel: {
            order.give(deadline: .now + patience)
        }
    }

    /// Returns the handler with every error, and every invalid response, converted into a response.
    static func total(
        _ handler: @escaping Handler,
        report: @escaping FailureReport
    ) -> @Sendable (Request) async -> Response {
        { request in
            let response = await answer(
                to: request,
                requestID: randomRequestID,
                report: report,
                handler
            )
            do {
                try Reply.check(response)
                return response
            } catch {
                let id = randomRequestID()
                report(error, request, id)
                return Problem.internalError(requestID: id).response
            }
        }
    }
}
