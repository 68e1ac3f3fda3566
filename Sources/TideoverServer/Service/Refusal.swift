import TideoverAppStore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverRevenueCat
import TideoverSignatures

/// An expected rejection of signed data, with a stable code.
protocol Refusal: Error {
    var code: String { get }
    var sentence: String { get }
    var status: Int { get }
    /// The sentence for the log, or nil if it can quote text that nothing has verified.
    var logged: String? { get }
}

extension Refusal {
    var logged: String? { sentence }

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
    var logged: String? { nil }

    /// 400 for data that cannot be parsed, 401 for data with an invalid signature.
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
    /// 422 for signed data that is inconsistent or for another app.
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
    var logged: String? { nil }
    var status: Int { code == "too-large" ? 413 : 400 }
}
