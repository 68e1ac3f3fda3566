import Testing
import TideoverAppStore
import TideoverCore
import TideoverJSON
import TideoverSandbox
import TideoverServer
import TideoverSignatures

/// A customer's life in the simulated store, its receipts, and the trust in them.
struct ReceiptStore {
    /// Created once, because RSA keys are slow to generate.
    static let authority = Result { try ReceiptAuthority() }
    static let stranger = Result { try ReceiptAuthority() }

    static let bundleId = "com.example.cards"
    static let monthly = "cards.pro.monthly"
    static let yearly = "cards.pro.yearly"
    static let token = "7e3fb20b-4cdb-47cc-936d-99d65f608138"

    var machine: AppStoreMachine
    let authority: ReceiptAuthority

    init(
        at start: Instant,
        environment: AppStoreEnvironment = .production,
        seed: UInt64 = 7
    ) throws {
        let month = try #require(StorePeriod(iso: "P1M"))
        let price = StorePrice(milliunits: 9990, currency: "USD")
        let app = AppStoreApp(
            bundleId: Self.bundleId,
            environment: environment,
            products: [
                AppStoreProduct(
                    id: Self.monthly,
                    group: "pro",
                    level: 2,
                    period: month,
                    trial: StorePeriod(iso: "P1W"),
                    price: price,
                    grace: .sixteenDays
                ),
                AppStoreProduct(
                    id: Self.yearly,
                    group: "pro",
                    level: 1,
                    period: try #require(StorePeriod(iso: "P1Y")),
                    price: price
                ),
            ]
        )
        machine = AppStoreMachine(app: app, seed: seed, now: start.millisecondsSince1970)
        try machine.register(StoreCustomer(name: "anna", appAccountToken: Self.token))
        authority = try Self.authority.get()
    }

    mutating func act(_ action: AppStoreAction) throws {
        _ = try machine.perform(action, by: "anna")
    }

    mutating func pass(until instant: Instant) {
        _ = machine.advance(to: instant.millisecondsSince1970)
    }

    /// Creates a trial, four months with the last one refunded, three months after a return, and an
    /// upgrade.
    static func nine(environment: AppStoreEnvironment = .production) throws -> ReceiptStore {
        var store = try ReceiptStore(at: "2025-09-01", environment: environment)
        try store.act(.subscribe(product: monthly, trial: .required))
        store.pass(until: "2025-12-20")
        try store.act(.refund(product: nil, reason: .appIssue))
        store.pass(until: "2026-01-10")
        try store.act(.subscribe(product: monthly, trial: .declined))
        store.pass(until: "2026-03-25")
        try store.act(.changePlan(to: yearly))
        store.pass(until: "2026-04-01")
        return store
    }

    // MARK: Output

    func receipt() throws -> StoreReceipt { try machine.receipt(of: "anna") }

    func container(_ form: ReceiptForm = .der) throws -> [UInt8] {
        authority.signed(try receipt().content(form), form)
    }

    func answer() throws -> [UInt8] { try receipt().answer(carrying: container()) }

    // MARK: Trust

    func trust(
        as authority: Authority = .simulated,
        environments: Set<Environment> = [.simulated],
        bundleId: String = bundleId,
        root: [UInt8]? = nil
    ) throws -> AppStoreTrust {
        let anchor = try TrustAnchor(name: "receipts", der: root ?? self.authority.root, keys: .rsa)
        return AppStoreTrust(
            identity: AppStoreIdentity(bundleId: bundleId, environments: environments),
            authorities: [:],
            receiptAuthorities: [anchor: authority]
        )
    }

    func read(_ bytes: [UInt8]) throws -> AppStoreReading {
        try trust().read(bytes, at: "2026-05-01")
    }
}

extension AppStoreReading {
    /// The facts of the reading, in a defined order, learned from one piece of evidence.
    var allFacts: [Fact] {
        facts(learnedAt: "2026-05-01", source: .appReceipt, evidence: EvidenceID(hex: "01"))
    }

    var terms: [Term] {
        allFacts.compactMap { fact in
            if case .term(let term) = fact.assertion { term } else { nil }
        }.sorted { $0.start < $1.start }
    }

    var outlooks: [Outlook] {
        allFacts.compactMap { fact in
            if case .outlook(let outlook) = fact.assertion { outlook } else { nil }
        }
    }

    var revocations: [Revocation] {
        allFacts.compactMap { fact in
            if case .revocation(let revocation) = fact.assertion { revocation } else { nil }
        }
    }
}

extension Fact {
    /// The fact without the data that only a response of verifyReceipt contains; nil if nothing
    /// remains.
    var asReceiptsTell: Fact? {
        guard case .term(var term) = assertion else {
            if case .outlook = assertion { return nil }
            return self
        }
        (term.group, term.accountToken) = (nil, nil)
        var fact = self
        fact.assertion = .term(term)
        return fact
    }
}

/// The refusals of the reader, not of the simulated store.
typealias Refused = TideoverAppStore.AppStoreRefusal
