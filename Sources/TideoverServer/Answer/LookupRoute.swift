import TideoverAppStore
import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `GET /v1/apps/{app}/lookup`: whose a purchase is, found by what a customer can quote.
///
/// The App Store's order numbers stand in no message of the store, and those of Google Play only in its
/// answers: the store is asked about one that is not known where it can be, and what it answers is kept
/// like anything else it says.
struct LookupRoute: Sendable {
    let app: App
    let storage: any Storage
    let clock: Clock
    /// Those who can ask a store about the app.
    let backfillers: [Backfiller]
    let upkeeps: [PlayUpkeep]

    /// More than a purchase can be in, one for each environment and way of owning it.
    private static let most = 20

    func respond(to request: Request) async throws -> Response {
        let question = try LookupQuestion(request)
        // Every fact of what is found is read: this leaves the thread that reads sockets.
        var found = try await onPool { try find(question) }
        if found.isEmpty, case .order(let order) = question { found = try await ask(about: order) }
        let now = clock()
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("app", app.id)
            writer.field("asked", .object([question.word: .string(question.text)]))
            writer.field(
                "purchases",
                array: { writer in
                    for holding in found { holding.write(to: &writer, of: app, at: now) }
                }
            )
        }
        return .json(bytes: writer.bytes, headers: ["Cache-Control": "private, no-store"])
    }

    /// What the store that a number looks like one of answers about an order.
    private func ask(about order: String) async throws -> [Holding] {
        if PlayOrderNumber.isOne(order) {
            // Google Play has one account of an app, whichever environment asks.
            let upkeep = upkeeps.first { $0.app.id == app.id }
            return try await upkeep?.holdings(ofOrder: order) ?? []
        }
        var found: [Holding] = []
        for backfiller in backfillers where backfiller.app.id == app.id {
            found += try await backfiller.holdings(ofOrder: order)
        }
        return found
    }

    private func find(_ question: LookupQuestion) throws -> [Holding] {
        switch question {
        case .transaction(let id):
            let own = try app.environments.flatMap { environment in
                try Ownership.allCases.map { ownership in
                    try storage.holding(
                        Lineage(
                            store: .appStore,
                            environment: environment,
                            id: id,
                            ownership: ownership
                        ),
                        app: app.id
                    )
                }
            }
            return try own.filter { !$0.facts.isEmpty } + named(.transaction(id))
        case .order(let order):
            return try named(PurchaseName(order: order))
        case .token(let customer):
            let own = try app.environments.flatMap { environment in
                let key = CustomerKey(app: app.id, environment: environment, customer: customer)
                let all = try storage.lineages(of: key, now: clock())?.holdings ?? []
                return Array(all.prefix(Self.most))
            }
            return try own.isEmpty ? purchases(of: customer.text) : own
        }
    }

    /// What was bought on Google Play under a purchase token: facts know it by its digest alone.
    private func purchases(of purchaseToken: String) throws -> [Holding] {
        guard let token = app.googlePlay?.token(purchaseToken) else { return [] }
        let own = try app.environments.map { environment in
            try storage.holding(
                Lineage(store: .googlePlay, environment: environment, id: token.id),
                app: app.id
            )
        }
        return try own.filter { !$0.facts.isEmpty } + named(.transaction(token.id))
    }

    private func named(_ name: PurchaseName) throws -> [Holding] {
        try storage.holdings(named: name, app: app.id, limit: Self.most)
    }
}

/// The number of an order of Google Play, such as `GPA.1234-5678-9012-34567`, with `..N` behind it for a
/// renewal.
private enum PlayOrderNumber {
    /// Whether Google Play is to be asked about it, and not the App Store.
    static func isOne(_ text: String) -> Bool { text.hasPrefix("GPA.") }
}

/// What a purchase is looked up by.
private enum LookupQuestion: Sendable {
    case transaction(String)
    case order(String)
    /// An account token, a customer's id, or a purchase token of Google Play.
    case token(CustomerID)

    /// - Throws: `bad-lookup` unless it is exactly one of them.
    init(_ request: Request) throws(Problem) {
        let asked = ["transaction", "order", "token"].filter { request.queryValue($0) != nil }
        guard asked.count == 1, let text = request.queryValue(asked[0]), !text.isEmpty else {
            throw .badLookup
        }
        switch asked[0] {
        case "transaction": self = .transaction(text)
        case "order": self = .order(text)
        default:
            guard let customer = CustomerID(text) else { throw .badLookup }
            self = .token(customer)
        }
    }

    var word: String {
        switch self {
        case .transaction: "transaction"
        case .order: "order"
        case .token: "token"
        }
    }

    var text: String {
        switch self {
        case .transaction(let text), .order(let text): text
        case .token(let customer): customer.text
        }
    }
}

extension Problem {
    fileprivate static let badLookup = Problem(
        "bad-lookup",
        status: 400,
        title: "It is not said what to look for.",
        detail: "Ask with one of `?order=`, `?transaction=` or `?token=`, and say which."
    )

    fileprivate static func storeDidNotAnswer(_ store: String, _ sentence: String) -> Problem {
        Problem(
            "store-did-not-answer",
            status: 503,
            title: "\(store) did not say whose the order is.",
            detail: sentence,
            retryAfter: 30
        )
    }
}

extension Backfiller {
    /// The lineages of an order of the App Store's, which is asked; none in other environments than
    /// production and simulated, where the store knows no orders.
    ///
    /// - Throws: `store-did-not-answer`: that it cannot be asked does not say that there is no order.
    fileprivate func holdings(ofOrder order: String) async throws -> [Holding] {
        guard environment == .production || environment == .simulated else { return [] }
        let answer: AppStoreAnswer<OrderLookup>
        do {
            answer = try await ask(.orderLookup, patience: .zero) {
                try await api.lookUp(orderId: order)
            }
        } catch let failure as AppStoreAPIFailure {
            throw Problem.storeDidNotAnswer("The App Store", failure.sentence)
        } catch let stop as BackfillStop {
            throw Problem.storeDidNotAnswer("The App Store", stop.sentence)
        }
        let now = timing.clock()
        let items = AppStoreReader(app: trust.identity).read(
            answer.content,
            check: trust.check(at: now)
        )
        var lineages: Set<Lineage> = []
        for item in items {
            guard case .success(let reading) = item.reading else { continue }
            let evidence = Evidence(item.evidence, of: reading, from: .appStoreAPI, at: now)
            _ = try await ingest.commit(reading, evidence)
            lineages.formUnion(reading.lineages)
        }
        return try lineages.sorted().map { try ingest.storage.holding($0, app: app.id) }
    }
}

extension PlayUpkeep {
    /// The purchase of an order of Google Play's: the order tells its token, and that is asked about.
    ///
    /// - Throws: `store-did-not-answer`: that it cannot be asked does not say that there is no order.
    fileprivate func holdings(ofOrder order: String) async throws -> [Holding] {
        let name: PlayToken
        let answered: Answered
        do {
            guard let bought = try await bought(withOrder: order) else { return [] }
            name = trust.token(bought.token)
            let known = try await asking.lineage(of: name)
            answered = try await ask(bought.kind, bought.token, about: known, patience: .zero)
        } catch let stop as BackfillStop {
            throw Problem.storeDidNotAnswer("Google Play", stop.sentence)
        }
        if answered == .failed(retryable: true) {
            throw Problem.storeDidNotAnswer(
                "Google Play",
                "It could not be asked what is left of it."
            )
        }
        guard let lineage = try await asking.lineage(of: name) else { return [] }
        return [try ingest.storage.holding(lineage, app: app.id)]
    }

    /// What an order paid for; nil where the store knows no such order.
    private func bought(
        withOrder order: String
    ) async throws -> (kind: PlayRead.Kind, token: String)? {
        try await limiter.admit(.orderLookup, patience: .zero)
        do {
            let content = try await api.order(order).content
            count(.orderLookup, "answered")
            let isSubscription = content.lineItems.contains { $0.subscription != nil }
            return content.purchaseToken.map { (isSubscription ? .subscription : .product, $0) }
        } catch let failure as PlayAPIFailure {
            try Task.checkCancellation()
            count(.orderLookup, failure.metricWord)
            try await pause(after: failure)
            guard failure.saysThereIsNone else {
                throw Problem.storeDidNotAnswer("Google Play", failure.sentence)
            }
            return nil
        }
    }
}

extension Holding {
    /// What a customer can quote of a purchase: its newest period, by the start.
    private struct Latest {
        var productId: String?
        var start: Instant?
        /// The App Store's id of the transaction.
        var transactionId: String?
        /// Google Play's id of the order.
        var orderId: String?
        var price: Money?
    }

    private var latest: Latest {
        guard lineage.store == .googlePlay else {
            let terms = facts.compactMap { fact -> Term? in
                if case .term(let term) = fact.assertion { term } else { nil }
            }
            guard let newest = terms.max(by: { $0.start < $1.start }) else { return Latest() }
            return Latest(
                productId: newest.productId,
                start: newest.start,
                transactionId: newest.transactionId,
                price: newest.price
            )
        }
        // In the order of their assertion: the newest answer comes last.
        let answers = facts.compactMap { fact -> Latest? in
            switch fact.assertion {
            case .playSubscription(let read):
                let item = read.items.first
                return Latest(
                    productId: item?.productId,
                    start: read.startedAt,
                    orderId: item?.orderId,
                    price: item?.price
                )
            case .playPurchase(let read):
                return Latest(
                    productId: read.items.first?.productId,
                    start: read.completedAt,
                    orderId: read.orderId
                )
            default: return nil
            }
        }
        return answers.last ?? Latest()
    }

    /// Writes whose it is as one JSON object, with what to send to whoever asks, and how to claim it.
    func write(to writer: inout JSONWriter, of app: App, at now: Instant) {
        let owner = owners.owner(at: now)
        writer.object { writer in
            writer.field("environment", lineage.environment.rawValue)
            writer.field("store", lineage.store.rawValue)
            writer.field("lineage", lineage.key)
            writer.field("ownership", lineage.ownership.rawValue)
            let latest = latest
            writer.field("productId", latest.productId)
            writer.field("purchasedAt", latest.start?.rfc3339)
            writer.field("transactionId", latest.transactionId)
            writer.field("orderId", latest.orderId)
            writer.field("price", latest.price?.text)
            writer.field("customer", owner?.text)
            writer.field(
                "owners",
                array: { writer in for entry in owners { entry.write(to: &writer) } }
            )
            writer.field("reply", reply(isClaimed: owner != nil))
            writeClaim(to: &writer, of: app, isClaimed: owner != nil)
        }
    }

    private func writeClaim(to writer: inout JSONWriter, of app: App, isClaimed: Bool) {
        guard !isClaimed else {
            writer.field("claim", String?.none)
            return
        }
        writer.field(
            "claim",
            object: { writer in
                writer.field("method", "POST")
                writer.field("path", "/v1/apps/\(app.id)/customers/{customer}/reconcile")
                writer.field("how", how)
            }
        )
    }

    private var how: String {
        let piece =
            lineage.store == .googlePlay
            ? "the purchase with its purchaseToken" : "the signed transaction"
        return "Present \(piece) under the signed-in customer's id, as the app does after Restore "
            + "Purchases."
    }

    /// A sentence to send to whoever asks, without anybody's id in it.
    private func reply(isClaimed: Bool) -> String {
        isClaimed
            ? "Your purchase is there and belongs to an account of this app. Please sign in with the "
                + "account that you used when you bought it."
            : "Your purchase is there, but no account of this app has claimed it yet. Please open the "
                + "app on a device with the same store account, sign in, and choose Restore Purchases."
    }
}
