public import TideoverASN1
public import TideoverCore
public import TideoverJSON

/// Why a message of the App Store's is not believed, although its signature may hold.
public enum AppStoreRefusal: Error, Hashable, Sendable {
    /// The body is not JSON.
    case malformedJSON(JSONError)
    /// A member without which nothing can be done is absent.
    case missingMember(String)
    /// A known field has a value of the wrong type or out of range.
    case malformed(field: String)
    /// The signed content is nothing that the App Store is known to send.
    case unrecognisedContent
    /// The content of a receipt is not laid out as it must be.
    case malformedReceipt(BERError)
    /// What should be a receipt is neither a container nor canonical base64 of one.
    case notBase64
    /// An answer of verifyReceipt tells why there is none.
    case receiptStatus(Int64)
    /// An answer of verifyReceipt that carries no signed receipt: nobody vouches for it.
    case unsignedAnswer
    /// It is something else than a notification.
    case notANotification
    /// A notification is about more than one thing.
    case ambiguousContent(members: [String])
    /// It is for an app with another bundle id.
    case wrongBundle(expected: String, found: String?)
    /// It is for an app with another number in the store.
    case wrongApp(expected: Int64, found: Int64?)
    /// Who signed it does not vouch for the environment that it claims.
    case environmentNotVouchedFor(found: String?)
    /// It is of an environment that the app takes no part in.
    case wrongEnvironment(accepted: [Environment], found: Environment)
    /// A signed part says otherwise than what surrounds it.
    case nestedMismatch(part: SignedPart, field: String, outer: String?, inner: String?)
}

/// The members of a notification that are signed by themselves.
public enum SignedPart: String, Hashable, Sendable, CaseIterable {
    case transaction = "signedTransactionInfo"
    case renewalInfo = "signedRenewalInfo"
    case appTransaction = "signedAppTransactionInfo"
}

/// Something worth saying about a message to whoever inspects it.
public enum AppStoreNote: Hashable, Sendable {
    /// It is a test and speaks of no purchase.
    case test
    /// Its type is none that this version knows, so it changes nothing.
    case unknownType(String)
    /// Whose it is cannot be told from an ownership type that this version does not know.
    case unknownOwnership(String)
    /// A simulated store claims to be another.
    case claimsEnvironment(String, instead: Environment)
    /// The transaction lacks what a fact needs.
    case incompleteTransaction(missing: [String])
    /// The renewal info lacks what a fact needs.
    case incompleteRenewalInfo(missing: [String])
    /// A renewal info without a transaction beside it.
    case renewalInfoAlone
    /// A refund or revocation is announced, but the transaction carries none.
    case nothingTakenBack(String)
    /// The transaction's revocation date is that of an upgrade.
    case upgradedAway
    /// The purchase belongs to another member of the family.
    case familyShared
    /// A mass extension of renewal dates has finished.
    case extensionSummary(succeeded: Int64?, failed: Int64?)
    /// A token for purchases outside the store.
    case externalPurchaseToken
    /// Consent to use the app was withdrawn.
    case consentRescinded
    /// Of an answer of verifyReceipt, only the signed receipt in it is believed.
    case answerNotSigned
    /// A receipt without purchases.
    case noPurchases
    /// An app transaction speaks of no purchase.
    case appTransaction
}
