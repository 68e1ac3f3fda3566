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
    let context: AppContext
    let clients: StoreClients

    private var app: App { context.app }

    /// The maximum number of purchases that one request asks about, newest first.
    static let most = 10

    func respond(to request: Request, customer: String) async throws -> Response {
        let customer = try CustomerID.storable(customer)
        let key = CustomerKey(
            app: app.id,
            environment: try app.environment(askedIn: request),
            customer: customer
        )
        let now = context.clock()
        let lineages = try await onPool { try self.lineages(of: key, at: now) }
        var asked: [(lineage: Lineage, outcome: UrgentOutcome)] = []
        for lineage in lineages.prefix(Self.most) {
            let outcome = try await clients.askAtOnce(about: lineage, app.id, key.environment)
            asked.append((lineage, outcome))
        }
        return .json(headers: ["Cache-Control": "private, no-store"]) { [asked] writer in
            writer.field("app", key.app)
            writer.field("customer", key.customer.text)
            writer.field("environment", key.environment.rawValue)
            writer.field("asked", objects: asked) { row, writer in
                let (lineage, outcome) = row
                writer.field("store", lineage.store.rawValue)
                writer.field("purchase", lineage.key)
                writer.field("outcome", outcome.rawValue)
                writer.field("sentence", outcome.sentence)
            }
            writer.field("more", lineages.count > Self.most)
        }
    }

    /// Returns the lineages that the customer owns now and that a store answers about, latest first.
    private func lineages(of key: CustomerKey, at now: Instant) throws -> [Lineage] {
        let known = try context.storage.knownLineages(of: key, now: now)
        let ids = known.identity.all
        let owned = known.lineageRecords.filter { record in
            record.canBeAskedAbout && (record.owners.owner(at: now).map(ids.contains) ?? false)
        }
        let learned = owned.map { ($0.lineage, $0.facts.map(\.learnedAt).max() ?? .distantPast) }
        return learned.sorted { ($1.1, $0.0) < ($0.1, $1.0) }.map(\.0)
    }
}

extension LineageRecord {
    /// Whether a store answers questions about it: a subscription of the App Store, or any purchase
    /// of Google Play.
    fileprivate var canBeAskedAbout: Bool {
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
