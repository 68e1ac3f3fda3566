public import TideoverCore

/// Returns the current time of the server.
public typealias Clock = @Sendable () -> Instant
