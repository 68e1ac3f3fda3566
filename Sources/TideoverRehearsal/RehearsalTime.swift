import TideoverCore
import TideoverLocks

/// The monotonic clock of a rehearsal's server, and its waits.
///
/// Until the end of the story the clock is the story's, which does not advance during a wait: a
/// request that a store's limit delays is retried once the limit has passed. After it, waits take
/// time, so that background work rests. The clock then also advances with the machine's.
final class RehearsalTime: Sendable {
    private let story: StoryClock
    /// When the story ended; nil until then.
    private let end = Locked<ContinuousClock.Instant?>(nil)

    init(_ story: StoryClock) { self.story = story }

    var isOver: Bool { end.withLock { $0 != nil } }

    /// In nanoseconds.
    var uptime: Int64 {
        let uptime = story.now.millisecondsSince1970 * 1_000_000
        guard let end = end.withLock({ $0 }) else { return uptime }
        let passed = (ContinuousClock.now - end).components
        return uptime + passed.seconds * 1_000_000_000 + passed.attoseconds / 1_000_000_000
    }

    func endStory() { end.withLock { $0 = .now } }

    func sleep(for duration: Duration) async throws {
        guard isOver else { return await Task.yield() }
        try await Task.sleep(for: duration)
    }
}
