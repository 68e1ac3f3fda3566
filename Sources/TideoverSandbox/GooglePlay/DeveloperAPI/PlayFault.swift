/// What can go wrong with a call of Google's APIs, when a test asks for it. Lengths of time are in
/// milliseconds.
public enum PlayFault: Hashable, Codable, Sendable {
    /// Any of the documented error answers.
    case refused(PlayAPIError)
    /// Status 429 with `Retry-After` in seconds.
    case rateLimited(seconds: Int64)
    /// This status with a body that is no JSON, as a machine in front of the API answers.
    case unavailable(status: Int)
    /// The right answer, this much later.
    case slow(Int64)
    /// The right answer's first bytes, half of them.
    case truncated
    /// A right answer of this long ago, dated now. It concerns what is read of purchases and orders.
    case stale(by: Int64)
}

/// When such a fault strikes.
public typealias PlayFaultRule = FaultRule<PlayFault, PlayOperation>
