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
    var title: String { get }
}

extension Refusal {
    var problem: Problem {
        Problem(code, status: status, title: title, detail: sentence)
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

    var title: String {
        status == 401
            ? "The signature is not believed." : "The signed document cannot be read."
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

    var title: String {
        status == 422
            ? "The notification is not for this app." : "The notification cannot be read."
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

    var title: String {
        status == 422
            ? "The notification is not for this app." : "The notification cannot be read."
    }
}

extension PushRefusal: Refusal {
    var status: Int { 401 }
    var title: String { "The push is not believed to be Pub/Sub's." }
}

extension WebhookObjection: Refusal {
    var status: Int { 401 }
    var title: String { "The webhook is not believed to be RevenueCat's." }
}

extension RevenueCatRefusal: Refusal {
    var status: Int {
        switch self {
        case .malformedJSON(let error): error.status
        case .missingMember, .malformed, .unknownVersion, .apiV2Response: 400
        case .wrongEnvironment: 422
        }
    }

    var title: String {
        switch self {
        case .wrongEnvironment: "The notification is not for this app."
        case .malformedJSON, .missingMember, .malformed, .unknownVersion, .apiV2Response:
            "The notification cannot be read."
        }
    }
}

extension JSONError: Refusal {
    var sentence: String { "The signed payload is not strict JSON: \(self)." }
    var status: Int { code == "too-large" ? 413 : 400 }
    var title: String { "The signed document cannot be read." }
}
