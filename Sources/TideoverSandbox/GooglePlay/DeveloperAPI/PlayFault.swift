/// A fault of a call to Google's APIs, set by a test. Durations are in milliseconds.
public enum PlayFault: Hashable, Codable, Sendable {
    /// Any of the documented error responses.
    case refused(PlayAPIError)
    /// Status 429 with `Retry-After` in seconds.
    case rateLimited(seconds: Int64)
    /// This status with a body other than JSON, as a proxy in front of the API sends it.
    case unavailable(status: Int)
    /// The correct response, this much later.
    case slow(Int64)
    /// No response, this much later: the caller has timed out, or the connection broke.
    case noAnswer(after: Int64)
    /// The first half of the correct response.
    case truncated
    /// A correct response from this long ago, dated now. It applies to reads of purchases and
    /// orders.
    case stale(by: Int64)
}

extension PlayFault: StoreFault {
    /// The subject of a rule that names no call.
    public static var concerned: String { "Calls of Google's APIs" }

    /// The outcome of a call.
    public var words: String {
        switch self {
        case .refused(let error): "error \(error)"
        case .rateLimited: "too many requests"
        case .unavailable(let status): "status \(status)"
        case .slow(let length): "late by \(length) ms"
        case .noAnswer: "no answer"
        case .truncated: "cut in half"
        case .stale(let length): "what was so \(length) ms ago"
        }
    }
}

/// The conditions of such a fault.
public typealias PlayFaultRule = FaultRule<PlayFault, PlayOperation>

/// The error of a caller that got no response.
public struct PlayNoAnswer: Error, Hashable, Sendable {}
