import TideoverAppStore
import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// A prepared change that can be sent to a store.
struct StoreCall: Sendable {
    /// The request to the store, without authorization and without a purchase token.
    let draft: Request
    /// Sends the request and returns the store's response.
    ///
    /// - Throws: ``StoreActionFailure``, `StorageError` or `CancellationError`.
    let send: @Sendable () async throws -> JSONObject
    /// Queries the store about the purchase again.
    let refresh: @Sendable () async throws -> Void

    /// Writes the request as one JSON object.
    static func write(_ draft: Request, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("method", draft.method)
            writer.field("path", draft.path)
            writer.field(
                "query",
                object: { writer in
                    for item in draft.query { writer.field(item.name, item.value) }
                }
            )
            let body = try? JSONDocument(draft.body).root
            writer.field("body", body.map { JSONValue($0) } ?? .null)
        }
    }
}

/// A purchase to change.
struct ActedPurchase: Sendable {
    /// The name in the client's request.
    let name: String
    let lineageRecord: LineageRecord
    let owner: CustomerID?

    var lineage: Lineage { lineageRecord.lineage }
}

/// The reason why a change failed, or may have failed.
struct StoreActionFailure: Error, Hashable, Sendable {
    let outcome: AuditEntry.StoreChange.Outcome
    let code: String
    let sentence: String
    var retryAt: Instant?

    /// Our own rate limit is reached.
    static let busy = StoreActionFailure(
        outcome: .notSent,
        code: "busy",
        sentence: "Too many requests to the store are waiting. Try again in a few seconds."
    )
}

extension StoreActionFailure {
    init(_ failure: AppStoreAPIFailure) {
        let outcome: AuditEntry.StoreChange.Outcome =
            switch failure.reason {
            case .unaskable: .rejected
            case .unsigned, .unauthorised, .throttled: .notSent
            // The App Store did nothing, and permits the same request later.
            case .refused(let code, status: 400..<500) where code.known?.isRetryable == true:
                .notSent
            case .refused(_, let status), .status(let status): Self.outcome(of: status)
            case .unreachable, .malformedJSON, .malformed, .endless: .unknown
            }
        self.init(
            outcome: outcome,
            code: failure.code,
            sentence: failure.sentence,
            retryAt: failure.retryAt
        )
    }

    init(_ failure: PlayAPIFailure) {
        let outcome: AuditEntry.StoreChange.Outcome =
            switch failure.reason {
            case .unaskable, .forbidden, .notFound, .gone, .conflict: .rejected
            case .noAccess, .unauthorised, .throttled: .notSent
            case .status(let status, _): Self.outcome(of: status)
            case .unreachable, .malformedJSON, .malformed, .endless: .unknown
            }
        self.init(
            outcome: outcome,
            code: failure.code,
            sentence: failure.sentence,
            retryAt: failure.retryAt
        )
    }

    private static func outcome(of status: Int) -> AuditEntry.StoreChange.Outcome {
        switch status {
        case 408, 500...: .unknown
        case 425, 429: .notSent
        default: .rejected
        }
    }
}

extension StoreActionFailure {
    /// Returns the failure as a response to the client; `isRepeatable` determines whether a request
    /// with an unknown outcome may be sent again.
    func problem(isRepeatable: Bool, at now: Instant) -> Problem {
        let wait = retryAt.map { Int(min(max(1, ($0 - now).count / 1000), 3600)) }
        switch outcome {
        case .notSent: return .storeActionNotSent(self, retryAfter: wait ?? 10)
        case .unknown, .requested: return .storeOutcomeUnknown(self, isRepeatable: isRepeatable)
        case .rejected, .completed, .dryRun, .missed: return .storeRejected(self)
        }
    }
}

extension Problem {
    fileprivate static func storeRejected(_ failure: StoreActionFailure) -> Problem {
        Problem(
            "store-rejected",
            detail: failure.sentence,
            members: ["code": .string(failure.code)]
        )
    }

    fileprivate static func storeActionNotSent(
        _ failure: StoreActionFailure,
        retryAfter: Int
    ) -> Problem {
        Problem(
            "store-action-not-sent",
            detail: failure.sentence,
            members: ["code": .string(failure.code)],
            retryAfter: retryAfter
        )
    }

    fileprivate static func storeOutcomeUnknown(
        _ failure: StoreActionFailure,
        isRepeatable: Bool
    ) -> Problem {
        let advice =
            isRepeatable
            ? "Send the same request again with the same key."
            : "Look at the purchase first: a second request could change it twice. Then use a "
                + "new key."
        return Problem(
            "store-outcome-unknown",
            detail: "\(failure.sentence) \(advice)",
            members: ["code": .string(failure.code), "repeatable": .bool(isRepeatable)]
        )
    }
}
