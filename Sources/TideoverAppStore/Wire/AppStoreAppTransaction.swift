public import TideoverCore
package import TideoverJSON

/// The part of a signed app transaction's payload that says which app it is for, and when it was
/// signed.
/// https://developer.apple.com/documentation/storekit/apptransaction
public struct AppStoreAppTransaction: Hashable, Sendable {
    /// The environment.
    public let receiptType: Stated<StoreEnvironment>?
    public let appAppleId: Int64?
    public let bundleId: String?
    /// When it was signed.
    public let receiptCreationDate: Instant?
    /// The id of one Apple Account's copy of the app.
    public let appTransactionId: String?
}

extension AppStoreAppTransaction {
    /// Reads a payload whose signature the caller has checked.
    package init(payload: JSONNode) throws(AppStoreRefusal) {
        try self.init(WireFields(payload))
    }

    init(_ fields: WireFields) throws(AppStoreRefusal) {
        receiptType = try fields.word("receiptType")
        appAppleId = try fields.integer("appAppleId")
        bundleId = try fields.string("bundleId")
        receiptCreationDate = try fields.date("receiptCreationDate")
        appTransactionId = try fields.string("appTransactionId")
    }
}
