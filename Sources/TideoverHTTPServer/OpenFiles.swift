import Glibc

/// How many files and sockets the process may have open, as the system says.
///
/// To use them up ends a Swift program on Linux: its scheduler opens files under `/proc` to see whether
/// threads are at work, and aborts where it cannot. So clients may never take them all.
package struct OpenFiles: Hashable {
    /// How many may be open now.
    package private(set) var now: UInt
    /// What the process may raise that to.
    package let most: UInt

    /// What connections leave to databases, to outgoing requests, to sockets that linger, and to the
    /// runtime.
    package static let reserve: UInt = 256

    package init(now: UInt, most: UInt) {
        self.now = now
        self.most = max(now, most)
    }

    /// Raises what may be open, as far as is possible and needed; how many of the connections then
    /// have room. Where the system allows next to nothing that is half of it.
    package mutating func makeRoom(forConnections wanted: Int) -> Int {
        now = min(most, max(now, UInt(wanted) + Self.reserve))
        let room = max(now > Self.reserve ? now - Self.reserve : 0, now / 2)
        return max(1, min(wanted, Int(clamping: room)))
    }
}

extension OpenFiles {
    /// Does it for this process.
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
