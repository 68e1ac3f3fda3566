/// What can go wrong with a call of the Server API, when a test asks for it. Lengths of time are in
/// milliseconds.
public enum AppStoreFault: Hashable, Codable, Sendable {
    /// Status 429 with `Retry-After`, as an instant in milliseconds since 1970: this long from now.
    case rateLimited(for: Int64)
    /// Status 401, as if the token were not valid.
    case unauthorized
    /// Any of the documented error answers.
    case refused(AppStoreAPIError)
    /// This status with a body that is no JSON, as a machine in front of the API answers.
    case unavailable(status: Int)
    /// The right answer, this much later.
    case slow(Int64)
    /// No answer, after this long.
    case noAnswer(after: Int64)
    /// The right answer's first bytes, half of them.
    case truncated
    /// A right answer of this long ago, at most a day, signed now. It concerns what is read of customers;
    /// what changes something, and the history of notifications, is never stale.
    case stale(by: Int64)
}

/// When such a fault strikes.
public typealias AppStoreFaultRule = FaultRule<AppStoreFault, AppStoreOperation>

/// What a caller meets whose call is never answered.
public struct AppStoreNoAnswer: Error, Hashable, Sendable {}
