import CTideoverMicrohttpd
import Glibc

/// Sockets that wait for their client to read the last answer.
///
/// The engine has sent the end of the stream already. What the client goes on sending is read and
/// thrown away until it ends its side too, for two seconds and a megabyte at most.
struct Lingering: ~Copyable {
    /// More than so many at once are closed right away.
    static let most = 64

    private struct Entry {
        var socket: Int32
        var until: ContinuousClock.Instant
        var bytesLeft = 1 << 20
    }

    private var entries: [Entry] = []
    private var scratch = [UInt8](repeating: 0, count: 16 * 1024)

    var isEmpty: Bool { entries.isEmpty }

    /// The sockets to wait for.
    var sockets: [Int32] { entries.map(\.socket) }

    mutating func add(_ socket: Int32, at now: ContinuousClock.Instant) {
        guard entries.count < Self.most else { return _ = close(socket) }
        entries.append(Entry(socket: socket, until: now + .seconds(2)))
    }

    /// Reads what has come, and closes the sockets that are done.
    mutating func drain(at now: ContinuousClock.Instant) {
        var kept: [Entry] = []
        for var entry in entries {
            if now < entry.until, isWaiting(&entry) {
                kept.append(entry)
            } else {
                close(entry.socket)
            }
        }
        entries = kept
    }

    private mutating func isWaiting(_ entry: inout Entry) -> Bool {
        while entry.bytesLeft > 0 {
            let count = recv(
                entry.socket,
                &scratch,
                scratch.count,
                Int32(MSG_DONTWAIT)
            )
            if count < 0 { return errno == EAGAIN || errno == EINTR }
            if count == 0 { return false }
            entry.bytesLeft -= count
        }
        return false
    }

    deinit {
        for entry in entries { close(entry.socket) }
    }
}
