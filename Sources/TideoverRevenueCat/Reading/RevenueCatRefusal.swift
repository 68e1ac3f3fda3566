package import TideoverCore
package import TideoverJSON

/// Describes why RevenueCat content is rejected, even if its sender is authenticated.
package enum RevenueCatRefusal: Error, Hashable, Sendable {
    /// The text is not JSON.
    case malformedJSON(JSONError)
    /// A required member is absent.
    case missingMember(String)
    /// A known field has a value of the wrong type or out of range.
    case malformed(field: String)
    /// This version does not know the message format.
    case unknownVersion(String)
    /// The app does not accept this environment.
    case wrongEnvironment(accepted: [Environment], found: Environment)
    /// It is a response of RevenueCat's REST API v2, which has another format.
    case apiV2Response
}

/// A note about a message for operators who inspect it.
package enum RevenueCatNote: Hashable, Sendable {
    /// The message is a test and has no purchase.
    case test
    /// This version does not know the type, so the message changes nothing.
    case unknownType(String)
    /// The event type never changes access.
    case noPurchase(String)
    /// The purchase lacks its identifiers, so the message states nothing.
    case incomplete(product: String?, missing: [String])
    /// This version does not know the store, so the message states nothing.
    case unknownStore(String)
    /// A refund of a continuing period or of an earlier one: nothing is revoked.
    case refundTakesNothingBack
    /// A malformed purchase in a response is omitted; the others are read.
    case leftOut(RevenueCatRefusal)
}
