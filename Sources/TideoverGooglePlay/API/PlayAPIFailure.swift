package import TideoverCore
import TideoverHTTP
package import TideoverJSON

/// Describes why a request to the Play Developer API failed, and how to proceed.
package struct PlayAPIFailure: Error, Sendable {
    package let reason: Reason
    /// When and how the request was sent.
    package let exchange: StoreExchange
    /// The earliest instant, by our clock, at which the store accepts a retry. Nil if the store
    /// does not state one.
    package let retryAt: Instant?

    package enum Reason: Sendable {
        /// Nothing was sent: the store is known to reject this request.
        case unaskable(PlayQuestionFault)
        /// Nothing was sent: Google issued no token.
        case noAccess(PlayAccessFailure)
        /// No response arrived in time.
        case unreachable(any Error)
        /// The store rejects our token (401).
        case unauthorised
        /// The service account lacks permission for this request (403).
        case forbidden
        /// The store has no such purchase or order for this app (404).
        case notFound
        /// The purchase ended too long ago: the store answers for a token until 60 days after the
        /// end (410).
        case gone
        /// The request rate is too high, or the daily quota is used up (429, or 403 with a quota
        /// error).
        case throttled
        /// The purchase changed in the meantime, or does not allow this change (409, 412).
        case conflict(status: Int)
        /// Any other error response.
        case status(Int, PlayErrorWord?)
        /// The response is a success, but is not JSON: truncated, or with a duplicate key.
        case malformedJSON(JSONError)
        /// The response is a success, but lacks a field or has one of the wrong type.
        case malformed(PlayRefusal)
        /// A page reports that more pages follow, but gives no new cursor.
        case endless
    }

    /// Whether a later retry of the same request may succeed.
    package var isRetryable: Bool {
        switch reason {
        case .unaskable, .forbidden, .notFound, .gone, .conflict, .malformed, .endless: false
        case .noAccess(let failure): failure.isRetryable
        case .unreachable, .throttled, .malformedJSON: true
        // Another token may be accepted: the rejected one is not used again.
        case .unauthorised: true
        case .status(let status, _): Self.isPassing(status)
        }
    }

    /// The result of the inquiry about the purchase. Nil if no request was sent.
    package var outcome: Inquiry.Outcome? {
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

    /// Whether the store accepted the query and knows no such purchase or order.
    package var saysThereIsNone: Bool {
        switch reason {
        case .notFound, .gone: true
        case .status(let status, _): status == 400
        default: false
        }
    }

    /// Returns whether a status is temporary rather than caused by the request.
    private static func isPassing(_ status: Int) -> Bool {
        status == 408 || status == 425 || (500...599).contains(status)
    }
}

/// Google's error status, such as `INVALID_ARGUMENT`.
package struct PlayErrorWord: Hashable, Sendable {
    package let text: String

    /// Accepts only text in the format of an error status: it is written to logs.
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

/// Describes why a request is not sent.
package enum PlayQuestionFault: Error, Hashable, Sendable {
    /// An invalid token or ID: empty, too long, or with white space.
    case identifier
    /// The start is not before the end.
    case startAfterEnd
    /// The store no longer lists voided purchases from this start. `earliest` is the earliest valid
    /// start.
    case startTooOld(earliest: Instant)
    /// A number is outside the range that the store accepts.
    case outOfRange(field: String, ClosedRange<Int64>)
    /// The ids contain a duplicate.
    case repeated
}

// MARK: - Error responses

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

/// The error object in responses of Google's APIs.
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

    /// Whether the error is about a quota. Google answers 403 for missing permissions as well as
    /// for rate limits.
    var isOfQuota: Bool {
        let words: Set<String> = [
            "rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded",
            "RATE_LIMIT_EXCEEDED", "QUOTA_EXCEEDED",
        ]
        return word?.text == "RESOURCE_EXHAUSTED" || reasons.contains(where: words.contains)
    }
}

extension StoreExchange {
    /// The longest wait that is accepted from the store: its quotas are daily.
    static let longestWait = Milliseconds.hours(24)

    /// Returns the instant that `Retry-After` asks for, by our clock. Its value is seconds to wait,
    /// or a date (RFC 9110, 10.2.3).
    func retryAt(_ text: String) -> Instant? {
        let wait: Milliseconds
        if let seconds = Int64(text) {
            guard seconds >= 0 else { return nil }
            wait = .seconds(min(seconds, Self.longestWait.count / 1000))
        } else if let date = Instant(httpDate: text) {
            wait = date - (dated ?? answeredAt)
        } else {
            return nil
        }
        return answeredAt + min(max(wait, .zero), Self.longestWait)
    }
}
