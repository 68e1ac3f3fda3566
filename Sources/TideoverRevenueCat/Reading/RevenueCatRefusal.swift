public import TideoverCore
public import TideoverJSON

/// Why something of RevenueCat's is not believed, although its sender may be who it says.
public enum RevenueCatRefusal: Error, Hashable, Sendable {
    /// The text is not JSON.
    case malformedJSON(JSONError)
    /// A member without which nothing can be done is absent.
    case missingMember(String)
    /// A known field has a value of the wrong type or out of range.
    case malformed(field: String)
    /// The form of the message is one that this version does not know.
    case unknownVersion(String)
    /// It is of an environment that the app takes no part in.
    case wrongEnvironment(accepted: [Environment], found: Environment)
    /// It is a response of RevenueCat's REST API v2, whose objects have another form.
    case apiV2Response
}

/// Something worth saying about a message to whoever inspects it.
public enum RevenueCatNote: Hashable, Sendable {
    /// It is a test and speaks of no purchase.
    case test
    /// Its type is none that this version knows, so it changes nothing.
    case unknownType(String)
    /// It is of a kind that changes no access.
    case noPurchase(String)
    /// It speaks of a purchase and lacks what names it, so it states nothing.
    case incomplete(product: String?, missing: [String])
    /// The store is none that this version knows, so it states nothing.
    case unknownStore(String)
    /// A refund of a period that goes on, or of an earlier one: nothing is taken back.
    case refundTakesNothingBack
    /// One purchase in an answer is malformed and left out; the others are read.
    case leftOut(RevenueCatRefusal)
}
