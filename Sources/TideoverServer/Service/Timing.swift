import TideoverCore

/// The clocks and the sleep function of a background task.
struct Timing: Sendable {
    let clock: Clock
    /// A monotonic clock in nanoseconds.
    let uptime: @Sendable () -> Int64
    /// Suspends for a duration; throws on cancellation.
    let sleep: Sleep
    /// The maximum wait for a store that throttles.
    var patience = Milliseconds.minutes(5)
}

/// Suspends for a duration; throws on cancellation.
package typealias Sleep = @Sendable (Duration) async throws -> Void
