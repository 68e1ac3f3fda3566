import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverRevenueCat
import TideoverSignatures
import TideoverStorage

/// Answers `DELETE /v1/apps/{app}/customers/{customer}`: erases a customer by all their ids, in every
/// environment or the requested one. See `docs/privacy.md` for what is removed and what remains.
struct EraseRoute: Sendable {
    let context: AppContext

    private var app: App { context.app }
    private var storage: any Storage { context.storage }

    /// The number of attempts when new facts arrive between reading and erasing.
    private static let mostTries = 5
    /// The number of RevenueCat's responses about a customer to read at once.
    private static let answersAtOnce = 100

    func respond(to request: Request, customer: String) async throws -> Response {
        let customer = try CustomerID.storable(customer)
        var environments = app.environments
        if request.queryValue("environment") != nil {
            environments = [try app.environment(askedIn: request)]
        }
        var erased = Erased()
        for environment in environments {
            erased += try await erase(
                CustomerKey(app: app.id, environment: environment, customer: customer)
            )
        }
        return .json(headers: ["Cache-Control": "private, no-store"]) { writer in
            writer.field("app", app.id)
            writer.field("customer", customer.text)
            writer.key("environments")
            writer.array { writer in
                for environment in environments { writer.value(environment.rawValue) }
            }
            writer.key("erased")
            writer.object { writer in
                writer.field("purchases", erased.purchases)
                writer.field("facts", erased.facts)
                writer.field("evidence", erased.evidence)
                writer.field("events", erased.events)
                writer.field("drift", erased.drift)
                writer.field("prompts", erased.prompts)
                writer.field("attributes", erased.attributes)
                writer.field("audit", erased.audit)
            }
            writer.key("kept")
            writer.object { $0.field("purchases", erased.shared) }
        }
    }

    private func erase(_ key: CustomerKey) async throws -> Erased {
        try await context.declareAccounts(of: key, at: context.clock())
        let ids = try await onPool { try storage.identity(of: key).all }
        try await SDKAppOrigins(context, in: key.environment).forget(ids)
        for _ in 0..<Self.mostTries {
            let erasure = try await context.longRead { read in
                try self.erasure(of: key, read)
            }
            if let erased = try await storage.erase(erasure) { return erased }
        }
        throw Problem.customerChanging
    }

    /// Reads the data to erase; blocks the thread.
    private func erasure(of key: CustomerKey, _ read: LongRead) throws -> Erasure {
        let now = context.clock()
        let (all, lineageRecords) = try storage.read { reader throws(StorageError) in
            (
                try reader.identity(of: key).all,
                try reader.knownLineages(of: key, now: now).lineageRecords
            )
        }
        let ids = Set(all)
        let own = lineageRecords.filter {
            $0.owners.deciding.allSatisfy { ids.contains($0.customer) }
        }
        let going = Set(own.map(\.lineage))
        let known = Set(own.flatMap(\.facts).map(\.evidence))
        var exclusive: Set<EvidenceID> = []
        for evidence in known {
            try read.goOn()
            if try tellsOnly(of: going, evidence, key.environment) { exclusive.insert(evidence) }
        }
        let (events, lastEvent) = try events(of: ids, key, read)
        return Erasure(
            key,
            known: known,
            exclusive: exclusive,
            answers: try answers(about: all, going, key, read),
            events: events,
            lastEvent: lastEvent,
            bookmarks: all.map(RelayedTransfers.name)
                + all.compactMap(\.sdkAccount).map(SDKLogIns.name)
                + own.flatMap(bookmarks),
            bookmarkPrefixes: [RelayedTransfers.prefix, SDKLogIns.prefix],
            pseudonym: pseudonym
        )
    }

    /// Returns the names of the bookmarks for when a store was asked about a purchase.
    private func bookmarks(of purchase: LineageRecord) -> [String] {
        switch purchase.lineage.store {
        case .appStore:
            [Backfiller.asked(purchase.lineage), Backfiller.revision(purchase.lineage)]
        case .googlePlay: PlayPoller.bookmarks(of: purchase)
        case .revenueCat, .tideover: []
        }
    }

    /// Returns RevenueCat's responses about the customer that concern no other purchase. Many
    /// contain no fact, or none that was new.
    private func answers(
        about ids: [CustomerID],
        _ lineages: Set<Lineage>,
        _ key: CustomerKey,
        _ read: LongRead
    ) throws -> Set<EvidenceID> {
        var found: Set<EvidenceID> = []
        for id in ids {
            var last: String?
            repeat {
                try read.goOn()
                let page = try storage.evidence(
                    in: key.scope,
                    keyed: RelayedAnswer.prefix(of: id),
                    after: last,
                    limit: Self.answersAtOnce
                )
                for piece in page where try tellsOnly(of: lineages, piece, key.environment) {
                    found.insert(piece.id)
                }
                last = page.count == Self.answersAtOnce ? page.last?.dedupeKey : nil
            } while last != nil
        }
        return found
    }

    /// Returns whether a piece of evidence concerns no other purchase. Evidence that can no longer
    /// be read contains no facts.
    private func tellsOnly(
        of lineages: Set<Lineage>,
        _ id: EvidenceID,
        _ environment: Environment
    ) throws -> Bool {
        guard let piece = try storage.evidence(id, app: app.id) else { return false }
        return try tellsOnly(of: lineages, piece, environment)
    }

    private func tellsOnly(
        of lineages: Set<Lineage>,
        _ piece: Evidence,
        _ environment: Environment
    ) throws -> Bool {
        let replay = Replay(context: context, environment: environment, apply: false)
        guard let facts = try? replay.facts(in: piece) else { return true }
        return try facts.allSatisfy { fact in
            if lineages.contains(fact.lineage) { return true }
            // A relay names some purchases otherwise than their store does.
            guard fact.rank == .relayed else { return false }
            let chains = try storage.chains(of: [fact.lineage], app: app.id)
            return lineages.contains(chains.joined(fact).lineage)
        }
    }

    /// Returns the events of a customer among all of the app's, and the latest event of the app.
    private func events(
        of ids: Set<CustomerID>,
        _ key: CustomerKey,
        _ read: LongRead
    ) throws -> (found: [EventID], last: EventID?) {
        var found: [EventID] = []
        var last: EventID?
        while true {
            try read.goOn()
            let page = try storage.outbox(
                app: app.id,
                after: last,
                limit: EventsRoute.greatestLimit
            )
            for event in page
            where event.customer.environment == key.environment
                && ids.contains(event.customer.customer)
            {
                found.append(event.id)
            }
            last = page.last?.id ?? last
            guard page.count == EventsRoute.greatestLimit else { return (found, last) }
        }
    }

    private var pseudonym: CustomerID {
        guard let id = CustomerID("erased-" + Hexadecimal.text(randomBytes(16, context.random)))
        else {
            preconditionFailure("a pseudonym is a customer id")
        }
        return id
    }
}
