public import TideoverCore

/// Where the server reads the time.
public typealias Clock = @Sendable () -> Instant
