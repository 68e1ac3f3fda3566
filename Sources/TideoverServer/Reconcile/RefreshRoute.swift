import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `POST /v1/apps/{app}/customers/{customer}/refresh`: asks the stores about the customer's
/// purchases at once, without waiting for a notification.
///
/// What a store answers is stored before the response is sent. A purchase that cannot be asked about
/// now is reported with the reason.
struct RefreshRoute: Sendable {
    let app: App
    let storage: any Storage
    let clock: Clock
    let backfillers: [Backfiller]
    let pollers: [PlayPoller]

    /// The maximum number of purchases that one request asks about, newest first.
    static let most = 10

    func respond(to request: Request, customer: String) async throws -> Response {
        guard let customer = CustomerID(customer) else { throw Problem.badCustomer }
        let key = CustomerKey(
            app: app.id,
            environment: try app.environment(askedIn: request),
            customer: customer
        )
        let now = clock()
        let lineages = try await onPool { try self.lineages(of: key, at: now) }
        var asked: [(lineage: Lineage, outcome: UrgentOutcome)] = []
        for lineage in lineages.prefix(Self.most) {
            asked.append((lineage, try await ask(about: lineage, in: key.environment)))
        }
        return .json(headers: ["Cache-Control": "private, no-store"]) { [asked] writer in
            writer.field("app", key.app)
            writer.field("customer", key.customer.text)
            writer.field("environment", key.environment.rawValue)
            writer.field(
                "asked",
                array: { writer in
                    for (lineage, outcome) in asked {
                        writer.object { writer in
                            writer.field("store", lineage.store.rawValue)
                            writer.field("purchase", lineage.key)
                            writer.field("outcome", outcome.rawValue)
                            writer.field("sentence", outcome.sentence)
                        }
                    }
                }
            )
            writer.field("more", lineages.count > Self.most)
        }
    }

    /// Returns the lineages that the customer owns now and that a store answers about, latest first.
    private func lineages(of key: CustomerKey, at now: Instant) throws -> [Lineage] {
        let known = try storage.knownLineages(of: key, now: now)
        let ids = known.identity.all
        let owned = known.lineageRecords.filter { record in
            record.isAnswered && (record.owners.owner(at: now).map(ids.contains) ?? false)
        }
        let learned = owned.map { ($0.lineage, $0.facts.map(\.learnedAt).max() ?? .distantPast) }
        return learned.sorted { ($1.1, $0.0) < ($0.1, $1.0) }.map(\.0)
    }

    private func ask(
        about lineage: Lineage,
        in environment: Environment
    ) async throws -> UrgentOutcome {
        if lineage.store == .googlePlay {
            try await pollers.first(app.id, environment)?.askAtOnce(about: lineage)
                ?? .notConfigured
        } else {
            try await backfillers.first(app.id, environment)?.askAtOnce(about: lineage)
                ?? .notConfigured
        }
    }
}

/// The result of asking a store about one purchase while a client waits.
enum UrgentOutcome: String, Hashable, Sendable, CaseIterable {
    /// The store answered, and the answer is stored.
    case answered
    /// The store answered so recently that it was not asked again.
    case askedRecently
    /// The store did not answer, or with nothing that could be read.
    case failed
    /// The requests that the store permits are used up for now.
    case busy
    /// The store knows nothing to ask about the purchase.
    case nothingToAsk
    /// The configuration has no credentials to ask the store with.
    case notConfigured

    var sentence: String {
        switch self {
        case .answered: "The store answered; the answer counts from now on."
        case .askedRecently: "The store answered a short time ago. It was not asked again."
        case .failed: "The store did not answer. The server asks again by itself."
        case .busy: "Too many requests to the store are under way. The server asks later by itself."
        case .nothingToAsk: "There is nothing to ask the store about this purchase."
        case .notConfigured: "The configuration has no credentials for this store."
        }
    }
}

extension LineageRecord {
    /// Whether a store answers questions about it: a subscription of the App Store, or any purchase
    /// of Google Play.
    fileprivate var isAnswered: Bool {
        switch lineage.store {
        case .googlePlay: true
        case .appStore:
            facts.contains { fact in
                if case .term(let term) = fact.assertion {
                    term.plan == .autoRenewable
                } else {
                    false
                }
            }
        case .revenueCat, .tideover: false
        }
    }
}
