import TideoverCore
import TideoverLocks

/// The monotonic clock of a rehearsal's server, and its waits.
///
/// Until the end of the story the clock is the story's, which does not advance during a wait: a
/// request that a store's limit delays is retried once the limit has passed. After it, waits take
/// time, so that background work rests. The clock then also advances with the machine's.
final class RehearsalTime: Sendable {
    private let story: StoryClock
    private let progress = Locked(Progress())

    private struct Progress {
        /// The story's instant at the last reading, in milliseconds since 1970.
        var read: Int64?
        /// In nanoseconds, at the last reading.
        var uptime: Int64 = 0
        /// When the story ended; nil until then.
        var end: ContinuousClock.Instant?
    }

    /// Between two readings the clock advances by at most this many milliseconds. A limit of a
    /// store has passed by then, and the nanoseconds of a story of any length fit in 64 bits.
    private static let longestAdvance: Int64 = 24 * 3_600_000

    init(_ story: StoryClock) { self.story = story }

    var isOver: Bool { progress.withLock { $0.end != nil } }

    /// In nanoseconds.
    var uptime: Int64 {
        progress.withLock { progress in
            let now = story.now.millisecondsSince1970
            let advance = max(0, now - (progress.read ?? now))
            progress.read = now
            progress.uptime += min(advance, Self.longestAdvance) * 1_000_000
            guard let end = progress.end else { return progress.uptime }
            let passed = (ContinuousClock.now - end).components
            return progress.uptime + passed.seconds * 1_000_000_000
                + passed.attoseconds / 1_000_000_000
        }
    }

    func endStory() { progress.withLock { $0.end = .now } }

    func sleep(for duration: Duration) async throws {
        guard isOver else { return await Task.yield() }
        try await Task.sleep(for: duration)
    }
}
