package import TideoverCore
import TideoverHTTP
package import TideoverJSON

/// Describes why a request to RevenueCat failed, and how to proceed.
package struct RevenueCatAPIFailure: Error, Sendable {
    package let reason: Reason
    package let exchange: RevenueCatExchange
    /// The earliest instant, by our clock, at which RevenueCat accepts a retry. Nil if RevenueCat
    /// does not state one.
    package let retryAt: Instant?

    package enum Reason: Sendable {
        /// No response arrived.
        case unreachable(any Error)
        /// RevenueCat rejects our key.
        case unauthorised
        /// The key is valid but lacks permission for this request.
        case forbidden
        /// The request rate is too high.
        case throttled
        /// RevenueCat does not know the customer.
        case unknownCustomer
        /// An error response, with RevenueCat's error code and retry hint, if it states them.
        case refused(status: Int, code: Int64?, isRetryable: Bool?)
        /// The response is a success, but is not JSON: truncated, or with a duplicate key.
        case malformedJSON(JSONError)
        /// The response is a success, but lacks a field or has one of the wrong type.
        case malformed(RevenueCatRefusal)
    }

    /// Whether a later retry of the same request may succeed.
    package var isRetryable: Bool {
        switch reason {
        case .unreachable, .throttled, .malformedJSON: true
        case .unauthorised, .forbidden, .unknownCustomer, .malformed: false
        case .refused(let status, _, let isRetryable): isRetryable ?? Self.isPassing(status)
        }
    }

    /// The result of the inquiry about the customer.
    package var outcome: Inquiry.Outcome {
        switch reason {
        case .unreachable, .malformedJSON, .malformed: .unreachable
        case .unauthorised, .forbidden: .refused
        case .throttled: .throttled
        case .unknownCustomer: .gone
        case .refused: isRetryable ? .unreachable : .refused
        }
    }

    /// Returns whether a status is temporary rather than caused by the request.
    private static func isPassing(_ status: Int) -> Bool {
        status == 408 || status == 423 || status == 425 || (500...599).contains(status)
    }
}

extension RevenueCatAPIFailure {
    init(_ reason: Reason, _ exchange: RevenueCatExchange) {
        self.reason = reason
        self.exchange = exchange
        retryAt = nil
    }

    init(_ response: Response, _ exchange: RevenueCatExchange) {
        let body = try? JSONDocument(response.body, limits: .storeAnswer)
        reason =
            switch response.status {
            case 401: .unauthorised
            case 403: .forbidden
            case 404: .unknownCustomer
            case 429: .throttled
            default:
                .refused(
                    status: response.status,
                    code: body?.root["code"]?.int64,
                    isRetryable: body?.root["retryable"]?.bool
                )
            }
        self.exchange = exchange
        let wait =
            body?.root["backoff_ms"]?.int64.flatMap { $0 >= 0 ? Milliseconds($0) : nil }
            ?? response.headers["Retry-After"].flatMap(Self.wait)
        retryAt = wait.map { exchange.answeredAt + min($0, Self.longestWait) }
    }

    /// The longest wait that is accepted from RevenueCat: its limits are per minute.
    static let longestWait = Milliseconds.hours(1)

    /// Parses `Retry-After`. RevenueCat writes milliseconds. Proxies write seconds, always less
    /// than a thousand. An ambiguous number means the longer wait.
    private static func wait(_ text: String) -> Milliseconds? {
        guard let number = Int64(text), number >= 0 else { return nil }
        return number < 1000 ? .seconds(number) : Milliseconds(number)
    }
}

extension RevenueCatAPIFailure: CustomStringConvertible {
    /// A stable code for the reason; it depends only on the case.
    package var code: String {
        switch reason {
        case .unreachable: "unreachable"
        case .unauthorised: "unauthorised"
        case .forbidden: "forbidden"
        case .throttled: "throttled"
        case .unknownCustomer: "unknown-customer"
        case .refused(_, let code?, _): "revenuecat-\(code)"
        case .refused(let status, nil, _): "http-\(status)"
        case .malformedJSON: "malformed-json"
        case .malformed: "malformed"
        }
    }

    /// A description of the reason for logs, without ids or text from RevenueCat.
    package var sentence: String {
        switch reason {
        case .unreachable: "RevenueCat could not be reached."
        case .unauthorised:
            "RevenueCat does not accept our key: use a secret key of the project."
        case .forbidden: "RevenueCat does not let our key read customers: grant that permission."
        case .throttled:
            retryAt.map { "RevenueCat asks us to come back later, at \($0.rfc3339)." }
                ?? "RevenueCat asks us to come back later."
        case .unknownCustomer: "RevenueCat does not know the customer."
        case .refused(let status, let code?, _): "RevenueCat answered \(status): reason \(code)."
        case .refused(let status, nil, _): "RevenueCat answered \(status) without a reason."
        case .malformedJSON(let error):
            "RevenueCat's answer is not valid JSON at line \(error.line), "
                + "column \(error.column): it may be cut short."
        case .malformed(let refusal):
            "RevenueCat's answer was not understood. " + refusal.sentence
        }
    }

    package var description: String { sentence }
}
