import TideoverCommandLine
import TideoverHTTP
import TideoverJSON
import TideoverSandbox
import TideoverSignatures

/// A simulated App Store and a record of all its data: posted notifications, answers of its Server
/// API, StoreKit's data on devices, and receipts. Signed data is stored as it was signed.
struct StoreRecording {
    static let basic = "cards.basic.monthly"
    static let pro = "cards.pro.monthly"
    static let plain = "cards.plain.monthly"
    static let weekly = "cards.plain.weekly"
    static let plus = "cards.plus.monthly"
    static let lifetime = "cards.lifetime"
    static let coins = "cards.coins.100"
    static let season = "cards.season"
    private static let bundleId = "com.example.cards"
    private static let keyId = "2X9R4HXF34"
    private static let issuerId = "57246542-96fe-1a63-e053-0824d011072a"
    private static let day: Int64 = 86_400_000
    /// 1 January 2026 at nine.
    private static let begin: Int64 = 1_767_258_000_000

    let store: SimulatedAppStore
    private let app: AppStoreApp
    private let authority: SandboxAuthority
    private let receipts: ReceiptAuthority
    private let key = P256PrivateKey.generate()
    /// The recorded data by kind, in the order of its occurrence.
    private var bodies: [JSONValue] = []
    private var exchanges: [JSONValue] = []
    private var devices: [JSONValue] = []
    private var containers: [JSONValue] = []

    init(_ environment: AppStoreEnvironment, seed: UInt64) throws {
        app = AppStoreApp(
            bundleId: Self.bundleId,
            environment: environment,
            products: try Self.products(),
            oneTimeProducts: Self.oneTimeProducts
        )
        authority = try SandboxAuthority()
        receipts = try ReceiptAuthority()
        store = SimulatedAppStore(
            app,
            seed: seed,
            now: Self.begin,
            authority: authority,
            keys: [
                AppStoreAPIKey(
                    issuerId: Self.issuerId,
                    keyId: Self.keyId,
                    publicKey: key.publicKey
                )
            ]
        )
    }

    private static func products() throws -> [AppStoreProduct] {
        func product(
            _ id: String,
            _ group: String,
            level: Int = 1,
            _ period: String,
            trial: String? = nil,
            _ grace: BillingGrace = .off,
            introductory: AppStoreOffer? = nil,
            offers: [AppStoreOffer] = []
        ) throws -> AppStoreProduct {
            guard let period = StorePeriod(iso: period) else {
                throw CommandFailure(.software, "\(period) is no period")
            }
            return AppStoreProduct(
                id: id,
                group: group,
                level: level,
                period: period,
                trial: trial.flatMap { StorePeriod(iso: $0) },
                introductory: introductory,
                offers: offers,
                price: StorePrice(milliunits: 4990, currency: "USD"),
                grace: grace,
                isFamilyShareable: group == "pro"
            )
        }
        return [
            try product(basic, "pro", level: 2, "P1M", trial: "P1W", .sixteenDays),
            try product(pro, "pro", "P1M", .sixteenDays),
            try product(plain, "plain", "P1M"),
            try product(weekly, "weekly", "P1W"),
            try product(
                plus,
                "plus",
                "P1M",
                introductory: try offer(.introductory, .payAsYouGo, payments: 2, 990),
                offers: [
                    try offer(.promotional, .payUpFront, "stay", 3990),
                    try offer(.offerCode, .freeTrial, "gift", 0),
                    try offer(.winBack, .payAsYouGo, "come-back", payments: 3, 1990),
                ]
            ),
        ]
    }

    private static func offer(
        _ kind: AppStoreOffer.Kind,
        _ mode: AppStoreOffer.Mode,
        _ name: String? = nil,
        payments: Int = 1,
        _ milliunits: Int64
    ) throws -> AppStoreOffer {
        guard let month = StorePeriod(iso: "P1M") else {
            throw CommandFailure(.software, "P1M is no period")
        }
        return AppStoreOffer(
            kind,
            mode,
            identifier: name,
            period: month,
            payments: payments,
            price: StorePrice(milliunits: milliunits, currency: "USD")
        )
    }

    private static let oneTimeProducts = [
        AppStoreOneTimeProduct(
            id: lifetime,
            kind: .nonConsumable,
            price: StorePrice(milliunits: 49_990, currency: "USD"),
            isFamilyShareable: true
        ),
        AppStoreOneTimeProduct(
            id: coins,
            kind: .consumable,
            price: StorePrice(milliunits: 990, currency: "USD")
        ),
        AppStoreOneTimeProduct(
            id: season,
            kind: .nonRenewing,
            price: StorePrice(milliunits: 9990, currency: "USD"),
            length: StorePeriod(iso: "P3M")
        ),
    ]

    var summary: String {
        "\(bodies.count) notifications, \(exchanges.count) answers, \(devices.count) purchases on "
            + "devices, \(containers.count) receipts"
    }

    var json: JSONValue {
        [
            "environment": .string(app.environment.rawValue),
            "bundleId": .string(app.bundleId),
            "appAppleId": .integer(app.appAppleId),
            "root": .string(Base64.encodeString(authority.root, .standard)),
            "notifications": .array(bodies),
            "exchanges": .array(exchanges),
            "devices": .array(devices),
            "receipts": .array(containers),
        ]
    }
}

// MARK: - Events

extension StoreRecording {
    mutating func register(_ customer: String, token: String? = nil) async throws {
        try await store.register(StoreCustomer(name: customer, appAccountToken: token))
    }

    /// Advances the clock to nine o'clock of a day from the beginning. Every fifth notification is
    /// recorded as not delivered.
    mutating func pass(toDay day: Int64) async throws {
        while let attempt = try await store.advance(to: Self.begin + day * Self.day) {
            bodies.append(JSONValue(try JSONDocument(attempt.body).root))
            await store.end(attempt, attempt.number % 5 == 4 ? .timedOut : .success)
        }
    }

    mutating func act(_ action: AppStoreAction, by customer: String) async throws {
        try await store.perform(action, by: customer)
    }

    /// Returns the newest purchase on a customer's device.
    func newest(of customer: String) async throws -> AppStoreDevicePurchase {
        guard let purchase = try await store.device(of: customer).last else {
            throw CommandFailure(.software, "\(customer) has bought nothing")
        }
        return purchase
    }

    /// Records all data about a customer.
    mutating func look(at customer: String) async throws {
        for purchase in try await store.device(of: customer) {
            var device: JSONObject = ["transaction": purchase.signedTransaction]
            device["renewal"] = purchase.signedRenewalInfo
            devices.append(.object(device))
        }
        let (id, original) = (
            try await newest(of: customer).transactionId,
            try await newest(of: customer).originalTransactionId
        )
        try await ask("subscriptionStatuses", at: "/inApps/v1/subscriptions/\(original)")
        try await ask("transactionInfo", at: "/inApps/v1/transactions/\(id)")
        try await ask("appTransaction", at: "/inApps/v1/transactions/appTransactions/\(id)")
        try await ask("refundHistory", at: "/inApps/v2/refund/lookup/\(id)")
        try await ask("orderLookup", at: "/inApps/v1/lookup/\(await store.order(of: id) ?? "")")
        var revision = ""
        while true {
            let page = try await ask(
                "transactionHistory",
                at: "/inApps/v2/history/\(id)\(revision)"
            )
            guard page?["hasMore"]?.bool == true, let text = page?["revision"]?.string else {
                break
            }
            revision = "?revision=\(text)"
        }
        let receipt = try await store.receipt(of: customer)
        let container = receipts.signed(receipt.content())
        containers.append(.string(Base64.encodeString(container, .standard)))
    }
}

// MARK: - Requests

extension StoreRecording {
    /// Sends a request to the Server API, and records the request and its response.
    @discardableResult
    mutating func ask(
        _ operation: String,
        _ method: String = "GET",
        at target: String,
        _ body: JSONValue? = nil,
        isKnown: Bool = true
    ) async throws -> JSONValue? {
        let headers: Headers =
            isKnown ? ["Authorization": "Bearer \(try await token())"] : [:]
        guard
            let request = Request(
                method: method,
                target: target,
                headers: headers,
                body: body?.encoded() ?? []
            )
        else { throw CommandFailure(.software, "\(target) cannot be asked for") }
        let response = try await store.serverAPI(request)
        let type = response.headers["Content-Type"]
        let answer: JSONValue? =
            type == "application/json" ? JSONValue(try JSONDocument(response.body).root) : nil
        exchanges.append([
            "operation": .string(operation),
            "method": .string(method),
            "path": .string(request.path),
            "query": .array(
                request.query.map { .array([.string($0.name), .string($0.value)]) }
            ),
            "body": body ?? .null,
            "status": .integer(Int64(response.status)),
            "type": type.map(JSONValue.string) ?? .null,
            "answer": answer ?? .null,
        ])
        return answer
    }

    private func token() async throws -> String {
        let seconds = await store.now / 1000
        let claims: JSONObject = [
            "iss": .string(Self.issuerId), "iat": .integer(seconds),
            "exp": .integer(seconds + 300), "aud": "appstoreconnect-v1",
            "bid": .string(Self.bundleId),
        ]
        let compact = try JWS.sign(
            header: ["alg": "ES256", "kid": .string(Self.keyId), "typ": "JWT"],
            payload: JSONValue.object(claims).encoded(),
            with: key
        )
        return String(decoding: compact, as: UTF8.self)
    }
}
