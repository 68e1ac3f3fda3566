import CTideoverMicrohttpd
import Glibc

/// Sockets that wait for their client to read the last response.
///
/// The engine has already sent the end of the stream. Further bytes of the client are read and
/// discarded until it closes its side too, for at most two seconds and one megabyte.
struct Lingering: ~Copyable {
    /// The maximum number at once; further ones are closed immediately.
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

    /// Reads the received bytes, and closes the sockets that are done.
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
