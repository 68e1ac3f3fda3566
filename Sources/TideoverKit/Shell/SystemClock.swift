import TideoverCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The clocks of this device.
enum SystemClock {
    private static let start = ContinuousClock.now

    /// Reads the clock that the user can set, and one that only moves forward, including sleep.
    static func read() -> ClockReading {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        return ClockReading(
            clock: Instant(
                millisecondsSince1970: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
            ),
            uptime: Milliseconds(seconds * 1000 + attoseconds / 1_000_000_000_000_000)
        )
    }
}
