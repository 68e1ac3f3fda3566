/// Every known fact of one customer in one environment; the input of explanations.
public struct CustomerRecord: Sendable {
    /// The requested customer, with all aliases.
    public let identity: CustomerIdentity
    public let environment: Environment
    public let lineageRecords: [LineageRecord]
    public let catalogue: Versioned<Catalogue>
    public let policy: Versioned<Policy>
    /// When a device first presented all its purchases; nil if none did.
    public let reconciledAt: Instant?
    /// The app's package name on Google Play, for links to its subscriptions; nil if unknown.
    public let googlePlayPackage: String?
    /// The stores available to the customer.
    public let stores: CustomerStores

    /// One lineage with all its facts and owners.
    public struct LineageRecord: Sendable {
        public let lineage: Lineage
        public let facts: [Fact]
        /// Ordered by when they were written.
        public let owners: [OwnershipEntry]

        public init(lineage: Lineage, facts: [Fact], owners: [OwnershipEntry]) {
            self.lineage = lineage
            self.facts = facts
            self.owners = owners
        }

        /// Returns the lineage as known at an instant; nil if nothing was known of it by then.
        package func asKnown(at instant: Instant) -> LineageRecord? {
            let facts = facts.filter { $0.learnedAt <= instant }
            guard !facts.isEmpty else { return nil }
            let owners = owners.filter { $0.isVouchedFor(by: facts, at: instant) }
            return LineageRecord(lineage: lineage, facts: facts, owners: owners)
        }
    }

    public init(
        customer: CustomerID,
        aliases: [CustomerAlias] = [],
        environment: Environment,
        lineageRecords: [LineageRecord],
        catalogue: Versioned<Catalogue>,
        policy: Versioned<Policy>,
        reconciledAt: Instant? = nil,
        googlePlayPackage: String? = nil,
        stores: CustomerStores = CustomerStores()
    ) {
        self.reconciledAt = reconciledAt
        self.googlePlayPackage = googlePlayPackage
        self.stores = stores
        identity = CustomerIdentity(customer, aliases: aliases)
        self.environment = environment
        self.lineageRecords = lineageRecords
        self.catalogue = catalogue
        self.policy = policy
    }

    public var customer: CustomerID { identity.customer }

    /// Returns the record as known at an instant. Excludes facts, policies and catalogues learned
    /// later, owners that only those facts name, and aliases declared later.
    public func asKnown(at instant: Instant) -> CustomerRecord {
        let known = lineageRecords.compactMap { $0.asKnown(at: instant) }
        return CustomerRecord(
            customer: customer,
            aliases: identity.asKnown(at: instant).aliases,
            environment: environment,
            lineageRecords: known,
            catalogue: catalogue.asKnown(at: instant),
            policy: policy.asKnown(at: instant),
            reconciledAt: reconciledAt.flatMap {
                max($0, identity.joinedAt) <= instant ? $0 : nil
            },
            googlePlayPackage: googlePlayPackage,
            stores: stores.asKnown(at: instant)
        )
    }

    /// Returns the record in which all IDs were one customer from the beginning.
    ///
    /// Reports count customers as known now. Without this, a failed renewal of an anonymous ID
    /// would disappear from them as soon as its customer signs in.
    package var withJoinedIDs: CustomerRecord {
        let aliases = identity.aliases.map { alias in
            var joined = alias
            joined.from = .distantPast
            return joined
        }
        return CustomerRecord(
            customer: customer,
            aliases: aliases,
            environment: environment,
            lineageRecords: lineageRecords,
            catalogue: catalogue,
            policy: policy,
            reconciledAt: reconciledAt,
            googlePlayPackage: googlePlayPackage,
            stores: stores
        )
    }

    /// The history that all answers for the customer are computed from.
    public var history: CustomerHistory {
        CustomerHistory(
            customer: customer,
            aliases: identity.aliases,
            environment: environment,
            lineageRecords: answering.map { lineageRecord in
                OwnedHistory(
                    history: LineageHistory(
                        lineage: lineageRecord.lineage,
                        facts: lineageRecord.facts,
                        catalogue: catalogue
                    ),
                    owners: lineageRecord.owners
                )
            },
            catalogue: catalogue,
            policy: policy,
            reconciledAt: reconciledAt,
            googlePlayPackage: googlePlayPackage,
            stores: stores
        )
    }

    /// Returns an explanation for each entitlement of the catalogue, by name.
    public func explanations(at instant: Instant) -> [Explanation] {
        let history = history
        return history.snapshot(at: instant).entitlements.map {
            explanation(of: $0, by: history, at: instant)
        }
    }

    /// Returns the explanation for one entitlement; nil if the catalogue lacks it.
    public func explanation(of entitlement: String, at instant: Instant) -> Explanation? {
        let history = history
        return history.snapshot(at: instant)[entitlement].map {
            explanation(of: $0, by: history, at: instant)
        }
    }

    private func explanation(
        of decision: Snapshot.Entitlement,
        by history: CustomerHistory,
        at instant: Instant
    ) -> Explanation {
        let standing = decision.standing
        let next = decision.nextChange.flatMap { history.snapshot(at: $0)[decision.name] }
        let deciding = history.lineageRecords.first { $0.history.lineage == standing.lineage }?
            .history
        let decisionBasis = deciding?.decisionBasis(
            for: decision.name,
            at: instant,
            policy: policy,
            catalogue: catalogue.value(at: instant)
        )
        let record = answering.first { $0.lineage == standing.lineage }
        let classified = decisionBasis.map {
            ClassifiedEvidence(
                facts: record?.facts ?? [],
                decisionBasis: $0,
                standing: standing,
                movedAt: record?.owners.startOfDecidingMove(at: instant)
            )
        }
        let others = others(than: standing.lineage, for: decision.name, by: history, at: instant)
        let owned = others.compactMap(\.standing)
        return Explanation(
            asOf: instant,
            decision: decision,
            why: standing.why + moves(of: standing, at: instant)
                + objections(to: decision, by: history, at: instant),
            used: classified?.used ?? [],
            setAside: classified?.setAside ?? [],
            others: others,
            next: next,
            reply: Reply(
                decision: decision,
                decisionBasis: decisionBasis,
                catalogue: catalogue.value(at: instant),
                former: formerPurchase(for: decision.name, by: history, at: instant),
                given: owned.given(after: standing),
                hasUnpaid: owned.contains { $0.isFailing && $0.lineage?.ownership == .purchased },
                hasBought: (owned + [standing]).contains { $0.grantedEntitlement == nil }
            ).sentences
        )
    }

    /// Returns why a customer without access is offered no trial because of another customer's
    /// purchase.
    private func objections(
        to decision: Snapshot.Entitlement,
        by history: CustomerHistory,
        at instant: Instant
    ) -> [String] {
        guard !decision.standing.access, let offer = decision.guidance.trialOffer else { return [] }
        return [history.objectionOfAccount(to: offer, at: instant)].compactMap(\.self)
    }

    /// Returns how a purchase for an entitlement that was the customer's and is another's now can
    /// come back; nil if there is none.
    private func formerPurchase(
        for entitlement: String,
        by history: CustomerHistory,
        at instant: Instant
    ) -> Reply.FormerPurchase? {
        let policy = policy.value(at: instant)
        let catalogue = catalogue.value(at: instant)
        let former = history.lineageRecords.first { lineageRecord in
            wasOwned(lineageRecord.owners, before: instant)
                && lineageRecord.history.standing(
                    of: entitlement,
                    at: instant,
                    policy: policy,
                    catalogue: catalogue
                ).state != .never
        }
        guard let lineage = former?.history.lineage,
            let known = lineageRecords.first(where: { $0.lineage == lineage })
        else { return nil }
        let claim = OwnershipClaim(lineage: lineage, customer: customer, at: instant)
        let ruling = claim.ruling(
            facts: known.facts,
            owners: known.owners,
            policy: policy.transfer,
            holderHasAccess: { false }
        )
        return switch ruling {
        case .granted, .refused(.coolingDown): .restorable
        case .held, .refused: .fixed
        }
    }

    /// Whether the customer owned a purchase before an instant at which another customer owns it.
    private func wasOwned(_ owners: [OwnershipEntry], before instant: Instant) -> Bool {
        guard owners.owner(at: instant) != nil, !identity.owns(owners, at: instant) else {
            return false
        }
        return (owners.map(\.from) + identity.instants).contains {
            $0 < instant && identity.owns(owners, at: $0)
        }
    }

    /// Returns a sentence if an operator moved the deciding purchase to the customer. For a customer
    /// without access, the sentence is about a purchase that was moved away.
    private func moves(of standing: Standing, at instant: Instant) -> [String] {
        for lineageRecord in lineageRecords {
            if identity.owns(lineageRecord.owners, at: instant) {
                guard lineageRecord.lineage == standing.lineage,
                    let move = lineageRecord.facts.latestMove(by: instant),
                    identity.all.contains(move.customer)
                else { continue }
                return ["An operator moved the purchase to this customer on \(day(of: move))."]
            }
            guard !standing.access, let move = moveAway(of: lineageRecord, by: instant) else {
                continue
            }
            return ["An operator moved a purchase of this customer to another on \(day(of: move))."]
        }
        return []
    }

    /// Returns the latest move by an operator until an instant that took a purchase from the
    /// customer. Later moves can be between other customers.
    private func moveAway(of record: LineageRecord, by instant: Instant) -> OwnershipMove? {
        let moves = record.facts.compactMap { fact -> OwnershipMove? in
            guard case .move(let move) = fact.assertion, move.from <= instant,
                identity.owns(record.owners, at: move.from - Milliseconds(1)),
                !identity.owns(record.owners, at: move.from)
            else { return nil }
            return move
        }
        return moves.max { $0.from < $1.from }
    }

    private func day(of move: OwnershipMove) -> String {
        MessageFormats.english.date(move.from, showsTime: false)
    }

    private func others(
        than deciding: Lineage?,
        for entitlement: String,
        by history: CustomerHistory,
        at instant: Instant
    ) -> [Explanation.Voice] {
        history.lineageRecords.filter { $0.history.lineage != deciding }.map { lineageRecord in
            let isOwned = identity.owns(lineageRecord.owners, at: instant)
            let standing = lineageRecord.history.standing(
                of: entitlement,
                at: instant,
                policy: policy.value(at: instant),
                catalogue: catalogue.value(at: instant)
            )
            return Explanation.Voice(
                lineage: lineageRecord.history.lineage,
                standing: isOwned ? standing : nil
            )
        }
    }
}

extension OwnershipEntry {
    /// Whether one of these facts caused the entry.
    fileprivate func isVouchedFor(by facts: [Fact], at instant: Instant) -> Bool {
        if let decidedAt { return decidedAt <= instant }
        return facts.contains { fact in
            fact.claim.map { $0.why == why && $0.customer == customer && $0.from == from } ?? false
        }
    }
}

extension Rule.ID {
    /// The sentence where the rule decides about access that an operator gave.
    fileprivate var sentenceOfGrant: String {
        switch self {
        case .inTerm: "An operator gave this access, and it is running."
        case .revoked: "An operator took back the access given by hand."
        case .ended, .expired: "The access given by hand has ended."
        default: sentence
        }
    }
}

extension Standing {
    /// The rule's sentence. Access that an operator gave was neither paid for nor taken back by a
    /// store.
    var sentence: String {
        guard grantedEntitlement != nil else { return rule.sentence }
        return reason == .notEntitled
            ? "The access given by hand is for another entitlement." : rule.sentenceOfGrant
    }

    /// The rule's sentence, with the cause that changed or confirmed its answer.
    fileprivate var why: [String] {
        switch reason {
        case .changedProduct:
            [
                sentence,
                "What it is for does not unlock this entitlement; an earlier product did.",
            ]
        case .notEntitled where grantedEntitlement == nil:
            [sentence, "No product of this purchase unlocks this entitlement."]
        case .unknownProduct:
            [
                sentence,
                "The catalogue has no product `\(productId ?? "")`: add it to `products` of the "
                    + "app's configuration.",
            ]
                + (access ? ["Until then `policy.unknownProduct` gives access."] : [])
        case .unknown where confidence == .confirmed:
            [
                sentence,
                "A device has presented all that it had, and nothing of it is this customer's.",
            ]
        default: [sentence]
        }
    }
}
