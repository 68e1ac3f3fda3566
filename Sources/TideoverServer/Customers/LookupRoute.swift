import TideoverAppStore
import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `GET /v1/apps/{app}/lookup`: finds the owner of a purchase by an id that a customer can
/// quote.
///
/// No message of the App Store contains its order numbers, and Google Play's appear only in its
/// responses and in RevenueCat's messages. The route therefore queries the store about an unknown
/// order, if possible, and stores the response like any other.
struct LookupRoute: Sendable {
    let context: AppContext
    let clients: StoreClients

    private var app: App { context.app }

    func respond(to request: Request) async throws -> Response {
        let (question, found, asked) = try await search(request)
        let now = context.clock()
        return .json(headers: ["Cache-Control": "private, no-store"]) { writer in
            writer.field("app", app.id)
            writer.field("question", .object([question.word: .string(question.text)]))
            writer.field("asked", each: asked) { $0.write(to: &$1) }
            writer.field("purchases", each: found) { lineageRecord, writer in
                lineageRecord.write(to: &writer, of: app, at: now)
            }
        }
    }

    /// Returns the parsed question, the purchases found, and the stores queried for them.
    func search(
        _ request: Request
    ) async throws -> (question: LookupQuestion, found: [LineageRecord], asked: [AskedStore]) {
        let question = try LookupQuestion(request)
        // It reads all facts of the purchases, so it leaves the thread that reads sockets.
        let found = try await onPool { try find(question) }
        guard found.isEmpty, case .order(let order) = question else { return (question, found, []) }
        let asked = try await ask(about: order)
        return (question, asked.flatMap(\.found), asked)
    }

    /// Queries the store that the format of an order number belongs to.
    ///
    /// - Throws: `bad-lookup` for a text that no store has as an order number, such as one that was
    ///   copied with a space: no store is asked, so none has failed to answer.
    private func ask(about order: String) async throws -> [AskedStore] {
        guard LookupQuestion.isOrderNumber(order) else {
            throw Problem.badLookup(
                "An order number has at most 128 letters, digits, `-`, `_` and `.`, without "
                    + "spaces. Send it as the receipt has it."
            )
        }
        if PlayOrderNumber.isOne(order) {
            // An app has one Google Play account for all environments.
            guard let poller = clients.pollers.first(where: { $0.app.id == app.id }) else {
                return [AskedStore(.googlePlay, .notConfigured)]
            }
            return [try await poller.ask(aboutOrder: order)]
        }
        var asked: [AskedStore] = []
        for backfiller in clients.backfillers where backfiller.app.id == app.id {
            asked.append(try await backfiller.ask(aboutOrder: order))
        }
        return asked.isEmpty ? [AskedStore(.appStore, .notConfigured)] : asked
    }

    private func find(_ question: LookupQuestion) throws -> [LineageRecord] {
        let known = KnownPurchases(context: context)
        switch question {
        case .transaction(let id): return try known.transaction(id)
        case .order(let order): return try known.order(order)
        case .token(let customer):
            let own = try app.environments.flatMap { environment in
                let key = CustomerKey(app: app.id, environment: environment, customer: customer)
                let all =
                    try context.storage.lineages(of: key, now: context.clock())?.lineageRecords
                    ?? []
                return Array(all.prefix(KnownPurchases.most))
            }
            return try own.isEmpty ? known.token(customer.text) : own
        }
    }
}

/// A store queried about an order, and the outcome.
struct AskedStore {
    /// A store that was queried and did not answer is the problem `store-did-not-answer`.
    enum Outcome: String {
        case found
        /// The store has no such order.
        case noSuchOrder
        /// The store's response could not be verified or read.
        case notReadable
        /// Orders cannot be queried in this environment: the App Store's sandbox has none.
        case noOrdersThere
        /// The configuration has no credentials for this store.
        case notConfigured
    }

    let store: Store
    let environment: Environment?
    let outcome: Outcome
    let found: [LineageRecord]

    init(
        _ store: Store,
        _ outcome: Outcome,
        in environment: Environment? = nil,
        found: [LineageRecord] = []
    ) {
        self.store = store
        self.environment = environment
        self.outcome = outcome
        self.found = found
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("store", store.rawValue)
            writer.field("environment", environment?.rawValue)
            writer.field("outcome", outcome.rawValue)
        }
    }
}

/// The id that a purchase is looked up by.
enum LookupQuestion: Sendable {
    case transaction(String)
    case order(String)
    /// An account token, a customer's id, or a purchase token of Google Play.
    case token(CustomerID)

    /// - Throws: `bad-lookup` unless exactly one id is given.
    init(_ request: Request) throws(Problem) {
        let asked = ["transaction", "order", "token"].filter { request.queryValue($0) != nil }
        guard asked.count == 1, let text = request.queryValue(asked[0]), !text.isEmpty else {
            throw .badLookup()
        }
        switch asked[0] {
        case "transaction": self = .transaction(text)
        case "order": self = .order(text)
        default:
            guard let customer = CustomerID(text) else { throw .badLookup() }
            self = .token(customer)
        }
    }

    /// Returns whether a store can have an order of this number: the App Store's API takes no other
    /// ids, and Google's have the same characters.
    static func isOrderNumber(_ text: String) -> Bool {
        guard (1...128).contains(text.utf8.count), text != ".", text != ".." else { return false }
        return PercentEncoding.encode(text) == text && !text.contains("~")
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
    fileprivate static func badLookup(
        _ detail: String = "Send one of `?order=`, `?transaction=` and `?token=`."
    ) -> Problem {
        Problem("bad-lookup", detail: detail)
    }

    fileprivate static func storeDidNotAnswer(_ store: String, _ sentence: String) -> Problem {
        Problem(
            "store-did-not-answer",
            detail: "\(store) was asked about the order. \(sentence)",
            retryAfter: 30
        )
    }
}

extension Backfiller {
    /// Queries the App Store about one of its orders; only production and simulated have orders.
    ///
    /// - Throws: `store-did-not-answer`, because a failed query does not show that there is no
    ///   order.
    fileprivate func ask(aboutOrder order: String) async throws -> AskedStore {
        guard environment == .production || environment == .simulated else {
            return AskedStore(.appStore, .noOrdersThere, in: environment)
        }
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
            _ = try await context.commit(reading, evidence)
            lineages.formUnion(reading.lineages)
        }
        let found = try lineages.sorted().map { try context.storage.lineageRecord($0, app: app.id) }
        let outcome: AskedStore.Outcome =
            items.isEmpty ? .noSuchOrder : found.isEmpty ? .notReadable : .found
        return AskedStore(.appStore, outcome, in: environment, found: found)
    }
}

extension PlayPoller {
    /// Finds the purchase of a Google Play order: queries the order for its token, then the token.
    ///
    /// - Throws: `store-did-not-answer`, because a failed query does not show that there is no
    ///   order.
    fileprivate func ask(aboutOrder order: String) async throws -> AskedStore {
        let name: PlayToken
        let answered: Answered
        do {
            guard let bought = try await bought(withOrder: order) else {
                return AskedStore(.googlePlay, .noSuchOrder)
            }
            name = trust.token(bought.token)
            let known = try await playLookup.lineage(of: name)
            answered = try await ask(bought.kind, bought.token, about: known, patience: .zero)
        } catch let stop as BackfillStop {
            throw Problem.storeDidNotAnswer("Google Play", stop.sentence)
        }
        if answered.isRetryable {
            throw Problem.storeDidNotAnswer(
                "Google Play",
                "The rest of the purchase could not be read."
            )
        }
        guard let lineage = try await playLookup.lineage(of: name) else {
            return AskedStore(.googlePlay, .notReadable)
        }
        let found = try context.storage.lineageRecord(lineage, app: app.id)
        return AskedStore(.googlePlay, .found, in: lineage.environment, found: [found])
    }

    /// Returns the kind and the token of an order's purchase; nil if the store does not know the
    /// order.
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

extension LineageRecord {
    /// The details that a customer can quote of a purchase, from its newest period by start.
    private struct Latest {
        var productId: String?
        var start: Instant?
        /// The App Store's transaction id.
        var transactionId: String?
        /// Google Play's order id.
        var orderId: String?
        var price: Money?
    }

    private var latest: Latest { latestRead ?? latestTerm ?? Latest() }

    /// The newest term: of the App Store, or of a relay that names Google Play's order.
    private var latestTerm: Latest? {
        let terms = facts.compactMap { fact -> Term? in
            if case .term(let term) = fact.assertion { term } else { nil }
        }
        guard let newest = terms.max(by: { $0.start < $1.start }) else { return nil }
        let isOrder = lineage.store == .googlePlay
        return Latest(
            productId: newest.productId,
            start: newest.start,
            transactionId: isOrder ? nil : newest.transactionId,
            orderId: isOrder ? newest.transactionId : nil,
            price: newest.price
        )
    }

    /// Google Play's newest response. Facts are in the order of assertion, so it is the last.
    private var latestRead: Latest? {
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
        return answers.last
    }

    /// Writes the ownership as one JSON object, with a reply for the customer and instructions to
    /// claim the purchase.
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
            writer.field("owners", each: owners) { $0.write(to: &$1) }
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
        return "Present \(piece) with the signed-in customer's id, as the app does after Restore "
            + "Purchases."
    }

    /// Returns a reply for the customer that names no customer.
    private func reply(isClaimed: Bool) -> String {
        guard isClaimed else {
            return "Your purchase is known, but no account of this app has claimed it yet. Please "
                + "open the app on a device with the same store account, sign in, and choose "
                + "Restore Purchases."
        }
        let account =
            Set(owners.map(\.customer)).count > 1
            ? "that it was moved to." : "that you used when you bought it."
        return "Your purchase is known and belongs to an account of this app. Please sign in with "
            + "the account \(account)"
    }
}
