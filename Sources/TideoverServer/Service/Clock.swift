package import TideoverCore

/// Returns the current time of the server.
package typealias Clock = @Sendable () -> Instant
