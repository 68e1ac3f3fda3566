package import TideoverAppStore
import TideoverCore
package import TideoverHTTP
import TideoverJSON
import TideoverRevenueCat

/// The signed data that a device presents.
package struct DeviceEvidence: Sendable {
    /// The maximum number of pieces in one request; a device sends more in further requests.
    package static let mostItems = 32
    /// The maximum number of Google Play purchases in one request.
    package static let mostQuestions = 16

    /// Transactions, then renewal infos, purchase objects, receipts and responses of verifyReceipt,
    /// each in the given order.
    package let items: [DeviceItem]
    /// Whether the device reports that it queried its store and has nothing to present.
    package let saysNothing: Bool
    /// The device's own conclusion, for comparison; nil if it sent none.
    let conclusion: DeviceConclusion?

    /// Reads `{"transactions": ["eyJ..."], "renewalInfos": ["eyJ..."], "purchases": [{...}],
    /// "receipts": ["MII..."], "receiptAnswers": [{...}]}`, each optional, and `{"device": {...}}`
    /// as defined by `DeviceConclusion`. Purchases are unmodified objects of OpenIAP
    /// (react-native-iap, expo-iap), including its active subscriptions. Receipts are those of
    /// StoreKit 1 in base64. A device without any of these sends `{"nothing": true}`; a request
    /// without pieces and without that reports nothing.
    ///
    /// Unknown members are rejected, because a misspelt list would look like an empty one.
    /// Purchases and responses of verifyReceipt may have unknown members, since newer libraries add
    /// some.
    ///
    /// - Throws: `bad-reconcile-request`, `unknown-member`, `too-many-items`.
    package init(_ body: [UInt8]) throws(Problem) {
        let root: JSONNode
        do {
            root = try JSONDocument(body).root
        } catch {
            throw .badReconcileRequest("The body is not strict JSON: \(error).")
        }
        guard root.kind == .object else {
            throw .badReconcileRequest("The body is not an object.")
        }
        guard !RevenueCatSubscriber.isAPIv2Response(root) else {
            throw .badReconcileRequest(DeviceRefusal.revenueCatResponse.sentence)
        }
        try root.requireKnown(Self.members)
        let lists = try Self.lists(in: root)
        var items: [DeviceItem] = []
        for (kind, list) in lists {
            for (index, node) in list.elements.enumerated() {
                items.append(DeviceItem(kind, index, node, position: items.count))
            }
        }
        let questions = items.count { $0.presented != nil }
        guard questions <= Self.mostQuestions else {
            throw .tooManyPurchases(found: questions)
        }
        self.items = items
        saysNothing = try Self.saysNothing(in: root, beside: items.count)
        conclusion = try Self.conclusion(in: root)
    }

    /// Creates evidence of one piece.
    init(_ kind: DeviceItem.Kind, _ piece: JSONNode) {
        items = [DeviceItem(kind, 0, piece, position: 0)]
        saysNothing = false
        conclusion = nil
    }

    /// The store of all pieces; nil if there are none or they are of two stores.
    var store: Store? {
        let stores = Set(items.map { $0.presented == nil ? Store.appStore : .googlePlay })
        return stores.count == 1 ? stores.first : nil
    }

    private static let members = DeviceItem.Kind.members.map(\.1) + ["nothing", "device"]

    /// Returns the lists of pieces. Their number is checked before any piece is created.
    private static func lists(
        in root: JSONNode
    ) throws(Problem) -> [(kind: DeviceItem.Kind, list: JSONNode)] {
        var lists: [(kind: DeviceItem.Kind, list: JSONNode)] = []
        for (kind, name) in DeviceItem.Kind.members {
            guard let list = root[name], !list.isNull else { continue }
            guard list.kind == .array else { throw .badReconcileRequest("`\(name)` is a list.") }
            lists.append((kind, list))
        }
        let count = lists.reduce(0) { $0 + $1.list.count }
        guard count <= mostItems else { throw .tooManyItems(found: count) }
        return lists
    }

    private static func saysNothing(
        in root: JSONNode,
        beside count: Int
    ) throws(Problem) -> Bool {
        guard let node = root["nothing"], !node.isNull else { return false }
        guard let saysNothing = node.bool else {
            throw .badReconcileRequest("`nothing` must be true or false.")
        }
        guard !saysNothing || count == 0 else {
            throw .badReconcileRequest("`nothing` is true, but \(count) items are presented.")
        }
        return saysNothing
    }

    private static func conclusion(
        in root: JSONNode
    ) throws(Problem) -> DeviceConclusion? {
        guard let device = root["device"], !device.isNull else { return nil }
        try device.requireKnown(DeviceConclusion.members, at: "device")
        for (name, word) in device["entitlements"]?.members.map({ $0 }) ?? [] {
            try word.requireKnown(DeviceWord.members, at: "device.entitlements.\(name)")
        }
        do throws(FormError) {
            return try DeviceConclusion(json: device)
        } catch {
            switch error {
            case .missing(let field):
                throw .badReconcileRequest("`device` lacks `\(field)`.")
            case .wrongType(let field), .unknownWord(let field, _):
                throw .badReconcileRequest("`\(field)` of `device` is invalid.")
            }
        }
    }

    /// Returns the number of requests needed for a number of pieces.
    static func pages(for count: Int) -> Int { (count + mostItems - 1) / mostItems }
}

/// One piece of evidence that a device presents, not yet verified.
package struct DeviceItem: Sendable {
    package let kind: Kind
    /// The index in its list.
    package let index: Int
    /// The index among all pieces of the request.
    let position: Int
    /// The signed data in it, or the reason for its absence.
    package let signed: Result<SignedPiece, DeviceRefusal>
    /// The query for Google Play, for a purchase there; nil for other pieces.
    package let presented: Result<PresentedPurchase, DeviceRefusal>?

    package enum Kind: String, Sendable {
        case transaction, renewalInfo, purchase, receipt, receiptAnswer

        package static let members: [(Kind, String)] = [
            (.transaction, "transactions"), (.renewalInfo, "renewalInfos"),
            (.purchase, "purchases"), (.receipt, "receipts"), (.receiptAnswer, "receiptAnswers"),
        ]

        /// Returns whether the signed data may be of a kind.
        func mayBe(_ reading: AppStoreReading.Kind) -> Bool {
            switch self {
            case .transaction: reading == .transaction
            case .renewalInfo: reading == .renewalInfo
            case .purchase: reading == .transaction || reading == .receipt
            case .receipt, .receiptAnswer: reading == .receipt
            }
        }
    }

    init(_ kind: Kind, _ index: Int, _ node: JSONNode, position: Int) {
        self.kind = kind
        self.index = index
        self.position = position
        presented = kind == .purchase ? Self.presented(in: node) : nil
        signed =
            switch kind {
            case .transaction, .renewalInfo: Self.signed(in: node) { .document($0) }
            case .receipt: Self.signed(in: node) { .receipt($0) }
            case .receiptAnswer: Self.signed(inAnswer: node)
            case .purchase: Self.signed(inPurchase: node)
            }
    }

    private static func signed(
        in node: JSONNode,
        _ piece: ([UInt8]) -> SignedPiece
    ) -> Result<SignedPiece, DeviceRefusal> {
        guard let text = node.string else { return .failure(.notSigned) }
        let bytes = Array(text.utf8)
        let isOld = AppStoreInput(bytes) == .transactionReceipt
        return isOld ? .failure(.transactionReceipt) : .success(piece(bytes))
    }

    private static func presented(
        in purchase: JSONNode
    ) -> Result<PresentedPurchase, DeviceRefusal>? {
        guard PurchaseObjectStore(of: purchase) == .googlePlay else { return nil }
        do throws(DeviceRefusal) {
            return .success(try PresentedPurchase(purchase))
        } catch {
            return .failure(misspelled(in: purchase) ?? error)
        }
    }

    /// The maximum number of members of a purchase compared with known names; libraries write about
    /// thirty. The comparison runs on the thread that reads sockets, with input from anyone.
    private static let mostMembersCompared = 48

    /// Returns an error for a member that is probably a misspelt required one.
    private static func misspelled(in purchase: JSONNode) -> DeviceRefusal? {
        let known = PurchaseObjectStore.signedMembers + PresentedPurchase.tokenMembers
        for (name, _) in purchase.members.prefix(mostMembersCompared)
        where !known.contains(name) {
            if let meant = closestName(to: name, among: known) {
                return .unknownMember(name, meant: meant)
            }
        }
        return nil
    }

    private static func signed(inAnswer answer: JSONNode) -> Result<SignedPiece, DeviceRefusal> {
        guard answer.kind == .object else { return .failure(.notSigned) }
        let receipt = Array((answer["latest_receipt"]?.string ?? "").utf8)
        return .success(.answer(Array(answer.source), receipt: receipt))
    }

    /// Returns the JWS of an OpenIAP purchase, or the app receipt in older versions of its
    /// libraries. Only this is trusted, not the dates and states beside it.
    ///
    /// https://www.openiap.dev/docs/types#purchase
    private static func signed(
        inPurchase purchase: JSONNode
    ) -> Result<SignedPiece, DeviceRefusal> {
        guard !RevenueCatSubscriber.isAPIv2Response(purchase) else {
            return .failure(.revenueCatResponse)
        }
        guard PurchaseObjectStore(of: purchase) == .appStore else { return .failure(.otherStore) }
        if purchase["purchaseState"]?.string == "pending" { return .failure(.pending) }
        let texts = PurchaseObjectStore.signedMembers.lazy.compactMap { purchase[$0] }
        guard let text = texts.first(where: { $0.string?.isEmpty == false }) else {
            return .failure(misspelled(in: purchase) ?? .notSigned)
        }
        return signed(in: text) { AppStoreInput($0) == .receipt ? .receipt($0) : .document($0) }
    }
}

/// The signed data in a piece of evidence, by its format.
package enum SignedPiece: Hashable, Sendable {
    /// A document in compact serialization (JWS).
    case document([UInt8])
    /// An app receipt of StoreKit 1, in base64.
    case receipt([UInt8])
    /// A response of verifyReceipt, and the only signed part of it.
    case answer([UInt8], receipt: [UInt8])

    /// The bytes stored as evidence: only the signed part.
    package var bytes: [UInt8] {
        switch self {
        case .document(let bytes), .receipt(let bytes), .answer(_, let bytes): bytes
        }
    }
}

/// The reason why a piece of evidence is not verified, or is insufficient by itself.
package enum DeviceRefusal: Error, Hashable {
    case notSigned
    case pending
    case otherStore
    case wrongKind(AppStoreReading.Kind)
    case renewalInfoAlone
    case receiptsNotConfigured
    case noPurchaseToken
    case otherPackage
    case storeNotAskable
    case unknownPurchase
    case transactionReceipt
    case revenueCatResponse
    case unknownMember(String, meant: String)
}

extension DeviceRefusal: Refusal {
    package var code: String {
        switch self {
        case .notSigned: "not-signed"
        case .pending: "purchase-pending"
        case .otherStore: "store-not-served"
        case .wrongKind: "wrong-kind"
        case .renewalInfoAlone: "renewal-info-alone"
        case .receiptsNotConfigured: "receipts-not-configured"
        case .noPurchaseToken: "no-purchase-token"
        case .otherPackage: "wrong-package"
        case .storeNotAskable: "store-not-askable"
        case .unknownPurchase: "unknown-purchase"
        case .transactionReceipt: "transaction-receipt"
        case .revenueCatResponse: "revenuecat-api-v2"
        case .unknownMember: "unknown-member"
        }
    }

    package var sentence: String {
        switch self {
        case .notSigned: "It contains nothing that the store signed. Present signed data."
        case .pending: "The purchase awaits approval or payment. Present it when it is complete."
        case .otherStore: "It is from a store that is not configured for this app."
        case .wrongKind(let kind): "Its signed data is of another kind: \(kind.rawValue)."
        case .renewalInfoAlone:
            "A renewal info does not name its app. Present its transaction with it."
        case .receiptsNotConfigured:
            "No root for receipts is configured for the app. Set `appStore.receiptRoot`."
        case .noPurchaseToken:
            "It has no purchaseToken, so Google Play cannot be queried about it."
        case .otherPackage: "It is from another app than the configured one."
        case .storeNotAskable:
            "Google Play cannot be queried about it, and its product is not in the catalogue. "
                + "Present its productId, or set `googlePlay.serviceAccountFile`."
        case .unknownPurchase: "Google Play does not find this purchase of this app."
        case .transactionReceipt:
            "This is a StoreKit 1 transaction receipt. Send the app receipt or the signed "
                + "transaction (JWS) of StoreKit 2."
        case .revenueCatResponse:
            "This is a RevenueCat API v2 response. Send what the store signed, or import responses "
                + "of API v1 with `tideover import revenuecat`."
        case .unknownMember(let name, let meant):
            "It has an unknown member, `\(name)`. Did you mean `\(meant)`?"
        }
    }

    var status: Int { 422 }
    var title: String { "The evidence cannot be used." }
}

extension JSONNode {
    /// Rejects unknown members; `place` is the path of the object in the body.
    ///
    /// - Throws: `unknown-member`.
    func requireKnown(_ known: [String], at place: String = "") throws(Problem) {
        for (name, _) in members where !known.contains(name) {
            throw .unknownMember(name, at: place, among: known)
        }
    }
}

extension Problem {
    fileprivate static func unknownMember(
        _ name: String,
        at place: String,
        among known: [String]
    ) -> Problem {
        let list = known.map { "`\($0)`" }.joined(separator: ", ")
        let meant = closestName(to: name, among: known)
        return Problem(
            "unknown-member",
            detail: (meant.map { "Did you mean `\($0)`?" } ?? "The members are \(list).")
                + " Nothing was stored.",
            members: ["found": .string(place.isEmpty ? name : "\(place).\(name)")]
        )
    }

    static func badReconcileRequest(_ detail: String) -> Problem {
        Problem("bad-reconcile-request", detail: detail)
    }

    static func tooManyPurchases(found: Int) -> Problem {
        let most = DeviceEvidence.mostQuestions
        return Problem(
            "too-many-items",
            detail:
                "Present at most \(most) purchases of Google Play at a time, the rest in further "
                + "requests, in any order. This request was not processed.",
            members: ["most": .integer(Int64(most)), "found": .integer(Int64(found))]
        )
    }

    static func tooManyItems(found: Int) -> Problem {
        Problem(
            "too-many-items",
            detail: "Present at most \(DeviceEvidence.mostItems) items at a time, the rest in "
                + "further requests: \(DeviceEvidence.pages(for: found)) of them are enough, in any "
                + "order. This request was not processed.",
            members: [
                "most": .integer(Int64(DeviceEvidence.mostItems)), "found": .integer(Int64(found)),
            ]
        )
    }
}
