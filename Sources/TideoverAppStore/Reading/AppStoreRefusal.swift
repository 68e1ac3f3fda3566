package import TideoverASN1
package import TideoverCore
package import TideoverJSON

/// Describes why an App Store message is rejected, even if its signature is valid.
package enum AppStoreRefusal: Error, Hashable, Sendable {
    /// The body is not JSON.
    case malformedJSON(JSONError)
    /// A required member is absent.
    case missingMember(String)
    /// A known field has a value of the wrong type or out of range.
    case malformed(field: String)
    /// The signed content is not a known type of App Store content.
    case unrecognisedContent
    /// The content of a receipt has an invalid structure.
    case malformedReceipt(BERError)
    /// The input is neither a receipt container nor canonical base64 of one.
    case notBase64
    /// A verifyReceipt response reports an error status instead of a receipt.
    case receiptStatus(Int64)
    /// A verifyReceipt response has no signed receipt, so nothing proves its content.
    case unsignedAnswer
    /// The content is not a notification.
    case notANotification
    /// A notification has more than one subject.
    case ambiguousContent(members: [String])
    /// It is for an app with another bundle ID.
    case wrongBundle(expected: String, found: String?)
    /// It is for an app with another App Store ID.
    case wrongApp(expected: Int64, found: Int64?)
    /// The signing authority does not certify the claimed environment.
    case environmentNotVouchedFor(found: String?)
    /// The app does not accept this environment.
    case wrongEnvironment(accepted: [Environment], found: Environment)
    /// A signed part contradicts the content around it.
    case nestedMismatch(part: SignedPart, field: String, outer: String?, inner: String?)
}

/// The separately signed members of a notification.
package enum SignedPart: String, Hashable, Sendable, CaseIterable {
    case transaction = "signedTransactionInfo"
    case renewalInfo = "signedRenewalInfo"
    case appTransaction = "signedAppTransactionInfo"
}

/// A note about a message for operators who inspect it.
package enum AppStoreNote: Hashable, Sendable {
    /// The message is a test and has no purchase.
    case test
    /// This version does not know the type, so the message changes nothing.
    case unknownType(String)
    /// This version does not know the object that the notification is about.
    case unknownContent(String)
    /// The owner is unknown: this version does not know the ownership type.
    case unknownOwnership(String)
    /// A simulated store claims another environment.
    case claimsEnvironment(String, instead: Environment)
    /// The transaction lacks members that a fact needs.
    case incompleteTransaction(missing: [String])
    /// The renewal info lacks members that a fact needs.
    case incompleteRenewalInfo(missing: [String])
    /// A renewal info without a transaction beside it.
    case renewalInfoAlone
    /// The notification announces a refund or revocation, but the transaction has none.
    case nothingTakenBack(String)
    /// The transaction's revocation date comes from an upgrade.
    case upgradedAway
    /// The purchase belongs to another member of the family.
    case familyShared
    /// The purchase is a seat of a group's or an organization's purchase.
    case assigned
    /// A mass extension of renewal dates has finished.
    case extensionSummary(succeeded: Int64?, failed: Int64?)
    /// A token for purchases outside the store.
    case externalPurchaseToken
    /// Consent to use the app was withdrawn.
    case consentRescinded
    /// Only the signed receipt in a verifyReceipt response is trusted.
    case answerNotSigned
    /// A receipt without purchases.
    case noPurchases
    /// An app transaction has no purchase.
    case appTransaction
}
