public import TideoverCore
import TideoverHTTP
public import TideoverJSON

/// Why a question to the Play Developer API brought no answer, and what to do about it.
public struct PlayAPIFailure: Error, Sendable {
    public let reason: Reason
    /// When and how we asked.
    public let exchange: StoreExchange
    /// The earliest instant, by our clock, at which the store wants to be asked again; nil where it
    /// does not say.
    public let retryAt: Instant?

    public enum Reason: Sendable {
        /// Nothing was sent: the question is one that the store is known to refuse.
        case unaskable(PlayQuestionFault)
        /// Nothing was sent: Google gave no token.
        case noAccess(PlayAccessFailure)
        /// No answer arrived, or not in time.
        case unreachable(any Error)
        /// The store does not accept our token (401).
        case unauthorised
        /// The service account may not ask this (403).
        case forbidden
        /// The store does not know the purchase or the order, or not as this app's (404).
        case notFound
        /// The purchase ended too long ago: tokens can be asked about for 60 days (410).
        case gone
        /// We ask too often, or all of today's questions are asked (429, or 403 with a quota's word).
        case throttled
        /// The store changed it meanwhile, or it cannot be changed so (409, 412).
        case conflict(status: Int)
        /// Any other answer that is no success.
        case status(Int, PlayErrorWord?)
        /// The answer is a success, but is not JSON: cut short, or with a key twice.
        case malformedJSON(JSONError)
        /// The answer is a success, but lacks something or says it in the wrong type.
        case malformed(PlayRefusal)
        /// A page says that there is more, and names no new place where.
        case endless
    }

    /// Whether the same question may be answered when it is asked again later.
    public var isRetryable: Bool {
        switch reason {
        case .unaskable, .forbidden, .notFound, .gone, .conflict, .malformed, .endless: false
        case .noAccess(let failure): failure.isRetryable
        case .unreachable, .throttled, .malformedJSON: true
        // Another token may be accepted: the one turned down is not used again.
        case .unauthorised: true
        case .status(let status, _): Self.isPassing(status)
        }
    }

    /// What the failure says about the purchase that was asked about. Nil where nothing was asked.
    public var outcome: Inquiry.Outcome? {
        switch reason {
        case .unaskable: nil
        case .noAccess(let failure): failure.isRetryable ? .unreachable : .refused
        case .unreachable, .malformedJSON, .malformed, .endless: .unreachable
        case .unauthorised, .forbidden, .conflict: .refused
        case .notFound, .gone: .gone
        case .throttled: .throttled
        case .status(let status, _):
            (400..<500).contains(status) && !Self.isPassing(status) ? .refused : .unreachable
        }
    }

    /// Statuses that speak of the moment, not of the question.
    private static func isPassing(_ status: Int) -> Bool {
        status == 408 || status == 425 || (500...599).contains(status)
    }
}

/// Google's own word for what is wrong, such as `INVALID_ARGUMENT`.
public struct PlayErrorWord: Hashable, Sendable {
    public let text: String

    /// Only what looks like such a word is taken for one: it goes into logs.
    init?(_ text: String?) {
        guard let text, (1...64).contains(text.utf8.count),
            text.utf8.allSatisfy({ byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F: true
                default: false
                }
            })
        else { return nil }
        self.text = text
    }
}

/// Why a question is not asked at all.
public enum PlayQuestionFault: Error, Hashable, Sendable {
    /// A token or an id that cannot be one of the store's: empty, too long, or with white space in it.
    case identifier
    /// The start does not come before the end.
    case startAfterEnd
    /// The store lists what was voided for so long only; it could be asked from `earliest` on.
    case startTooOld(earliest: Instant)
    /// A number is outside the range that the store accepts.
    case outOfRange(field: String, ClosedRange<Int64>)
    /// Of several ids, two are the same.
    case repeated
}

// MARK: - Answers that are no success

extension PlayAPIFailure {
    init(_ reason: Reason, _ exchange: StoreExchange) {
        self.reason = reason
        self.exchange = exchange
        retryAt = nil
    }

    init(_ response: Response, _ exchange: StoreExchange) {
        let error = PlayErrorBody(response.body)
        reason =
            switch response.status {
            case 401: .unauthorised
            case 403: error.isOfQuota ? .throttled : .forbidden
            case 404: .notFound
            case 409, 412: .conflict(status: response.status)
            case 410: .gone
            case 429: .throttled
            default: .status(response.status, error.word)
            }
        self.exchange = exchange
        retryAt = response.headers["Retry-After"].flatMap { exchange.retryAt($0) }
    }
}

/// The object that Google's APIs answer with where something is wrong.
/// https://cloud.google.com/apis/design/errors
private struct PlayErrorBody {
    let word: PlayErrorWord?
    private let reasons: [String]

    init(_ body: [UInt8]) {
        let error = (try? JSONDocument(body, limits: .storeAnswer))?.root["error"]
        let lists = [error?["errors"], error?["details"]].compactMap(\.self)
        word = PlayErrorWord(error?["status"]?.string)
        reasons = lists.flatMap { $0.elements.compactMap { $0["reason"]?.string } }
    }

    /// Google answers 403 both to whom it does not know and to whom it hears too often.
    var isOfQuota: Bool {
        let words: Set<String> = [
            "rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded",
            "RATE_LIMIT_EXCEEDED", "QUOTA_EXCEEDED",
        ]
        return word?.text == "RESOURCE_EXHAUSTED" || reasons.contains(where: words.contains)
    }
}

extension StoreExchange {
    /// The longest that a store is believed to want to be left alone: its quotas are daily.
    static let longestWait = Milliseconds.hours(24)

    /// What `Retry-After` asks for, by our clock: seconds to wait, or a date (RFC 9110, 10.2.3).
    func retryAt(_ text: String) -> Instant? {
        let wait: Milliseconds
        if let seconds = Int64(text) {
            guard (0...Self.longestWait.count / 1000).contains(seconds) else { return nil }
            wait = .seconds(seconds)
        } else if let date = Instant(httpDate: text) {
            wait = date - (dated ?? answeredAt)
        } else {
            return nil
        }
        return answeredAt + min(max(wait, .zero), Self.longestWait)
    }
}
