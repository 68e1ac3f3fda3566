import TideoverAppStore
import TideoverJSON

/// A purchase on Google Play as a device presents it. Nothing in it is signed for us, so that nothing of
/// it is believed: its token only says what the store is to be asked about.
package struct PresentedPurchase: Hashable, Sendable {
    /// A secret.
    package let purchaseToken: String
    /// What it is said to be a purchase of. It decides what is asked first; where the store cannot
    /// be asked, it names the product that a notification of the token is about.
    package let productId: String?
    /// The base plan that it is said to be of.
    package let basePlan: String?
    /// The app that it is said to be of.
    package let packageName: String?
}

extension PresentedPurchase {
    static let tokenMembers = ["purchaseToken", "purchaseTokenAndroid"]

    /// Reads a purchase of Google Play: as OpenIAP has it (react-native-iap, expo-iap), also as its
    /// older versions had it, with the text of Google's own object inside, as an active
    /// subscription, or as our own few members.
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

/// The store that a purchase object of OpenIAP is of.
enum PurchaseObjectStore: Hashable {
    case appStore, googlePlay
    /// `amazon`, `horizon` and the like are stores of their own.
    case other

    /// The members that hold what the App Store signed, in order of preference. The names with
    /// `IOS` and `Ios` are those of react-native-iap 12 and 13 and older versions of expo-iap.
    static let signedMembers = [
        "purchaseToken", "jwsRepresentationIOS", "jwsRepresentationIos", "jwsRepresentation",
        "verificationResultIOS", "transactionReceipt",
    ]

    /// The store that the object names. Without one, its platform; without either, the store that
    /// its members are of: react-native-iap 12 and 13 and active subscriptions of OpenIAP name
    /// neither.
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

    /// Whether a token is neither a signed document nor a receipt, which the App Store's are.
    private static func isPlayToken(_ token: String) -> Bool {
        !token.isEmpty && !token.utf8.starts(with: "eyJ".utf8)
            && AppStoreInput(Array(token.utf8)) == .other
    }
}
