import TideoverASN1
import TideoverCore
import TideoverJSON

extension AppStoreRefusal: CustomStringConvertible {
    /// A stable code for the reason; it depends only on the case.
    package var code: String {
        switch self {
        case .malformedJSON(let error): error.code
        case .missingMember: "missing-member"
        case .malformed: "malformed"
        case .unrecognisedContent: "unrecognised-content"
        case .malformedReceipt: "receipt-malformed"
        case .notBase64: "not-base64"
        case .receiptStatus: "receipt-status"
        case .unsignedAnswer: "unsigned-answer"
        case .notANotification: "not-a-notification"
        case .ambiguousContent: "ambiguous-content"
        case .wrongBundle: "wrong-bundle"
        case .wrongApp: "wrong-app"
        case .environmentNotVouchedFor: "environment-not-vouched-for"
        case .wrongEnvironment: "wrong-environment"
        case .nestedMismatch: "nested-mismatch"
        }
    }

    /// A one-sentence description of the reason for logs. It shows only bundle IDs, environments
    /// and field names from the content.
    package var sentence: String {
        switch self {
        case .malformedJSON(let error) where error.code == "duplicate-key":
            "The body has a key twice in one object, at line \(error.line), "
                + "column \(error.column)."
        case .malformedJSON(let error):
            "The body is not valid JSON at line \(error.line), column \(error.column)."
        case .missingMember("signedPayload"):
            "The member signedPayload is missing. Notifications of version 1 do not have it: choose "
                + "version 2 in App Store Connect."
        case .missingMember(let name): "The member \(name) is missing."
        case .malformed(let field): "The value of \(field) has the wrong type or is out of range."
        case .unrecognisedContent: "The App Store is not known to send signed content of this kind."
        case .malformedReceipt(let error):
            "The content of the receipt is malformed: \(error.words)."
        case .notBase64: "This is neither a receipt (PKCS #7) nor canonical base64 of one."
        case .receiptStatus(let status): Self.answered(status)
        case .unsignedAnswer:
            "A verifyReceipt response is not signed, and this one contains no signed receipt."
        case .notANotification: "This is signed by the App Store, but is not a notification."
        case .ambiguousContent(let members):
            "Only one of \(members.joined(separator: ", ")) may be present."
        case .wrongBundle(let expected, let found):
            "This is for \(found ?? "an app without a bundle id"), not for \(expected)."
        case .wrongApp: "This is for an app with another appAppleId than the configured one."
        case .environmentNotVouchedFor(let found):
            "The signer is not trusted for \(found ?? "an unnamed environment")."
        case .wrongEnvironment(let accepted, let found):
            "This is from the environment \(found.rawValue); the app accepts \(accepted.list)."
        case .nestedMismatch(let part, let field, let outer, let inner):
            Self.mismatch(part, field, outer, inner)
        }
    }

    package var description: String { sentence }

    /// https://developer.apple.com/documentation/appstorereceipts/status
    private static func answered(_ status: Int64) -> String {
        let reason =
            switch status {
            case 21002: "the receipt was malformed, or the store had a temporary fault"
            case 21003: "the receipt could not be authenticated"
            case 21004: "the shared secret was not that of the account"
            case 21005: "the store could not be reached"
            case 21006: "the subscription had ended"
            case 21007: "the receipt is from the sandbox, but production was queried"
            case 21008: "the receipt is from production, but the sandbox was queried"
            case 21009, 21100...21199: "the store had a fault"
            case 21010: "the account was not found, or was deleted"
            default: "the store gave no known reason"
            }
        return "verifyReceipt answered \(status): \(reason)."
    }

    private static func mismatch(
        _ part: SignedPart,
        _ field: String,
        _ outer: String?,
        _ inner: String?
    ) -> String {
        if field == "kind" {
            return "\(part.rawValue) contains \(inner ?? "something else")."
        }
        let general = "The \(field) of \(part.rawValue) differs from the enclosing document"
        guard field == "bundleId" || field == "environment" else { return general + "." }
        return general + ": \(inner ?? "none") instead of \(outer ?? "none")."
    }
}

extension [Environment] {
    fileprivate var list: String {
        isEmpty ? "none" : map(\.rawValue).joined(separator: ", ")
    }
}

extension AppStoreNote: CustomStringConvertible {
    /// A one-sentence description of the note.
    package var sentence: String {
        switch self {
        case .test: "A test notification, without a purchase."
        case .unknownType(let type):
            "The notification type \(type) is not known to this version: it changes nothing."
        case .unknownContent(let name):
            "The object \(name) is not known to this version: it changes nothing."
        case .unknownOwnership(let type):
            "The ownership type \(type) is not known to this version: it changes nothing."
        case .claimsEnvironment(let claim, let environment):
            "It claims \(claim), but its signer vouches only for \(environment.rawValue)."
        case .incompleteTransaction(let missing):
            "The transaction names no \(missing.joined(separator: ", ")), so it states nothing."
        case .incompleteRenewalInfo(let missing):
            "The renewal info names no \(missing.joined(separator: ", ")), so it states nothing."
        case .renewalInfoAlone:
            "A renewal info alone does not name the ownership; the purchaser's is assumed."
        case .nothingTakenBack(let type):
            "\(type) is announced, but the transaction carries no revocation: access stays."
        case .upgradedAway:
            "The transaction was replaced by an upgrade; its revocation date is not a refund."
        case .familyShared: "The purchase is shared by another member of the family."
        case .assigned: "The purchase is a seat that a group or an organization assigned."
        case .extensionSummary(let succeeded, let failed):
            "Renewal dates were extended: \(count(succeeded)) succeeded, \(count(failed)) failed."
        case .externalPurchaseToken: "A token for purchases outside the App Store."
        case .consentRescinded: "Consent for a child to use the app was withdrawn."
        case .answerNotSigned:
            "A verifyReceipt response is not signed: only the receipt in it is trusted."
        case .noPurchases: "It contains no purchase."
        case .appTransaction: "An app transaction, without a purchase."
        }
    }

    package var description: String { sentence }

    private func count(_ number: Int64?) -> String {
        number.map(String.init) ?? "an unstated number"
    }
}
