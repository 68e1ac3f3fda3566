import TideoverAppStore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverRevenueCat
import TideoverSignatures

/// An expected answer to signed data: it is not believed, for a reason with a stable code.
protocol Refusal: Error {
    var code: String { get }
    var sentence: String { get }
    var status: Int { get }
}

extension Refusal {
    var problem: Problem {
        Problem(
            code,
            status: status,
            title: ProblemType.named(code)?.title ?? "The document is not accepted.",
            detail: sentence
        )
    }
}

extension SignatureRefusal: Refusal {
    var sentence: String { "\(self)." }

    /// What cannot be taken apart is malformed; what can and does not hold is unauthorised.
    var status: Int {
        switch self {
        case .notCompactJWS, .notBase64URL, .headerNotJSON, .headerNotObject,
            .malformedSignedData, .notSignedData, .signedDataVersion, .contentMissing:
            400
        case .tooLarge, .signedDataTooLarge: 413
        default: 401
        }
    }
}

extension AppStoreRefusal: Refusal {
    /// What is signed but is not for this app, or does not agree with itself, cannot be processed.
    var status: Int {
        switch self {
        case .malformedJSON(let error): error.status
        case .missingMember, .malformed, .unrecognisedContent, .notANotification,
            .ambiguousContent, .malformedReceipt, .notBase64, .receiptStatus, .unsignedAnswer:
            400
        case .wrongBundle, .wrongApp, .environmentNotVouchedFor, .wrongEnvironment,
            .nestedMismatch:
            422
        }
    }
}

extension PlayRefusal: Refusal {
    var status: Int {
        switch self {
        case .malformedJSON(let error): error.status
        case .missingMember, .malformed, .ambiguousContent: 400
        case .wrongPackage, .wrongEnvironment: 422
        }
    }
}

extension PushRefusal: Refusal {
    var status: Int { 401 }
}

extension WebhookObjection: Refusal {
    var status: Int { 401 }
}

extension RevenueCatRefusal: Refusal {
    var status: Int {
        switch self {
        case .malformedJSON(let error): error.status
        case .missingMember, .malformed, .unknownVersion, .apiV2Response: 400
        case .wrongEnvironment: 422
        }
    }
}

extension JSONError: Refusal {
    var sentence: String { "The signed payload is not strict JSON: \(self)." }
    var status: Int { code == "too-large" ? 413 : 400 }
}
