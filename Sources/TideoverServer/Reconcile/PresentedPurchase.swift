import TideoverJSON

/// A purchase on Google Play as a device presents it. Nothing in it is signed for us, so that nothing of
/// it is believed: its token only says what the store is to be asked about.
package struct PresentedPurchase: Hashable, Sendable {
    /// A secret.
    package let purchaseToken: String
    /// What it is said to be a purchase of: it decides what is asked first, and no more.
    package let productId: String?
    /// The app that it is said to be of.
    package let packageName: String?
}

extension PresentedPurchase {
    /// Reads a purchase of Google Play: as OpenIAP has it (react-native-iap, expo-iap), also as its older
    /// versions had it, with the text of Google's own object inside, or as our own few members.
    ///
    /// https://www.openiap.dev/docs/types#purchase
    init(_ purchase: JSONNode) throws(DeviceRefusal) {
        let texts = ["dataAndroid", "originalJson", "transactionReceipt"].compactMap {
            purchase[$0]?.string
        }
        let original = texts.lazy.compactMap { try? JSONDocument(Array($0.utf8)) }.first?.root
        func text(_ names: String...) -> String? {
            let own = names.lazy.compactMap { purchase[$0]?.string }.first { !$0.isEmpty }
            return own ?? names.lazy.compactMap { original?[$0]?.string }.first { !$0.isEmpty }
        }
        guard let token = text("purchaseToken", "purchaseTokenAndroid") else {
            throw .noPurchaseToken
        }
        purchaseToken = token
        productId = text("productId", "sku")
        packageName = text("packageNameAndroid", "packageName", "package")
    }

    /// Whether a purchase object says that it is one of Google Play; `amazon`, `horizon` and the like are
    /// stores of their own.
    static func isOne(_ purchase: JSONNode) -> Bool {
        let store = (purchase["store"] ?? purchase["platform"])?.string?.lowercased()
        return store.map { ["google", "googleplay", "android", "play"].contains($0) } ?? false
    }
}
