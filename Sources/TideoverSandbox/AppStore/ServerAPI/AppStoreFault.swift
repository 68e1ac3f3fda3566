/// A fault of a Server API call, set by a test. Durations are in milliseconds.
public enum AppStoreFault: Hashable, Codable, Sendable {
    /// Status 429 with `Retry-After`, as an instant in milliseconds since 1970: this long from now.
    case rateLimited(for: Int64)
    /// Status 401, as for an invalid token.
    case unauthorized
    /// Any of the documented error responses.
    case refused(AppStoreAPIError)
    /// This status with a body other than JSON, as a proxy in front of the API sends it.
    case unavailable(status: Int)
    /// The correct response, this much later.
    case slow(Int64)
    /// No response, after this long.
    case noAnswer(after: Int64)
    /// The first half of the correct response.
    case truncated
    /// A correct response from this long ago, at most a day, signed now. It applies to reads of
    /// customers. Writes and the notification history are never stale.
    case stale(by: Int64)
}

/// The conditions of such a fault.
public typealias AppStoreFaultRule = FaultRule<AppStoreFault, AppStoreOperation>

/// The error of a call that gets no response.
public struct AppStoreNoAnswer: Error, Hashable, Sendable {}
