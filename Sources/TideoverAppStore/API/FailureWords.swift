import TideoverCore
import TideoverJSON

extension AppStoreAPIFailure: CustomStringConvertible {
    /// A stable code for the reason; it depends only on the case.
    package var code: String {
        switch reason {
        case .unaskable: "unaskable"
        case .unsigned: "no-token"
        case .unreachable: "unreachable"
        case .unauthorised: "unauthorised"
        case .throttled: "throttled"
        case .refused(let code, _): "store-\(code.raw)"
        case .status(let status): "http-\(status)"
        case .malformedJSON: "malformed-json"
        case .malformed: "malformed"
        case .endless: "endless-pages"
        }
    }

    /// A description of the reason for logs, without ids or text from the store.
    package var sentence: String {
        switch reason {
        case .unaskable(let fault): fault.sentence
        case .unsigned: "No token could be signed with the key of the App Store Server API."
        case .unreachable: "The App Store Server API could not be reached."
        case .unauthorised(let skew): skew.sentence
        case .throttled: throttledSentence
        case .refused(let code, let status): Self.sentence(code, status)
        case .status(let status): "The App Store Server API answered \(status) without a reason."
        case .malformedJSON(let error):
            "The App Store's answer is not valid JSON at line \(error.line), "
                + "column \(error.column): it may be cut short."
        case .malformed(let refusal):
            "The App Store's answer was not understood. " + refusal.sentence
        case .endless: "The App Store reported more pages without a usable token for the next one."
        }
    }

    package var description: String { sentence }

    private var throttledSentence: String {
        let sentence = "The App Store asks us to come back later"
        return retryAt.map { "\(sentence), at \($0.rfc3339)." } ?? sentence + "."
    }

    private static func sentence(_ code: OpenEnum<AppStoreErrorCode>, _ status: Int) -> String {
        let name = code.known.map { "\($0)" } ?? "a reason that this version does not know"
        return "The App Store Server API answered \(status): \(name) (\(code.raw))."
    }
}

extension AppStoreSkew: CustomStringConvertible {
    /// Describes the cause of a 401, as far as the clocks show it.
    package var sentence: String {
        let refusal = "The App Store does not accept our token. "
        guard let ahead else {
            return refusal + "Its answer has no date, so that the clocks cannot be compared."
        }
        let seconds = abs(ahead.count) / 1000
        guard explainsRefusal else {
            return refusal
                + "The clocks are \(seconds) s apart, which is not the cause: check the key, "
                + "its id, the issuer id, the bundle id, and whether the key was revoked. "
                + "Production also refuses every token of an app that was never released."
        }
        let direction = ahead > .zero ? "behind" : "ahead of"
        return refusal + "Our clock is \(seconds) s \(direction) the store's, so that a valid "
            + "token looks " + (ahead > .zero ? "expired." : "issued in the future.")
            + " Correct the clock."
    }

    package var description: String { sentence }
}

extension AppStoreQuestionFault: CustomStringConvertible {
    /// A one-sentence description of the reason.
    package var sentence: String {
        switch self {
        case .identifier: "This is not a valid App Store id. No request was sent."
        case .startAfterEnd: "The start must be before the end."
        case .startTooOld(let earliest):
            "The App Store does not store notifications that long: start from "
                + "\(earliest.rfc3339) on."
        case .outOfRange(let field, let range):
            "\(field) must be from \(range.lowerBound) to \(range.upperBound)."
        }
    }

    package var description: String { sentence }
}
