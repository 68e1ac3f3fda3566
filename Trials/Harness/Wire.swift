import Glibc
import TideoverHTTP

/// Creates a connection to the server.
typealias Connect = @Sendable () throws -> Wire

/// A blocking connection to the server, for one thread. It sends arbitrary bytes, so that it can
/// also violate HTTP.
final class Wire {
    /// The connection is unusable.
    enum Broken: Error, Hashable {
        /// The server closed it before the end of a response.
        case closed
        /// No response in time.
        case silent
        /// The system's error code.
        case system(Int32)
    }

    let socket: Int32
    private var buffer: [UInt8] = []

    /// The default address of a server under trial.
    static let loopback = "127.0.0.1"

    /// Connects to a port of this machine, at one of its addresses and optionally from another.
    /// Every wait ends after `patience` seconds.
    init(
        _ port: Int,
        at address: String = loopback,
        from source: String? = nil,
        patience: Int = 10
    ) throws(Broken) {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var limit = timeval(tv_sec: patience, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(socket, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        var on: Int32 = 1
        setsockopt(
            socket,
            Int32(IPPROTO_TCP),
            TCP_NODELAY,
            &on,
            socklen_t(MemoryLayout<Int32>.size)
        )
        if let source {
            let isBound = Self.with(source, port: 0) { Glibc.bind(socket, $0, $1) } == 0
            guard isBound else { throw Self.failure }
        }
        let isConnected = Self.with(address, port: port) { Glibc.connect(socket, $0, $1) } == 0
        guard isConnected else { throw Self.failure }
    }

    deinit { close(socket) }

    private static func with(
        _ address: String,
        port: Int,
        _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var end = sockaddr_in()
        end.sin_family = sa_family_t(AF_INET)
        end.sin_port = in_port_t(port).bigEndian
        inet_pton(AF_INET, address, &end.sin_addr)
        return withUnsafePointer(to: &end) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                call($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private static var failure: Broken {
        switch errno {
        case EAGAIN, EINPROGRESS: .silent
        case ECONNRESET, EPIPE: .closed
        default: .system(errno)
        }
    }

    // MARK: Whole exchanges

    func get(_ target: String, key: String? = nil) throws(Broken) -> Response {
        try send(Self.request("GET", target, key: key))
        return try response()
    }

    func post(
        _ body: [UInt8],
        to target: String,
        key: String? = nil
    ) throws(Broken) -> Response {
        try send(Self.request("POST", target, body: body, key: key))
        return try response()
    }

    /// Returns a valid HTTP request, with a key if one is given.
    static func request(
        _ method: String,
        _ target: String,
        body: [UInt8] = [],
        key: String? = nil
    ) -> [UInt8] {
        var fields =
            body.isEmpty
            ? "" : "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n"
        if let key { fields += "Authorization: Bearer \(key)\r\n" }
        return Array("\(method) \(target) HTTP/1.1\r\nHost: trial\r\n\(fields)\r\n".utf8) + body
    }

    // MARK: Bytes

    func send(_ bytes: [UInt8]) throws(Broken) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Self.failure }
            rest = rest.dropFirst(count)
        }
    }

    /// Sends the bytes that fit without waiting. Returns false once the other side has closed.
    func sendAtOnce(_ bytes: [UInt8]) -> Bool {
        let count = Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        return count >= 0 || errno == EAGAIN
    }

    /// Closes the sending half.
    func finishSending() { shutdown(socket, Int32(SHUT_WR)) }

    func response() throws(Broken) -> Response {
        while true {
            if let response = takeResponse() { return response }
            guard try receive(0) else { throw .closed }
        }
    }

    /// Returns the response that has arrived; nil if it is incomplete. Does not wait.
    func responseAtOnce() throws(Broken) -> Response? {
        while true {
            if let response = takeResponse() { return response }
            do throws(Broken) {
                guard try receive(Int32(MSG_DONTWAIT)) else { throw Broken.closed }
            } catch {
                guard error == .silent else { throw error }
                return nil
            }
        }
    }

    /// Waits, and returns whether the server closes the connection. Ignores all data before that.
    func isEnded() -> Bool {
        while true {
            do throws(Broken) {
                guard try receive(0) else { return true }
                buffer = []
            } catch {
                return error == .closed
            }
        }
    }

    /// Receives bytes. Returns false at the end of the server's data.
    private func receive(_ flags: Int32) throws(Broken) -> Bool {
        var piece = [UInt8](repeating: 0, count: 16 * 1024)
        let count = recv(socket, &piece, piece.count, flags)
        guard count >= 0 else { throw Self.failure }
        buffer += piece.prefix(count)
        return count > 0
    }

    private func takeResponse() -> Response? {
        guard let end = Self.endOfHead(buffer) else { return nil }
        let lines = String(decoding: buffer[..<end], as: UTF8.self).split(separator: "\r\n")
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        var headers: Headers = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ": ", maxSplits: 1).map(String.init)
            headers.append(parts[0], parts.count > 1 ? parts[1] : "")
        }
        let length = headers["Content-Length"].flatMap { Int($0) } ?? 0
        guard buffer.count >= end + length else { return nil }
        defer { buffer.removeFirst(end + length) }
        return Response(
            status: status ?? 0,
            headers: headers,
            body: Array(buffer[end..<(end + length)])
        )
    }

    /// After the empty line.
    private static func endOfHead(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        let mark: [UInt8] = [13, 10, 13, 10]
        return (0...(bytes.count - 4)).first { bytes[$0..<($0 + 4)].elementsEqual(mark) }
            .map { $0 + 4 }
    }
}

extension Response {
    /// The name of the problem in the response; nil if it is not one.
    var problem: String? {
        guard headers["Content-Type"] == "application/problem+json" else { return nil }
        let prefix = "\"type\":\"/problems/"
        let text = String(decoding: body, as: UTF8.self)
        guard let start = text.firstRange(of: prefix) else { return nil }
        return String(text[start.upperBound...].prefix { $0 != "\"" })
    }

    /// Whether the body contains this text.
    func says(_ words: String) -> Bool {
        String(decoding: body, as: UTF8.self).contains(words)
    }
}
