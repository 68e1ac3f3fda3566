import TideoverCore
import TideoverJSON

extension PlayAPIFailure: CustomStringConvertible {
    /// A stable code for the reason; it depends only on the case.
    package var code: String {
        switch reason {
        case .unaskable: "unaskable"
        case .noAccess: "no-token"
        case .unreachable: "unreachable"
        case .unauthorised: "unauthorised"
        case .forbidden: "forbidden"
        case .notFound: "not-found"
        case .gone: "gone"
        case .throttled: "throttled"
        case .conflict: "conflict"
        case .status(let status, _): "http-\(status)"
        case .malformedJSON: "malformed-json"
        case .malformed: "malformed"
        case .endless: "endless-pages"
        }
    }

    /// A description of the reason for logs, without ids, tokens or text from the store.
    package var sentence: String {
        switch reason {
        case .unaskable(let fault): fault.sentence
        case .noAccess(let failure): failure.sentence
        case .unreachable: "The Play Developer API could not be reached."
        case .unauthorised: "The Play Developer API does not accept our token."
        case .forbidden:
            "The service account lacks permission: give it access to the app in the Play Console."
        case .notFound: "Google Play does not find this purchase of this app."
        case .gone: "The purchase ended too long ago; Google Play no longer has it."
        case .throttled: throttledSentence
        case .conflict(let status):
            "Google Play answered \(status): the purchase changed, or does not allow this change."
        case .status(let status, let word):
            "The Play Developer API answered \(status)" + (word.map { " (\($0.text))." } ?? ".")
        case .malformedJSON(let error):
            "Google Play's answer is not valid JSON at line \(error.line), "
                + "column \(error.column): it may be cut short."
        case .malformed(let refusal): "Google Play's answer was not understood. \(refusal)"
        case .endless: "Google Play reported more pages without a usable token for the next one."
        }
    }

    package var description: String { sentence }

    private var throttledSentence: String {
        let sentence = "Google Play asks us to come back later"
        return retryAt.map { "\(sentence), at \($0.rfc3339)." } ?? sentence + "."
    }
}

extension PlayQuestionFault: CustomStringConvertible {
    /// A one-sentence description of the reason.
    package var sentence: String {
        switch self {
        case .identifier: "This is not a valid Google Play id. No request was sent."
        case .startAfterEnd: "The start must be before the end."
        case .startTooOld(let earliest):
            "Google Play does not list orders voided that long ago: start from "
                + "\(earliest.rfc3339) on."
        case .outOfRange(let field, let range):
            "\(field) must be from \(range.lowerBound) to \(range.upperBound)."
        case .repeated: "An id is named twice."
        }
    }

    package var description: String { sentence }
}
