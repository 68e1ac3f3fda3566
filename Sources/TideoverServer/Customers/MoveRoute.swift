import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `POST /v1/apps/{app}/purchases/{purchase}/move`: gives a purchase to another customer.
///
/// A move is a fact of the purchase with its own evidence, and is committed like any other fact.
struct MoveRoute: Sendable {
    let context: AppContext
    /// The name of the request's key.
    let presenter: String

    private var app: App { context.app }

    func respond(to request: Request, purchase name: String) async throws -> Response {
        let environment = try app.environment(askedIn: request)
        let wish = try MoveRequest(request.body)
        let now = context.clock()
        let purchase = try await onPool { try find(name, in: environment) }
        let target = key(of: wish.customer, environment)
        let known = try await onPool { try context.storage.knownLineages(of: target, now: now) }
        let isKnown =
            !known.lineageRecords.isEmpty || known.leftOut != nil
            || known.reconciledAt != nil || !known.identity.aliases.isEmpty
        let owner = purchase.owners.owner(at: now)
        let answer = Answer(purchase: purchase.lineage, customer: known.identity.primary, isKnown)
        if let stated = purchase.owners.stated.owner(at: now), known.identity.all.contains(stated) {
            return respond(answer, environment)
        }
        try await require(wish.from, is: owner, in: environment)
        // Of several moves from one instant only one counts, and a later one counts after that.
        guard !purchase.hasMove(from: now) else { throw Problem.moveRefused(.tooSoon) }
        let move = OwnershipMove(
            customer: wish.customer,
            former: try await former(of: purchase, environment, but: known.identity, at: now),
            from: now,
            why: wish.why,
            by: presenter
        )
        try await commit(move, purchase, target, at: now)
        return respond(answer, environment)
    }

    // MARK: Reading

    private func find(_ name: String, in environment: Environment) throws -> LineageRecord {
        let own = try Lineage.all(ofKey: name, in: environment)
            .map { try context.storage.lineageRecord($0, app: app.id) }.filter { !$0.facts.isEmpty }
        let found =
            try own
            + KnownPurchases(context: context).find(name)
            .filter { $0.lineage.environment == environment }
        guard !found.isEmpty else { throw Problem.unknownPurchase }
        guard let purchase = found.first(where: { !$0.isRelayed }) else {
            throw Problem.moveRefused(.relayed)
        }
        return purchase
    }

    /// Returns every id of the customers who owned the purchase, the last owner first.
    private func former(
        of purchase: LineageRecord,
        _ environment: Environment,
        but identity: CustomerIdentity,
        at now: Instant
    ) async throws -> [CustomerID] {
        try await onPool {
            let owners =
                [purchase.owners.owner(at: now)].compactMap(\.self)
                + purchase.owners.reversed().map(\.customer)
            var former: [CustomerID] = []
            for owner in owners {
                for id in [owner]
                    + (try context.storage.identity(of: key(of: owner, environment)).all)
                where !former.contains(id) && !identity.all.contains(id) { former.append(id) }
            }
            return former
        }
    }

    /// Rejects a request that names an owner who no longer owns the purchase.
    private func require(
        _ stated: CustomerID?,
        is owner: CustomerID?,
        in environment: Environment
    ) async throws {
        guard let stated else { return }
        let ids = try await onPool {
            try context.storage.identity(of: key(of: stated, environment)).all
        }
        guard let owner, ids.contains(owner) else { throw Problem.moveRefused(.anotherOwner) }
    }

    private func key(of customer: CustomerID, _ environment: Environment) -> CustomerKey {
        CustomerKey(app: app.id, environment: environment, customer: customer)
    }

    // MARK: Commit

    private func commit(
        _ move: OwnershipMove,
        _ purchase: LineageRecord,
        _ target: CustomerKey,
        at now: Instant
    ) async throws {
        let record = OperatorRecord([(purchase.lineage, .move(move))], at: now)
        // The number of owners distinguishes a later move from a concurrent repetition of this one.
        let name =
            "move:\(purchase.lineage.key):\(purchase.owners.count):\(target.customer.text)"
        let commitRequest = CommitRequest(
            app: app.id,
            environment: target.environment,
            evidence: record.evidence(dedupeKey: name),
            facts: record.facts,
            customers: [target],
            transfer: app.policy.transfer,
            now: now
        )
        _ = try await context.commit(commitRequest)
    }

    // MARK: Response

    private struct Answer {
        let purchase: Lineage
        let customer: CustomerID
        /// Whether anything was stored about the customer before.
        let isKnown: Bool

        init(purchase: Lineage, customer: CustomerID, _ isKnown: Bool) {
            self.purchase = purchase
            self.customer = customer
            self.isKnown = isKnown
        }
    }

    private func respond(_ answer: Answer, _ environment: Environment) -> Response {
        .json(headers: ["Cache-Control": "private, no-store"]) { writer in
            writer.field("app", app.id)
            writer.field("environment", environment.rawValue)
            writer.field("purchase", answer.purchase.key)
            writer.field("customer", answer.customer.text)
            writer.field("customerKnown", answer.isKnown)
        }
    }
}

/// A request to move a purchase.
struct MoveRequest: Hashable, Sendable {
    /// The customer who gets it.
    let customer: CustomerID
    /// The owner as the operator saw it; nil if not stated.
    let from: CustomerID?
    let why: String

    /// Reads `{"customer": "u_43", "from": "u_42", "why": "..."}`; `from` is optional.
    init(_ body: [UInt8]) throws(Problem) {
        let root: JSONNode
        do {
            root = try JSONDocument(body).root
        } catch {
            throw .badMove("The body is not strict JSON: \(error).")
        }
        guard root.kind == .object,
            root.members.allSatisfy({ ["customer", "from", "why"].contains($0.key) }),
            let customer = root["customer"]?.string.flatMap({ CustomerID($0) })
        else {
            throw .badMove(
                "`customer` must be the id that gets the purchase. Only `customer`, `from` and "
                    + "`why` are allowed."
            )
        }
        guard customer.isStorable else { throw .badCustomer }
        self.customer = customer
        from = try Self.from(root)
        why = try CreateGrantRequest.why(root, Problem.badMove)
    }

    private static func from(_ root: JSONNode) throws(Problem) -> CustomerID? {
        guard let node = root["from"], !node.isNull else { return nil }
        guard let from = node.string.flatMap({ CustomerID($0) }) else { throw .badCustomer }
        return from
    }
}

/// Why a move was refused.
enum MoveObjection: String, Hashable, Sendable, CaseIterable {
    /// The purchase does not belong to the customer whom the request names as its owner.
    case anotherOwner = "another-owner"
    /// Only RevenueCat reported the purchase so far.
    case relayed
    /// The purchase was moved at this instant or, by a server's clock, later.
    case tooSoon = "too-soon"

    var sentence: String {
        switch self {
        case .anotherOwner:
            "The purchase does not belong to the stated customer now. Look it up and repeat the "
                + "request with its owner."
        case .relayed:
            "Only RevenueCat reported the purchase so far. Ask its store about it first, with "
                + "`tideover refresh` or a backfill."
        case .tooSoon:
            "The purchase was moved at this instant already, or by a server with a clock that is "
                + "ahead. Repeat the request later; in a simulation advance the clock first."
        }
    }
}

extension LineageRecord {
    /// Returns whether an operator's move begins at an instant or after it.
    fileprivate func hasMove(from instant: Instant) -> Bool {
        facts.contains { fact in
            if case .move(let move) = fact.assertion { move.from >= instant } else { false }
        }
    }
}

extension Lineage {
    /// Returns the purchases with a key as `explain` and `lookup` show it.
    fileprivate static func all(ofKey key: String, in environment: Environment) -> [Lineage] {
        [Store.appStore, .googlePlay].flatMap { store in
            Ownership.allCases.compactMap { ownership in
                guard key.hasPrefix("\(store.rawValue):") else { return nil }
                let rest = key.dropFirst(store.rawValue.utf8.count + 1)
                let id = rest.hasSuffix(":family") ? rest.dropLast(7) : rest
                let lineage = Lineage(
                    store: store,
                    environment: environment,
                    id: String(id),
                    ownership: ownership
                )
                return lineage.key == key ? lineage : nil
            }
        }
    }
}

extension Problem {
    fileprivate static func badMove(_ detail: String) -> Problem {
        Problem("bad-move", detail: detail)
    }

    fileprivate static func moveRefused(_ objection: MoveObjection) -> Problem {
        Problem(
            "move-refused",
            detail: objection.sentence,
            members: ["reason": .string(objection.rawValue)]
        )
    }
}
