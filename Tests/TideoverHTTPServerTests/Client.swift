import Glibc
import TideoverHTTP

/// A client that writes and reads raw bytes, so that it can break HTTP's rules. It blocks for up to
/// ten seconds, so use it inside `onThread`.
final class Client {
    struct Failure: Error {
        var call: String
        var code: Int32
    }

    /// The server closed the connection before a complete response.
    struct Closed: Error {}

    private let socket: Int32
    private var buffer: [UInt8] = []

    init(_ port: Int, host: String = "127.0.0.1", receiveBuffer: Int32? = nil) throws {
        let isIPv6 = host.contains(":")
        socket = Glibc.socket(isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var patience = timeval(tv_sec: 60, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            let size = socklen_t(MemoryLayout<timeval>.size)
            setsockopt(socket, SOL_SOCKET, option, &patience, size)
        }
        if var size = receiveBuffer { setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, 4) }
        let result = isIPv6 ? connect6(host, port) : connect4(host, port)
        guard result == 0 else { throw Failure(call: "connect", code: errno) }
    }

    deinit { close(socket) }

    private func connect4(_ host: String, _ port: Int) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private func connect6(_ host: String, _ port: Int) -> Int32 {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = in_port_t(port).bigEndian
        inet_pton(AF_INET6, host, &address.sin6_addr)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
            }
        }
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(call: "send", code: errno) }
            rest = rest.dropFirst(count)
        }
    }

    /// Sends a plain request with the given fields.
    func request(_ line: String, _ fields: [String] = [], body: String = "") throws {
        let lines = ["\(line) HTTP/1.1", "Host: x"] + fields
        try send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    /// Reads the next response; a response to HEAD has no body, regardless of its length.
    func response(toHEAD: Bool = false) throws -> Response {
        let head = try line(endingWith: "\r\n\r\n").split(separator: "\r\n")
        guard let status = head.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { throw Closed() }
        var headers: Headers = [:]
        for field in head.dropFirst() {
            let parts = field.split(separator: ": ", maxSplits: 1).map(String.init)
            headers.append(parts[0], parts.count > 1 ? parts[1] : "")
        }
        let length = headers["Content-Length"].flatMap { Int($0) } ?? 0
        let hasBody = !toHEAD && status != 204 && status != 304
        return Response(status: status, headers: headers, body: try take(hasBody ? length : 0))
    }

    /// Whether the server has closed the connection, with no bytes left to read.
    func isEnded() -> Bool {
        guard buffer.isEmpty else { return false }
        var byte: UInt8 = 0
        let count = recv(socket, &byte, 1, 0)
        return count == 0 || count < 0 && errno == ECONNRESET
    }

    /// Reads until the server closes the connection.
    func everything() -> String {
        while (try? fill()) != nil {}
        defer { buffer = [] }
        return String(decoding: buffer, as: UTF8.self)
    }

    /// Closes the sending half.
    func finishSending() { shutdown(socket, Int32(SHUT_WR)) }

    /// Resets the connection.
    func reset() {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        shutdown(socket, Int32(SHUT_RDWR))
    }

    private func take(_ count: Int) throws -> [UInt8] {
        while buffer.count < count { try fill() }
        defer { buffer.removeFirst(count) }
        return Array(buffer.prefix(count))
    }

    private func line(endingWith end: String) throws -> String {
        let mark = Array(end.utf8)
        while true {
            if buffer.count >= mark.count {
                for start in 0...(buffer.count - mark.count)
                where buffer[start..<(start + mark.count)].elementsEqual(mark) {
                    return String(decoding: try take(start + mark.count), as: UTF8.self)
                }
            }
            try fill()
        }
    }

    private func fill() throws {
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        let count = recv(socket, &piece, piece.count, 0)
        if count == 0 { throw Closed() }
        guard count > 0 else { throw Failure(call: "recv", code: errno) }
        buffer += piece.prefix(count)
    }
}

/// Runs blocking work on a separate thread: the cooperative pool must stay free for handlers.
func onThread<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
        let job = Job { continuation.resume(with: Result { try work() }) }
        var thread = pthread_t()
        let code = pthread_create(
            &thread,
            nil,
            { job in
                guard let job else { return nil }
                Unmanaged<Job>.fromOpaque(job).takeRetainedValue().work()
                return nil
            },
            Unmanaged.passRetained(job).toOpaque()
        )
        precondition(code == 0, "no thread for a client")
        pthread_detach(thread)
    }
}

private final class Job {
    let work: () -> Void
    init(_ work: @escaping () -> Void) { self.work = work }
}

/// Starts blocking work and returns a task for its result.
func onThreadLater<T: Sendable>(
    _ work: @escaping @Sendable () throws -> T
) -> Task<T, any Error> {
    Task { try await onThread(work) }
}

/// Pauses the calling thread for some milliseconds.
func usleepABit(_ milliseconds: UInt32 = 5) { usleep(milliseconds * 1000) }

/// Whether this machine's loopback supports IPv6.
let hasIPv6: Bool = {
    let socket = Glibc.socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_addr = in6addr_loopback
    let result = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
        }
    }
    return socket >= 0 && result == 0
}()
