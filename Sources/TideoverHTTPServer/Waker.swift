import CTideoverMicrohttpd
import Glibc

/// Wakes a polling thread: an eventfd that stays open as long as the alarm is referenced.
final class Waker: Sendable {
    let descriptor: Int32

    init() throws(HTTPServerError) {
        descriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        guard descriptor >= 0 else { throw .system(call: "eventfd", code: errno) }
    }

    deinit { close(descriptor) }

    func ring() {
        var one: UInt64 = 1
        write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    func silence() {
        var count: UInt64 = 0
        read(descriptor, &count, MemoryLayout<UInt64>.size)
    }
}
