import TideoverAppStore
import TideoverJSON

/// A purchase on Google Play as a device presents it. It has no signature, so nothing in it is
/// trusted; its token only identifies the purchase to query.
package struct PresentedPurchase: Hashable, Sendable {
    /// The purchase token, which is a secret.
    package let purchaseToken: String
    /// The product that the device states. It determines the first query. If the store cannot be
    /// queried, it names the product for a notification of the token.
    package let productId: String?
    /// The base plan that the device states.
    package let basePlan: String?
    /// The app that the device states.
    package let packageName: String?
}

extension PresentedPurchase {
    static let tokenMembers = ["purchaseToken", "purchaseTokenAndroid"]

    /// Reads a purchase of Google Play in one of several formats: OpenIAP (react-native-iap,
    /// expo-iap) and its older versions, with Google's own object as text inside. It also accepts
    /// an active subscription, or our own short format.
    ///
    /// https://www.openiap.dev/docs/types#purchase
    init(_ purchase: JSONNode) throws(DeviceRefusal) {
        let texts = ["dataAndroid", "originalJson", "transactionReceipt"].compactMap {
            purchase[$0]?.string
        }
        let original = texts.lazy.compactMap { try? JSONDocument(Array($0.utf8)) }.first?.root
        func text(_ names: [String]) -> String? {
            let own = names.lazy.compactMap { purchase[$0]?.string }.first { !$0.isEmpty }
            return own ?? names.lazy.compactMap { original?[$0]?.string }.first { !$0.isEmpty }
        }
        guard let token = text(Self.tokenMembers) else {
            throw .noPurchaseToken
        }
        purchaseToken = token
        productId = text(["productId", "sku"])
        basePlan = text(["basePlanIdAndroid", "currentPlanId", "basePlanId"])
        packageName = text(["packageNameAndroid", "packageName", "package"])
    }
}

/// The store of an OpenIAP purchase object.
enum PurchaseObjectStore: Hashable {
    case appStore, googlePlay
    /// Another store, such as `amazon` or `horizon`.
    case other

    /// The members that can contain signed data of the App Store, in order of preference. The names
    /// with `IOS` and `Ios` are those of react-native-iap 12 and 13 and older versions of expo-iap.
    static let signedMembers = [
        "purchaseToken", "jwsRepresentationIOS", "jwsRepresentationIos", "jwsRepresentation",
        "verificationResultIOS", "transactionReceipt",
    ]

    /// Determines the store from the object's store or platform. Without either, it uses the store
    /// that its members belong to, since react-native-iap 12 and 13 and active subscriptions of
    /// OpenIAP name neither.
    init(of purchase: JSONNode) {
        let names = ["store", "platform"].lazy.compactMap { purchase[$0]?.string?.lowercased() }
        if let name = names.first(where: { !$0.isEmpty && $0 != "unknown" }) {
            self.init(named: name)
        } else {
            self.init(byMembersOf: purchase)
        }
    }

    private init(named name: String) {
        self =
            switch name {
            case "apple", "ios", "appstore", "macos", "ipados": .appStore
            case "google", "googleplay", "android", "play": .googlePlay
            default: .other
            }
    }

    private init(byMembersOf purchase: JSONNode) {
        let names = purchase.members.lazy.filter { !$0.value.isNull }.map(\.key)
        if names.contains(where: { $0.hasSuffix("Amazon") }) {
            self = .other
        } else if names.contains(where: { $0.hasSuffix("Android") }) {
            self = .googlePlay
        } else if names.contains(where: { $0.hasSuffix("IOS") || $0.hasSuffix("Ios") }) {
            self = .appStore
        } else {
            self =
                Self.isPlayToken(purchase["purchaseToken"]?.string ?? "") ? .googlePlay : .appStore
        }
    }

    /// Returns whether a token is neither a signed document nor a receipt, as those of the App
    /// Store are.
    private static func isPlayToken(_ token: String) -> Bool {
        !token.isEmpty && !token.utf8.starts(with: "eyJ".utf8)
            && AppStoreInput(Array(token.utf8)) == .other
    }
}
