import TideoverCore
import TideoverJSON

extension RevenueCatRefusal: CustomStringConvertible {
    /// A stable code for the reason; it depends only on the case.
    package var code: String {
        switch self {
        case .malformedJSON(let error): error.code
        case .missingMember: "missing-member"
        case .malformed: "malformed"
        case .unknownVersion: "unknown-version"
        case .wrongEnvironment: "wrong-environment"
        case .apiV2Response: "revenuecat-api-v2"
        }
    }

    /// A one-sentence description of the reason for logs. It shows only field names, products and
    /// environments from the content.
    package var sentence: String {
        switch self {
        case .malformedJSON(let error) where error.code == "duplicate-key":
            "It has a key twice in one object, at line \(error.line), column \(error.column)."
        case .malformedJSON(let error):
            "It is not valid JSON at line \(error.line), column \(error.column)."
        case .missingMember(let name): "The member \(name) is missing."
        case .malformed(let field): "The value of \(field) has the wrong type or is out of range."
        case .unknownVersion(let version):
            "Its api_version is \(version), which this version of Tideover does not know."
        case .wrongEnvironment(let accepted, let found):
            "It is from the environment \(found.rawValue); the app accepts \(accepted.list)."
        case .apiV2Response:
            "This is a RevenueCat API v2 response. Export with API v1: "
                + "GET /v1/subscribers/{app_user_id}."
        }
    }

    package var description: String { sentence }
}

extension [Environment] {
    fileprivate var list: String {
        isEmpty ? "none" : map(\.rawValue).joined(separator: ", ")
    }
}

extension RevenueCatNote: CustomStringConvertible {
    /// A one-sentence description of the note.
    package var sentence: String {
        switch self {
        case .test: "A test event, without a purchase."
        case .unknownType(let type):
            "The event type \(type) is not known to this version: it changes nothing."
        case .noPurchase(let type): "An event of type \(type) changes no access."
        case .incomplete(let product, let missing):
            "The part on \(product ?? "a purchase") names no "
                + "\(missing.joined(separator: ", ")), so it states nothing."
        case .unknownStore(let store):
            "The store \(store) is not known to this version: it changes nothing."
        case .refundTakesNothingBack:
            "The refund is of a period that continues, or of an earlier one: access stays."
        case .leftOut(let refusal): "One purchase is left out. " + refusal.sentence
        }
    }

    package var description: String { sentence }
}

extension WebhookObjection {
    /// A stable code for the reason; it depends only on the case.
    package var code: String {
        switch self {
        case .nothingToCheck: "nothing-to-check"
        case .missingAuthorization: "missing-authorization"
        case .wrongAuthorization: "wrong-authorization"
        case .missingSignature: "missing-signature"
        case .malformedSignature: "malformed-signature"
        case .wrongSignature: "wrong-signature"
        case .untimelySignature: "untimely-signature"
        }
    }

    /// Describes the problem and its solution in one sentence.
    package var sentence: String {
        switch self {
        case .nothingToCheck:
            "No authentication of RevenueCat is configured: set the authorization header's value."
        case .missingAuthorization:
            "The request has no Authorization header: set its value in RevenueCat's dashboard."
        case .wrongAuthorization:
            "The Authorization header is not the configured one: set both to the same value."
        case .missingSignature:
            "The request is not signed: enable signing in RevenueCat's dashboard."
        case .malformedSignature: "The signature header does not have the form t=SECONDS,v1=HEX."
        case .wrongSignature:
            "The signature is not valid: set the secret to that of RevenueCat's dashboard."
        case .untimelySignature(let away):
            "The request was signed \(away.text) away from now: check the clock, or send it again."
        }
    }
}
