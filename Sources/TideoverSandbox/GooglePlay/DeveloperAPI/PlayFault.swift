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
    /// None at all, this much later: whoever asked has stopped waiting, or the connection broke.
    case noAnswer(after: Int64)
    /// The right answer's first bytes, half of them.
    case truncated
    /// A right answer of this long ago, dated now. It concerns what is read of purchases and orders.
    case stale(by: Int64)
}

extension PlayFault: StoreFault {
    /// What a rule is about that names no call.
    public static var concerned: String { "Calls of Google's APIs" }

    /// What becomes of a call.
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

/// When such a fault strikes.
public typealias PlayFaultRule = FaultRule<PlayFault, PlayOperation>

/// Whoever asked got no answer.
public struct PlayNoAnswer: Error, Hashable, Sendable {}
