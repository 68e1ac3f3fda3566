package import TideoverJSON

/// An error in the form that the SDKs read: a number that selects what the app sees, and a message.
///
/// On receipts the status decides about the purchase. After a 4xx the SDKs finish it for good;
/// after a 5xx they keep it and send it again.
package enum SDKError: Error, Hashable, Sendable {
    case invalidKey
    /// The request is about a platform that is not served.
    case wrongPlatform
    case badRequest(String)
    case emptyUserID
    case invalidUserID
    /// The id is one that apps send for customers without an id.
    case reservedUserID
    /// The evidence is forged, or belongs to another app.
    case invalidReceipt(String)
    /// Another customer owns the purchase, and policy keeps it there.
    case alreadyOwned
    /// Nothing can be concluded about the purchase now.
    case tryLater(String)
    /// The server does not offer it.
    case notOffered(String)
    case wrongMethod
    case noOfferKey
    /// The customer, or the app, may not use a promotional offer.
    case notEligible
    case unknownRedemption
    /// A receipt of a store that is not served. It is the only 4xx that leaves an Android purchase
    /// alone.
    case storeNotServed
    case invalidAttributes([String: String])
    /// The body has no attributes.
    case noAttributes
    /// The two ids stay two customers.
    case aliasRefused
    /// The sender's budget is used up. A device finishes its purchase after it, so a receipt is
    /// never answered so.
    case tooManyRequests(retryAfter: Int)

    package var status: Int {
        switch self {
        case .invalidKey: 401
        case .tryLater: 503
        case .notOffered: 404
        case .wrongMethod: 405
        case .tooManyRequests: 429
        case .wrongPlatform, .badRequest, .emptyUserID, .invalidUserID, .reservedUserID,
            .invalidReceipt, .alreadyOwned, .noOfferKey, .notEligible, .unknownRedemption,
            .storeNotServed, .invalidAttributes, .noAttributes, .aliasRefused:
            400
        }
    }

    package var code: Int {
        switch self {
        case .invalidKey: 7225
        case .wrongPlatform: 7000
        case .badRequest, .wrongMethod: 7226
        case .emptyUserID: 7220
        case .invalidUserID, .reservedUserID: 7256
        case .invalidReceipt: 7103
        case .alreadyOwned: 7102
        case .tryLater, .tooManyRequests: 7110
        case .notOffered: 7259
        case .noOfferKey: 7234
        case .notEligible: 7232
        case .unknownRedemption: 7849
        case .storeNotServed: 7662
        case .invalidAttributes: 7263
        case .noAttributes: 7264
        case .aliasRefused: 7255
        }
    }

    package var message: String {
        switch self {
        case .invalidKey: "Invalid API key. Use a key of `revenueCat.sdk`."
        case .wrongPlatform: "This platform is not served."
        case .badRequest(let detail), .invalidReceipt(let detail), .tryLater(let detail),
            .notOffered(let detail):
            detail
        case .emptyUserID: "The app user id is empty."
        case .invalidUserID: "Invalid app user id. Use at most 100 characters, none of them NUL."
        case .reservedUserID:
            "This app user id names no customer. Use the customer's own id, or none."
        case .alreadyOwned: "Another customer owns this purchase."
        case .wrongMethod: "The path does not accept this method."
        case .noOfferKey: "No In-App Purchase key is configured."
        case .notEligible: "This promotional offer is not available."
        case .unknownRedemption: "This redemption token is not known."
        case .storeNotServed: "Purchases of this store are not served."
        case .invalidAttributes: "Some attributes could not be saved."
        case .noAttributes: "`attributes` must be an object."
        case .aliasRefused: "These ids cannot be joined."
        case .tooManyRequests: "Too many requests. Try again later."
        }
    }

    /// The seconds after which the same request may succeed; nil if the server knows none.
    package var retryAfter: Int? {
        if case .tooManyRequests(let seconds) = self { seconds } else { nil }
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.field("code", code)
        writer.field("message", message)
        guard case .invalidAttributes(let faults) = self else { return }
        Self.writeAttributeErrors(faults, to: &writer)
    }

    /// Writes why attributes were not stored, by name.
    package static func writeAttributeErrors(
        _ faults: [String: String],
        to writer: inout JSONWriter
    ) {
        writer.field("attribute_errors", objects: faults.inKeyOrder) { row, writer in
            let (name, fault) = row
            writer.field("key_name", name)
            writer.field("message", fault)
        }
    }
}
