import Glibc
import Testing
import TideoverHTTP
import TideoverHTTPClient
import TideoverHTTPServer
import TideoverLocks

/// Creates a separate client for one test.
func client(_ change: (inout HTTPClientLimits) -> Void = { _ in }) throws -> HTTPClient {
    var limits = HTTPClientLimits()
    change(&limits)
    return try HTTPClient(userAgent: "tideover/test", limits: limits)
}

/// Returns a destination with long time limits, since the test machine may be busy.
func destination(
    _ url: String,
    _ addresses: AddressGuard = .any,
    _ change: (inout ExchangeLimits) -> Void = { _ in }
) throws -> Destination {
    var limits = ExchangeLimits()
    limits.connect = .seconds(60)
    limits.total = .seconds(120)
    change(&limits)
    return Destination(try HTTPURL(url), addresses: addresses, limits: limits)
}

/// Runs a test with a separate server, and stops it.
func withServer<T>(
    _ limits: HTTPServerLimits = HTTPServerLimits(),
    handler: @escaping Handler,
    _ body: (HTTPServer) async throws -> T
) async throws -> T {
    let server = try HTTPServer(port: 0, limits: limits, handler: handler)
    do {
        let result = try await body(server)
        await server.stop(within: .zero)
        return result
    } catch {
        await server.stop(within: .zero)
        throw error
    }
}

extension Response {
    var text: String { String(decoding: body, as: UTF8.self) }
}

extension HTTPServer {
    /// Returns the URL of a path on this server.
    func url(_ path: String = "/") -> String { "http://\(address)\(path)" }
}

/// A server of raw bytes on loopback, which can break HTTP's rules. Each connection has a thread.
final class RawPeer: Sendable {
    /// One connection; no operation blocks for more than a minute.
    struct Connection: Sendable {
        let socket: Int32

        /// Reads up to the end of a head.
        @discardableResult
        func readHead() -> String {
            var head: [UInt8] = []
            var byte: UInt8 = 0
            while !head.suffix(4).elementsEqual("\r\n\r\n".utf8), recv(socket, &byte, 1, 0) == 1 {
                head.append(byte)
            }
            return String(decoding: head, as: UTF8.self)
        }

        func write(_ text: String) {
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }

        /// Waits until the peer closes; returns false if it does not.
        func waitForEnd() -> Bool {
            var bytes = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = recv(socket, &bytes, bytes.count, 0)
                if count <= 0 { return count == 0 || errno == ECONNRESET }
            }
        }
    }

    /// A listening socket; the last user closes it, so `accept` never sees a reused descriptor.
    private final class Listener: Sendable {
        let socket: Int32

        init(_ socket: Int32) { self.socket = socket }

        deinit { close(socket) }
    }

    let port: Int
    private let listener: Listener
    private let taken = Locked(0)

    /// The number of connections so far.
    var connections: Int { taken.withLock { $0 } }

    init(_ serve: @escaping @Sendable (Connection) -> Void) throws {
        let (socket, port) = try Self.listen(backlog: 128)
        let listener = Listener(socket)
        self.listener = listener
        self.port = port
        let taken = taken
        onThread {
            while true {
                let connection = accept(listener.socket, nil, nil)
                guard connection >= 0 else { return }
                taken.withLock { $0 += 1 }
                var patience = timeval(tv_sec: 60, tv_usec: 0)
                for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
                    let size = socklen_t(MemoryLayout<timeval>.size)
                    setsockopt(connection, SOL_SOCKET, option, &patience, size)
                }
                onThread {
                    serve(Connection(socket: connection))
                    close(connection)
                }
            }
        }
    }

    /// Ends the accepting thread; the threads of connections end on their own.
    func stop() { shutdown(listener.socket, Int32(SHUT_RDWR)) }

    deinit { stop() }

    func url(_ path: String = "/", scheme: String = "http") -> String {
        "\(scheme)://127.0.0.1:\(port)\(path)"
    }

    struct Failure: Error { var code = errno }

    /// Creates a listening socket on a free port of loopback.
    static func listen(backlog: Int32) throws -> (socket: Int32, port: Int) {
        let (socket, port) = try bind()
        guard Glibc.listen(socket, backlog) == 0 else { throw Failure() }
        return (socket, port)
    }

    /// Creates a socket on a free port of loopback, which refuses connections until it listens.
    static func bind() throws -> (socket: Int32, port: Int) {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(socket, $0, length) | getsockname(socket, $0, &length)
            }
        }
        guard result == 0 else { throw Failure() }
        return (socket, Int(in_port_t(bigEndian: address.sin_port)))
    }
}

/// Runs blocking work on a separate thread: the cooperative pool must stay free for tasks.
func onThread(_ work: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let code = pthread_create(
        &thread,
        nil,
        { job in
            guard let job else { return nil }
            Unmanaged<Job>.fromOpaque(job).takeRetainedValue().work()
            return nil
        },
        Unmanaged.passRetained(Job(work)).toOpaque()
    )
    precondition(code == 0, "no thread for a peer")
    pthread_detach(thread)
}

private final class Job {
    let work: () -> Void
    init(_ work: @escaping () -> Void) { self.work = work }
}

/// Waits until a condition is true; returns false after a minute.
func eventually(_ holds: () -> Bool) async -> Bool {
    for _ in 0..<6_000 {
        if holds() { return true }
        try? await Task.sleep(for: .milliseconds(10))
    }
    return holds()
}
