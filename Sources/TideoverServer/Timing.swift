import TideoverCore

/// How a long piece of work reads time and lets it pass.
struct Timing: Sendable {
    let clock: Clock
    /// Nanoseconds by a clock that never goes back.
    let uptime: @Sendable () -> Int64
    /// Rests for so long; throws when it is cancelled.
    let sleep: Sleep
    /// How long whoever asks a store waits on the spot for one that wants to be left alone.
    var patience = Milliseconds.minutes(5)
}

/// Rests for so long; throws when it is cancelled.
public typealias Sleep = @Sendable (Duration) async throws -> Void
