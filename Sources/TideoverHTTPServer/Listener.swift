import CTideoverMicrohttpd
import Glibc
import TideoverHTTP

/// A listening socket, closed with this value; the kernel then resets the connections in its queue.
struct Listener: ~Copyable {
    let socket: Int32
    /// The address, never with port 0; nil for a Unix socket.
    let address: ListenAddress?

    /// Listens at an address.
    init(_ address: ListenAddress) throws(HTTPServerError) {
        let family = address.isIPv6 ? AF_INET6 : AF_INET
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let socket = Glibc.socket(family, type, 0)
        guard socket >= 0 else { throw .system(call: "socket", code: errno) }
        do {
            self.address = try Self.listen(socket, at: address)
        } catch {
            Glibc.close(socket)
            throw error
        }
        self.socket = socket
    }

    /// Listens at a path that only this process's user may open. An existing socket is replaced.
    init(socket path: String) throws(HTTPServerError) {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let socket = Glibc.socket(AF_UNIX, type, 0)
        guard socket >= 0 else { throw .system(call: "socket", code: errno) }
        do {
            try Self.listen(socket, at: path)
        } catch {
            Glibc.close(socket)
            throw error
        }
        self.socket = socket
        address = nil
    }

    /// Whether a connection is waiting.
    var hasWaiting: Bool {
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) > 0
    }

    /// Accepts the next waiting connection.
    func accept() -> Accepted {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let flags = Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let socket = withSocketAddress(&storage) { accept4(self.socket, $0, &length, flags) }
        guard socket >= 0 else { return Accepted(failure: errno) }
        guard address != nil || Self.isOurs(socket) else {
            Glibc.close(socket)
            return .lost
        }
        return .connection(socket: socket, address: storage, length: length)
    }

    deinit { Glibc.close(socket) }

    private static func listen(
        _ socket: Int32,
        at address: ListenAddress
    ) throws(HTTPServerError) -> ListenAddress {
        // Connections of a server that has just stopped must not block its port for the next one.
        setOption(socket, SOL_SOCKET, SO_REUSEADDR)
        if address.isIPv6 { setOption(socket, Int32(IPPROTO_IPV6), IPV6_V6ONLY) }
        var (storage, length) = address.storage
        guard withSocketAddress(&storage, { bind(socket, $0, length) }) == 0,
            Glibc.listen(socket, SOMAXCONN) == 0
        else { throw failure(errno, at: address) }
        guard withSocketAddress(&storage, { getsockname(socket, $0, &length) }) == 0 else {
            throw .system(call: "getsockname", code: errno)
        }
        return address.with(port: storage.port)
    }

    private static func listen(_ socket: Int32, at path: String) throws(HTTPServerError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path), !bytes.contains(0) else {
            throw .system(call: "bind", code: ENAMETOOLONG)
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        // Any other kind of file is left unchanged, and `bind` fails.
        var entry = stat()
        if lstat(path, &entry) == 0, entry.st_mode & S_IFMT == S_IFSOCK { unlink(path) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, length) }
        }
        guard isBound == 0 else { throw .system(call: "bind", code: errno) }
        // No process can connect before `listen`, so only the owner can connect.
        guard chmod(path, 0o600) == 0 else { throw .system(call: "chmod", code: errno) }
        guard Glibc.listen(socket, SOMAXCONN) == 0 else {
            throw .system(call: "listen", code: errno)
        }
    }

    /// Whether the peer process of a Unix socket runs as this process's user, or as root.
    private static func isOurs(_ socket: Int32) -> Bool {
        var peer = UInt32.max
        return tideover_peer_user(socket, &peer) == 0 && (peer == geteuid() || peer == 0)
    }

    private static func failure(_ code: Int32, at address: ListenAddress) -> HTTPServerError {
        switch code {
        case EADDRINUSE: .addressInUse(address)
        case EADDRNOTAVAIL: .addressNotAvailable(address)
        case EACCES, EPERM: .notPermitted(address)
        default: .system(call: "bind", code: code)
        }
    }

    private static func setOption(_ socket: Int32, _ level: Int32, _ option: Int32) {
        var on: Int32 = 1
        setsockopt(socket, level, option, &on, socklen_t(MemoryLayout<Int32>.size))
    }
}

/// The result of an attempt to accept a connection.
enum Accepted {
    case connection(socket: Int32, address: sockaddr_storage, length: socklen_t)
    /// No connection is waiting.
    case none
    /// A connection was lost before it was accepted; others may wait.
    case lost
    /// The process or the machine is out of files or memory.
    case exhausted

    init(failure: Int32) {
        switch failure {
        case EAGAIN, EINVAL, EBADF: self = .none
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: self = .exhausted
        default: self = .lost
        }
    }
}

/// Passes an address to a call that requires the generic pointer type.
func withSocketAddress<R>(
    _ storage: inout sockaddr_storage,
    _ body: (UnsafeMutablePointer<sockaddr>) -> R
) -> R {
    withUnsafeMutablePointer(to: &storage) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
    }
}

extension sockaddr_storage {
    fileprivate var port: Int {
        var copy = self
        return withUnsafeBytes(of: &copy) {
            // sin_port and sin6_port have the same offset, in network order.
            Int($0[2]) << 8 | Int($0[3])
        }
    }

    /// The address without port; nil if it is not an IP address.
    var address: IPAddress? {
        let place: Range<Int>
        switch Int32(ss_family) {
        case AF_INET: place = 4..<8
        case AF_INET6: place = 8..<24
        default: return nil
        }
        var copy = self
        return withUnsafeBytes(of: &copy) { IPAddress(bytes: Array($0[place])) }
    }
}

extension ListenAddress {
    fileprivate var storage: (sockaddr_storage, socklen_t) {
        var storage = sockaddr_storage()
        let family = isIPv6 ? AF_INET6 : AF_INET
        storage.ss_family = sa_family_t(family)
        withUnsafeMutableBytes(of: &storage) { bytes in
            bytes[2] = UInt8(port >> 8)
            bytes[3] = UInt8(port & 255)
            if let base = bytes.baseAddress { inet_pton(family, host, base + (isIPv6 ? 8 : 4)) }
        }
        let size =
            isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
        return (storage, socklen_t(size))
    }
}
