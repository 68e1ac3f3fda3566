import TideoverCore
import TideoverHTTP
import TideoverRevenueCat
import TideoverStorage

/// A response of RevenueCat about a customer, from a query or from an imported file.
///
/// Its key contains the customer and the time of the response, so a customer's responses sort
/// together, oldest first. A response that states something else at the same time, such as a
/// corrected line of an import, has its digest in the key, too.
struct RelayedAnswer: Sendable {
    let reading: RevenueCatSubscriberReading
    /// The bytes as received, or as a line of an import.
    let bytes: [UInt8]
    let source: Source

    /// The prefix of the keys of all responses.
    static let prefix = "revenuecat-answer:"

    static func isName(_ key: String) -> Bool { key.utf8.starts(with: prefix.utf8) }

    /// Returns the prefix of the keys of a customer's responses.
    static func prefix(of customer: CustomerID) -> String {
        "\(prefix)\(PercentEncoding.encode(customer.text)):"
    }

    /// Returns a position after the keys of a customer's responses and before those of the next.
    static func place(behind customer: CustomerID) -> String { prefix(of: customer) + "~" }

    /// Returns the customer in the key of a response; nil for another key.
    static func customer(in key: String) -> CustomerID? {
        guard isName(key) else { return nil }
        let rest = key.utf8.dropFirst(prefix.utf8.count)
        guard let end = rest.lastIndex(of: UInt8(ascii: ":")) else { return nil }
        return PercentEncoding.decode(rest[..<end]).flatMap { CustomerID($0) }
    }

    var id: EvidenceID { EvidenceID(of: bytes) }

    /// The key; nil for a response that names no customer.
    private var key: String? {
        reading.customer.map { customer in
            let instant = "\(max(0, reading.subscriber.requestDate.millisecondsSince1970))"
            let zeros = String(repeating: "0", count: max(0, 15 - instant.count))
            return Self.prefix(of: customer) + zeros + instant
        }
    }

    /// The result of storing it.
    struct Outcome: Hashable, Sendable {
        /// Whether it was already stored.
        var isKnown = true
        var newFacts = 0
    }

    /// Stores the response in the environment for comparisons, and in each environment of its
    /// purchases.
    func keep(by context: AppContext, at now: Instant) async throws -> Outcome {
        guard let key else { return Outcome() }
        // A purchase on Google Play can name an account that was made from the former id.
        if let customer = reading.customer,
            reading.lineages.contains(where: { $0.store == .googlePlay })
        {
            try await context.declareAliases(reading.ids, of: customer, at: now)
        }
        var environments = Set(reading.lineages.map(\.environment))
        environments.insert(context.app.answeredEnvironment)
        var outcome = Outcome()
        for environment in environments.sorted(by: { $0.rawValue < $1.rawValue }) {
            var kept = try await keep(under: key, in: environment, by: context, at: now)
            if kept == .duplicate,
                try !isKnown(in: environment, of: context.app, context.storage)
            {
                let other = "\(key)-\(id.hex)"
                kept = try await keep(under: other, in: environment, by: context, at: now)
            }
            guard case .committed(let newFacts, _, let rulings) = kept else { continue }
            outcome.isKnown = false
            outcome.newFacts += newFacts
            context.count(rulings)
        }
        try await keepProfile(by: context, at: now)
        return outcome
    }

    /// Stores what an SDK or a back end reads beside purchases: the earliest time when the customer
    /// got the app, and the newest value of each attribute.
    private func keepProfile(by context: AppContext, at now: Instant) async throws {
        guard let customer = reading.customer, customer.isStorable else { return }
        let environment = context.app.usualEnvironment
        let origins = SDKAppOrigins(context, in: environment)
        if let stated = reading.subscriber.origin,
            let origin = SDKCustomerInfo.Origin(stated.version, stated.purchasedAt),
            origin.precedes(try origins.origin(of: [customer]))
        {
            try await origins.keep(origin, of: customer)
        }
        guard let stated = reading.subscriber.attributes else { return }
        let key = AppScope(context.app.id, environment).key(customer)
        let new = stated.later(than: try context.storage.attributes(of: key), at: now)
        guard !new.isEmpty else { return }
        _ = try await context.storage.keep(AttributeOrder(new, of: key, now: now))
    }

    /// Whether a stored response about the customer, of the same time, states the same.
    func isKnown(
        in environment: Environment,
        of app: App,
        _ storage: any Storage
    ) throws(StorageError) -> Bool {
        guard let key else { return true }
        // Without its last digit, because a prefix does not find a key that equals it.
        let stored = try storage.evidence(
            in: AppScope(app.id, environment),
            keyed: String(key.dropLast()),
            after: nil,
            limit: Self.mostCompared
        )
        return stored.contains { piece in
            if piece.id == id { return true }
            let reader = app.revenueCat?.reader
            return (try? reader?.answer(line: piece.bytes)) == reading
        }
    }

    /// An upper limit for the responses about one customer within ten milliseconds.
    private static let mostCompared = 100

    private func keep(
        under key: String,
        in environment: Environment,
        by context: AppContext,
        at now: Instant
    ) async throws -> CommitOutcome {
        let evidence = Evidence(
            id: id,
            dedupeKey: key,
            source: source,
            signedAt: reading.subscriber.requestDate,
            receivedAt: now,
            bytes: bytes
        )
        return try await context.commit(
            commitRequest(of: evidence, in: environment, by: context, at: now)
        )
    }

    private func commitRequest(
        of evidence: Evidence,
        in environment: Environment,
        by context: AppContext,
        at now: Instant
    ) throws(StorageError) -> CommitRequest {
        let app = context.app
        let chains = try context.storage.chains(of: reading.lineages, app: app.id)
        let facts = reading.facts(
            learnedAt: now,
            source: source,
            evidence: evidence.id,
            chains: chains
        )
        let claims = reading.claims(at: now, chains: chains)
        return CommitRequest(
            app: app.id,
            environment: environment,
            evidence: evidence,
            facts: facts.filter { $0.lineage.environment == environment },
            ownership: OwnershipClaims(
                claims.filter { $0.lineage.environment == environment },
                by: .relay,
                rule: context.relayRule(reading.ids.sdkAccounts)
            ),
            transfer: app.policy.transfer,
            now: now
        )
    }
}

extension RevenueCatSubscriberReading {
    /// The ids of the customer in the response.
    var ids: [CustomerID] {
        let original = CustomerID(subscriber.originalAppUserId)
        return [customer, original].compactMap(\.self).filter(\.isStorable)
    }
}

extension App {
    /// The environment that stores all responses of RevenueCat: production, if the app serves it.
    var answeredEnvironment: Environment {
        environments.first { $0 == .production } ?? environments.first ?? .production
    }
}

extension AppContext {
    /// Counts the rulings on claims to purchases.
    func count(_ rulings: [ClaimRuling]) {
        for ruling in rulings { metrics.count(.ownershipClaims, app.id, ruling.code) }
    }
}
