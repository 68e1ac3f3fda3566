import Glibc

/// The system's limits on the process's open files and sockets.
///
/// Exhausting them ends a Swift program on Linux: its scheduler opens files under `/proc` to
/// examine threads, and aborts on failure. So clients must never take all of them.
package struct OpenFiles: Hashable {
    /// The current limit.
    package private(set) var now: UInt
    /// The highest limit the process can set.
    package let most: UInt

    /// The number of files left for databases, outgoing requests, lingering sockets, and the
    /// runtime.
    package static let reserve: UInt = 256

    package init(now: UInt, most: UInt) {
        self.now = now
        self.most = max(now, most)
    }

    /// Raises the limit as far as possible and needed. Returns the number of connections that then
    /// fit; with a very low limit, half of it.
    package mutating func makeRoom(forConnections wanted: Int) -> Int {
        now = min(most, max(now, UInt(wanted) + Self.reserve))
        let room = max(now > Self.reserve ? now - Self.reserve : 0, now / 2)
        return max(1, min(wanted, Int(clamping: room)))
    }
}

extension OpenFiles {
    /// Raises the limit of this process.
    static func makeRoom(forConnections wanted: Int) -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return wanted }
        var files = OpenFiles(now: limit.rlim_cur, most: limit.rlim_max)
        let count = files.makeRoom(forConnections: wanted)
        limit.rlim_cur = files.now
        setrlimit(resource, &limit)
        return count
    }
}
