import TideoverAppStore
public import TideoverCore
import TideoverJSON
import TideoverServer
import TideoverSignatures

/// A test's own store: it signs any payload, with any chain.
struct TestStore {
    /// The possible defects of a signature's chain.
    enum Defect: CaseIterable {
        case none, unknownRoot, leafWithoutMarker, intermediateWithoutMarker, twoCertificates
        case fourCertificates, expired
        /// Valid until three days after `Message.start`.
        case shortLived
    }

    let root: [UInt8]
    private let key: P256PrivateKey
    private let chains: [Defect: [[UInt8]]]

    private static let from: Instant = "2020-01-01"
    private static let to: Instant = "2040-01-01"

    init() throws {
        let key = P256PrivateKey.generate()
        self.key = key
        let root = try Self.makeRoot()
        let stranger = try Self.makeRoot()
        let good = try Self.chain(root, key)
        chains = [
            .none: good,
            .unknownRoot: try Self.chain(stranger, key),
            .leafWithoutMarker: try Self.chain(root, key, leafMarker: "1.2.3.4"),
            .intermediateWithoutMarker: try Self.chain(root, key, intermediateMarker: "1.2.3.4"),
            .twoCertificates: Array(good.dropLast()),
            .fourCertificates: good + [root.certificate],
            .expired: try Self.chain(root, key, leafUntil: "2021-01-01"),
            .shortLived: try Self.chain(root, key, leafUntil: Message.start + .days(3)),
        ]
        self.root = root.certificate
    }

    /// Creates a store with one chain: leaf, intermediate and root.
    init(chain: [[UInt8]], key: P256PrivateKey) {
        self.key = key
        chains = [.none: chain]
        root = chain[2]
    }

    private static func makeRoot() throws -> CertificateAuthority {
        try CertificateAuthority.selfSigned(
            .root(
                subject: "Test Root",
                notBefore: from.millisecondsSince1970,
                notAfter: to.millisecondsSince1970
            ),
            key: .generate(.p384)
        )
    }

    private static func chain(
        _ root: CertificateAuthority,
        _ key: P256PrivateKey,
        leafMarker: String = AppStoreSigning.leafMarker,
        intermediateMarker: String = AppStoreSigning.intermediateMarker,
        leafUntil: Instant = to
    ) throws -> [[UInt8]] {
        let intermediate = try root.authority(
            .intermediate(
                subject: "Test Authority",
                notBefore: from.millisecondsSince1970,
                notAfter: to.millisecondsSince1970,
                marker: intermediateMarker
            ),
            key: .generate(.p384)
        )
        let leaf = try intermediate.certificate(
            .leaf(
                subject: "Test Signing",
                notBefore: from.millisecondsSince1970,
                notAfter: leafUntil.millisecondsSince1970,
                marker: leafMarker
            ),
            for: CertificateKey(key)
        )
        return [leaf, intermediate.certificate, root.certificate]
    }

    func sign(
        _ payload: [UInt8],
        defect: Defect = .none,
        algorithm: String = "ES256"
    ) throws -> String {
        let chain = chains[defect] ?? []
        let header: JSONObject = [
            "alg": .string(algorithm),
            "x5c": .array(chain.map { .string(Base64.encodeString($0, .standard)) }),
        ]
        return String(
            decoding: try JWS.sign(header: header, payload: payload, with: key),
            as: UTF8.self
        )
    }

    func sign(_ payload: JSONObject, defect: Defect = .none) throws -> String {
        try sign(JSONValue.object(payload).encoded(), defect: defect)
    }
}

/// A notification that tests can change before it is signed.
struct Message {
    var type = "SUBSCRIBED"
    var subtype: String? = "INITIAL_BUY"
    var uuid: String
    var signed: Instant
    var bundle = "com.example.cards"
    var environment = "Sandbox"
    var status: Int64? = 1
    var transaction: JSONObject?
    var renewal: JSONObject?

    static let start: Instant = "2026-05-01T10:00:00Z"
    static let end: Instant = "2026-06-01T10:00:00Z"

    init(_ uuid: String, signed: Instant = start) {
        self.uuid = uuid
        self.signed = signed
    }

    /// Returns a first month of `cards.pro.monthly` bought at `start`.
    static func purchase(
        _ uuid: String = "n-1",
        customer: String = TestServer.anna,
        signed: Instant = start
    ) -> Message {
        var message = Message(uuid, signed: signed)
        message.transaction = Self.transaction(customer: customer, signed: signed)
        message.renewal = Self.renewal(signed: signed)
        return message
    }

    /// Returns the renewal at `end` for 30 days.
    static func renewed(_ uuid: String = "n-2", signed: Instant = end) -> Message {
        var message = purchase(uuid, signed: signed)
        message.type = "DID_RENEW"
        message.subtype = nil
        message.transaction?["transactionId"] = "2000000000000002"
        message.transaction?["webOrderLineItemId"] = "900000002"
        message.transaction?["purchaseDate"] = end.wire
        message.transaction?["expiresDate"] = (end + .days(30)).wire
        message.renewal?["renewalDate"] = (end + .days(30)).wire
        return message
    }

    static func transaction(
        customer: String = TestServer.anna,
        signed: Instant = start,
        product: String = "cards.pro.monthly"
    ) -> JSONObject {
        [
            "transactionId": "2000000000000001", "originalTransactionId": "2000000000000001",
            "webOrderLineItemId": "900000001", "bundleId": "com.example.cards",
            "productId": .string(product), "subscriptionGroupIdentifier": "21000000",
            "purchaseDate": start.wire, "originalPurchaseDate": start.wire,
            "expiresDate": end.wire, "quantity": 1, "type": "Auto-Renewable Subscription",
            "inAppOwnershipType": "PURCHASED", "signedDate": signed.wire,
            "environment": "Sandbox", "transactionReason": "PURCHASE", "storefront": "USA",
            "storefrontId": "143441", "price": 9990, "currency": "USD",
            "appAccountToken": .string(customer),
        ]
    }

    static func renewal(signed: Instant = start) -> JSONObject {
        [
            "originalTransactionId": "2000000000000001", "productId": "cards.pro.monthly",
            "autoRenewProductId": "cards.pro.monthly", "autoRenewStatus": 1,
            "renewalDate": end.wire, "signedDate": signed.wire, "environment": "Sandbox",
            "renewalPrice": 9990, "currency": "USD",
        ]
    }

    /// Returns the body that the store posts.
    func body(
        _ store: TestStore,
        defect: TestStore.Defect = .none,
        nestedDefect: TestStore.Defect = .none
    ) throws -> [UInt8] {
        try Self.wrap(store.sign(payload(store, nestedDefect), defect: defect))
    }

    static func wrap(_ jws: String) -> [UInt8] {
        JSONValue.object(["signedPayload": .string(jws)]).encoded()
    }

    func payload(_ store: TestStore, _ nestedDefect: TestStore.Defect = .none) throws -> JSONObject
    {
        var data: JSONObject = [
            "bundleId": .string(bundle), "bundleVersion": "1",
            "environment": .string(environment),
        ]
        if let status { data["status"] = .integer(status) }
        if let transaction {
            data["signedTransactionInfo"] = .string(
                try store.sign(transaction, defect: nestedDefect)
            )
        }
        if let renewal {
            data["signedRenewalInfo"] = .string(try store.sign(renewal, defect: nestedDefect))
        }
        var payload: JSONObject = [
            "notificationType": .string(type), "notificationUUID": .string(uuid), "version": "2.0",
            "signedDate": signed.wire, "data": .object(data),
        ]
        if let subtype { payload["subtype"] = .string(subtype) }
        return payload
    }
}

extension Instant {
    var wire: JSONValue { .integer(millisecondsSince1970) }
}

extension Instant: ExpressibleByStringLiteral {
    /// `2026-05-01` or a full RFC 3339 time.
    public init(stringLiteral text: String) {
        guard let instant = Instant(rfc3339: text.count == 10 ? "\(text)T00:00:00Z" : text) else {
            preconditionFailure("\(text) is no instant")
        }
        self = instant
    }
}
