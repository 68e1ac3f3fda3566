import Testing
import TideoverJSON
import TideoverSandbox
import TideoverSignatures

/// A simulated store from the receivers' side. Every asserted value has been signed, verified
/// against the sandbox root and decoded again.
struct HeardStore {
    private(set) var machine: AppStoreMachine
    private let authority: SandboxAuthority
    private let verifier: ChainVerifier

    init(
        _ products: [AppStoreProduct],
        at start: String,
        seed: UInt64 = 7,
        environment: AppStoreEnvironment = .production,
        renewalRate: RenewalRate = .realTime,
        oneTimeProducts: [AppStoreOneTimeProduct] = []
    ) throws {
        let now = try #require(InstantText.read(start))
        let app = AppStoreApp(
            bundleId: "com.example.cards",
            environment: environment,
            renewalRate: renewalRate,
            products: products,
            oneTimeProducts: oneTimeProducts
        )
        machine = AppStoreMachine(app: app, seed: seed, now: now)
        authority = try SandboxAuthority()
        let anchor = try TrustAnchor(name: "simulated", der: authority.root)
        verifier = ChainVerifier(policy: .appStore, anchors: [anchor])
        try machine.register(.anna)
    }

    mutating func register(_ name: String) throws {
        try machine.register(StoreCustomer(name: name, appAccountToken: nil))
    }

    mutating func pass(until instant: String) throws -> [Heard] {
        let target = try #require(InstantText.read(instant))
        return try machine.advance(to: target).map(hear)
    }

    mutating func act(_ action: AppStoreAction) throws -> [Heard] {
        try machine.perform(action, by: "anna").map(hear)
    }

    mutating func subscribe(_ trial: AppStoreAction.TrialChoice = .declined) throws -> Heard {
        let product = try #require(machine.app.products.first)
        let heard = try act(.subscribe(product: product.id, trial: trial))
        return try #require(heard.first)
    }

    mutating func requestTestNotification() throws -> Heard {
        try hear(machine.requestTestNotification())
    }

    func truth(at instant: String) throws -> AppStoreExpectedState {
        machine.truth(of: "anna", at: try #require(InstantText.read(instant)))
    }

    private func hear(_ notification: AppStoreNotification) throws -> Heard {
        let body = try JSONDocument(authority.body(of: notification))
        let outer = try verified(#require(body.root["signedPayload"]?.string))
        let data = try #require(outer["data"])
        return Heard(
            outer: outer,
            data: data,
            transaction: try data["signedTransactionInfo"]?.string.map(verified),
            renewal: try data["signedRenewalInfo"]?.string.map(verified)
        )
    }

    private func verified(_ compact: String) throws -> JSONValue {
        let jws = try JWS(Array(compact.utf8))
        let content = JSONValue(try JSONDocument(jws.payload).root)
        let signedDate = try #require(content["signedDate"]?.int64)
        #expect(try verifier.verify(jws, at: signedDate).name == "simulated")
        return content
    }
}

/// A notification as received.
struct Heard {
    let outer: JSONValue
    let data: JSONValue
    let transaction: JSONValue?
    let renewal: JSONValue?

    /// The type and subtype, as `DID_RENEW/BILLING_RECOVERY`.
    var kind: String {
        let type = outer["notificationType"]?.string ?? "?"
        return outer["subtype"]?.string.map { "\(type)/\($0)" } ?? type
    }

    var status: Int64? { data["status"]?.int64 }
    var signedDate: String? { Heard.instant(outer["signedDate"]) }

    /// Returns an instant of the transaction, to the second.
    func transaction(_ key: String) -> String? { Heard.instant(transaction?[key]) }

    /// Returns an instant of the renewal info, to the second.
    func renewal(_ key: String) -> String? { Heard.instant(renewal?[key]) }

    private static func instant(_ value: JSONValue?) -> String? {
        value?.int64.map { InstantText.writeForPeople($0) }
    }
}

extension ChainPolicy {
    static let appStore = ChainPolicy(
        leafMarker: "1.2.840.113635.100.6.11.1",
        intermediateMarker: "1.2.840.113635.100.6.2.1"
    )
}

extension StoreCustomer {
    static let anna = StoreCustomer(
        name: "anna",
        appAccountToken: "7e3fb20b-4cdb-47cc-936d-99d65f608138"
    )
}

extension AppStoreProduct {
    static func monthly(
        trial: String? = nil,
        grace: BillingGrace = .sixteenDays
    ) throws -> AppStoreProduct {
        try make("cards.pro.monthly", "P1M", trial: trial, grace: grace)
    }

    static func weekly(grace: BillingGrace) throws -> AppStoreProduct {
        try make("cards.pro.weekly", "P1W", grace: grace)
    }

    static func make(
        _ id: String,
        _ period: String = "P1M",
        level: Int = 1,
        price: String = "9.99 USD",
        trial: String? = nil,
        grace: BillingGrace = .sixteenDays,
        isFamilyShareable: Bool = false
    ) throws -> AppStoreProduct {
        AppStoreProduct(
            id: id,
            group: "pro",
            level: level,
            period: try #require(StorePeriod(iso: period)),
            trial: try trial.map { try #require(StorePeriod(iso: $0)) },
            price: try #require(StorePrice(price)),
            grace: grace,
            isFamilyShareable: isFamilyShareable
        )
    }
}
