import TideoverAppStore
import TideoverHTTP
import TideoverJSON

/// What a device presents of what the store has signed for it.
struct DeviceEvidence: Sendable {
    /// How many pieces one request may carry; what is more goes into another.
    static let mostItems = 32

    /// Transactions, then renewal infos, then purchase objects, each in the order given.
    let items: [DeviceItem]

    /// Reads `{"transactions": ["eyJ..."], "renewalInfos": ["eyJ..."], "purchases": [{...}]}`, each of
    /// them optional. Purchases are objects of OpenIAP (react-native-iap, expo-iap) as they are.
    ///
    /// - Throws: `bad-reconcile-request`, `too-many-items`.
    init(_ body: [UInt8]) throws(Problem) {
        let root: JSONNode
        do {
            root = try JSONDocument(body).root
        } catch {
            throw .badReconcileRequest("The body is not strict JSON: \(error).")
        }
        guard root.kind == .object else {
            throw .badReconcileRequest("The body is not an object.")
        }
        var items: [DeviceItem] = []
        for (kind, name) in DeviceItem.Kind.members {
            guard let list = root[name], !list.isNull else { continue }
            guard list.kind == .array else {
                throw .badReconcileRequest("`\(name)` is a list.")
            }
            for (index, node) in list.elements.enumerated() {
                items.append(DeviceItem(kind, index, node, position: items.count))
            }
        }
        guard items.count <= Self.mostItems else { throw .tooManyItems(found: items.count) }
        self.items = items
    }
}

/// One piece of evidence that a device presents, not yet believed.
struct DeviceItem: Sendable {
    let kind: Kind
    /// Its place in its list.
    let index: Int
    /// Its place among all that was presented.
    let position: Int
    /// The signed document in it, or why there is none.
    let signed: Result<[UInt8], DeviceRefusal>

    enum Kind: String, Sendable {
        case transaction, renewalInfo, purchase

        static let members: [(Kind, String)] = [
            (.transaction, "transactions"), (.renewalInfo, "renewalInfos"),
            (.purchase, "purchases"),
        ]

        /// What has to be signed.
        var reading: AppStoreReading.Kind {
            switch self {
            case .transaction, .purchase: .transaction
            case .renewalInfo: .renewalInfo
            }
        }
    }

    init(_ kind: Kind, _ index: Int, _ node: JSONNode, position: Int) {
        self.kind = kind
        self.index = index
        self.position = position
        signed =
            switch kind {
            case .transaction, .renewalInfo:
                node.string.map { .success(Array($0.utf8)) } ?? .failure(.notSigned)
            case .purchase: Self.signed(in: node)
            }
    }

    /// The JWS of an OpenIAP purchase: only that is believed, no date or state beside it.
    ///
    /// https://www.openiap.dev/docs/types#purchase
    private static func signed(in purchase: JSONNode) -> Result<[UInt8], DeviceRefusal> {
        let store = (purchase["store"] ?? purchase["platform"])?.string ?? "apple"
        guard store == "apple" || store == "ios" else { return .failure(.otherStore) }
        if purchase["purchaseState"]?.string == "pending" { return .failure(.pending) }
        let token = (purchase["purchaseToken"] ?? purchase["jwsRepresentationIOS"])?.string
        return token.map { .success(Array($0.utf8)) } ?? .failure(.notSigned)
    }
}

/// Why a piece of evidence is not looked into, or says nothing by itself.
enum DeviceRefusal: Refusal {
    case notSigned
    case pending
    case otherStore
    case wrongKind(AppStoreReading.Kind)
    case renewalInfoAlone

    var code: String {
        switch self {
        case .notSigned: "not-signed"
        case .pending: "purchase-pending"
        case .otherStore: "store-not-served"
        case .wrongKind: "wrong-kind"
        case .renewalInfoAlone: "renewal-info-alone"
        }
    }

    var sentence: String {
        switch self {
        case .notSigned: "Nothing in it is signed by the store, and nothing else is believed."
        case .pending: "The purchase waits for approval or payment; present it when it is made."
        case .otherStore: "It is of a store that this app does not sell on."
        case .wrongKind(let kind): "What is signed in it is of another kind: \(kind.rawValue)."
        case .renewalInfoAlone:
            "A renewal info does not say which app it is for: present its transaction with it."
        }
    }

    var status: Int { 422 }
    var title: String { "The evidence says nothing." }
}

extension Problem {
    static func badReconcileRequest(_ detail: String) -> Problem {
        Problem(
            "bad-reconcile-request",
            status: 400,
            title: "This is no evidence.",
            detail: detail
        )
    }

    static func tooManyItems(found: Int) -> Problem {
        Problem(
            "too-many-items",
            status: 413,
            title: "This is more evidence than one request may carry.",
            detail: "Present at most \(DeviceEvidence.mostItems) pieces at a time, "
                + "the rest in further requests.",
            members: [
                "most": .integer(Int64(DeviceEvidence.mostItems)), "found": .integer(Int64(found)),
            ]
        )
    }
}
