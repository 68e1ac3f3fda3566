/// Bytes that are written one after another, each text in place: an append to an array costs more
/// than copying some words.
struct WrittenBytes: Sendable {
    /// The bytes written so far, then room for more.
    private var room = [UInt8](repeating: 0, count: firstRoom)
    private(set) var count = 0

    /// Enough for most documents of one notification.
    private static let firstRoom = 480

    var bytes: [UInt8] { Array(room[..<count]) }

    /// Calls `write` with the place of the next bytes, at most `most`; it returns how many it wrote.
    /// Returns the same number.
    @inline(__always)
    @discardableResult
    mutating func append(
        atMost most: Int,
        _ write: (UnsafeMutablePointer<UInt8>) -> Int
    ) -> Int {
        if room.count - count < most { makeRoom(for: most) }
        let end = count
        let added = room.withUnsafeMutableBufferPointer { room in
            room.baseAddress.map { write($0 + end) } ?? 0
        }
        count += added
        return added
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        append(atMost: 1) { target in
            target[0] = byte
            return 1
        }
    }

    mutating func append(contentsOf bytes: UnsafeBufferPointer<UInt8>) {
        guard let start = bytes.baseAddress else { return }
        append(atMost: bytes.count) { target in
            target.update(from: start, count: bytes.count)
            return bytes.count
        }
    }

    mutating func append(contentsOf bytes: some Sequence<UInt8>) {
        let whole: Void? = bytes.withContiguousStorageIfAvailable { append(contentsOf: $0) }
        guard whole == nil else { return }
        for byte in bytes { append(byte) }
    }

    private mutating func makeRoom(for more: Int) {
        var larger = [UInt8](repeating: 0, count: max(2 * room.count, count + more))
        larger.withUnsafeMutableBufferPointer { larger in
            _ = larger.update(fromContentsOf: room[..<count])
        }
        room = larger
    }
}
