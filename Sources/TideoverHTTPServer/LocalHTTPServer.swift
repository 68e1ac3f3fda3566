import Glibc
package import TideoverHTTP

/// Serves a handler on a Unix socket, for processes of the same user and of root only.
///
/// The socket's file has mode 0600, and the kernel reports the connecting user. Everything else is
/// as in `HTTPServer`.
package final class LocalHTTPServer: Sendable {
    /// The path of the socket.
    package let path: String

    private let order: StopOrder

    /// Listens at a path of at most 107 bytes and serves until stopped. A socket left by a killed
    /// process is replaced.
    ///
    /// - Throws: The reason why the server cannot listen there.
    package init(
        socket path: String,
        report: @escaping FailureReport = { _, _, _ in },
        handler: @escaping Handler
    ) throws(HTTPServerError) {
        signal(SIGPIPE, SIG_IGN)
        var limits = HTTPServerLimits()
        limits.connections = 32
        let waker = try Waker()
        let core = ServerCore(
            limits: limits,
            waker: waker,
            executor: nil,
            rejection: { problem, _ in problem.response },
            handler: HTTPServer.total(handler, report: report)
        )
        order = StopOrder(waker: waker)
        self.path = path
        let listener = try Listener(socket: path)
        guard let engine = Engine(core) else { throw .engineFailed }
        let reaper = ConnectionReaper(core: core, listener: listener, engine: engine, order: order)
        try ConnectionReaperThread.start(reaper)
    }

    deinit { order.give(deadline: .now) }

    /// Removes the socket, lets running exchanges finish, and closes.
    package func stop(within patience: Duration = .seconds(10)) async {
        unlink(path)
        order.give(deadline: .now + patience)
        await order.fulfilment()
    }
}
