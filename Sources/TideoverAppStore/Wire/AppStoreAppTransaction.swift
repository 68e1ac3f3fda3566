package import TideoverCore
package import TideoverJSON

/// A signed app transaction: one Apple Account's copy of an app. Only the account and the signing
/// date are used here.
/// https://developer.apple.com/documentation/storekit/apptransaction
package struct AppStoreAppTransaction: Hashable, Sendable {
    /// The environment.
    package let receiptType: OpenEnum<StoreEnvironment>?
    package let appAppleId: Int64?
    package let bundleId: String?
    /// The signing date.
    package let receiptCreationDate: Instant?
    /// The id of one Apple Account's copy of the app.
    package let appTransactionId: String?
    package let applicationVersion: String?
    /// Apple's own ID of that version.
    package let versionExternalIdentifier: Int64?
    package let originalPurchaseDate: Instant?
    package let originalApplicationVersion: String?
    /// Ties the app transaction to one device, together with the nonce; base64.
    package let deviceVerification: String?
    package let deviceVerificationNonce: String?
    package let preorderDate: Instant?
    /// The platform of the original purchase, such as `iOS`.
    package let originalPlatform: String?
}

extension AppStoreAppTransaction {
    /// Reads a payload after the caller has verified its signature.
    package init(payload: JSONNode) throws(AppStoreRefusal) {
        try self.init(WireFields(payload))
    }

    init(_ fields: WireFields) throws(AppStoreRefusal) {
        receiptType = try fields.word("receiptType")
        appAppleId = try fields.integer("appAppleId")
        bundleId = try fields.string("bundleId")
        receiptCreationDate = try fields.date("receiptCreationDate")
        appTransactionId = try fields.string("appTransactionId")
        applicationVersion = try fields.string("applicationVersion")
        versionExternalIdentifier = try fields.integer("versionExternalIdentifier")
        originalPurchaseDate = try fields.date("originalPurchaseDate")
        originalApplicationVersion = try fields.string("originalApplicationVersion")
        deviceVerification = try fields.string("deviceVerification")
        deviceVerificationNonce = try fields.string("deviceVerificationNonce")
        preorderDate = try fields.date("preorderDate")
        originalPlatform = try fields.string("originalPlatform")
    }
}
