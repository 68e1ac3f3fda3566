/// A lineage with its list of owners: what a customer may hold.
public struct OwnedHistory: Sendable {
    public let history: LineageHistory
    public let owners: [OwnershipEntry]

    public init(history: LineageHistory, owners: [OwnershipEntry]) {
        self.history = history
        self.owners = owners
    }
}

/// Everything that answers for one customer in one environment.
public struct CustomerHistory: Sendable {
    /// The customer asked about, with the other ids of theirs.
    public let identity: CustomerIdentity
    public let environment: Environment
    public let holdings: [OwnedHistory]
    public let catalogue: Versioned<Catalogue>
    public let policy: Versioned<Policy>
    /// When a device first presented all that it had; nil where none did.
    public let reconciledAt: Instant?
    /// The app's package name on Google Play, for links to its subscriptions; nil where it is not known.
    public let googlePlayPackage: String?
    /// The stores that the customer can buy in.
    public let stores: CustomerStores

    /// Holdings of other environments are left out: environments are never mixed.
    public init(
        customer: CustomerID,
        aliases: [CustomerAlias] = [],
        environment: Environment,
        holdings: [OwnedHistory],
        catalogue: Versioned<Catalogue>,
        policy: Versioned<Policy>,
        reconciledAt: Instant? = nil,
        googlePlayPackage: String? = nil,
        stores: CustomerStores = CustomerStores()
    ) {
        self.googlePlayPackage = googlePlayPackage
        self.stores = stores
        identity = CustomerIdentity(customer, aliases: aliases)
        self.environment = environment
        self.reconciledAt = reconciledAt
        self.holdings = holdings.filter { $0.history.lineage.environment == environment }
            .sorted { $0.history.lineage < $1.history.lineage }
        self.catalogue = catalogue
        self.policy = policy
    }

    public var customer: CustomerID { identity.customer }

    /// What the customer may use at an instant, for every entitlement of the catalogue.
    public func snapshot(
        at instant: Instant,
        shown presentation: Presentation = Presentation()
    ) -> Snapshot {
        let ahead = boundaries(after: instant)
        let entitlements = catalogue.value(at: instant).entitlements.map { name in
            let standing = best(of: name, at: instant)
            let nextChange = nextChange(of: name, among: ahead, from: standing)
            return Snapshot.Entitlement(
                name: name,
                standing: standing,
                accessUntil: accessEnd(
                    of: name,
                    at: instant,
                    from: standing,
                    ahead: ahead.drop { $0 < nextChange ?? .distantFuture }
                ),
                nextChange: nextChange,
                pending: pending(for: name, at: instant),
                keepArtifactsUntil: keepArtifactsUntil(standing, at: instant),
                guidance: guidance(on: name, standing, at: instant, in: presentation.store)
            )
        }
        let prompting = prompting(at: instant, presentation)
        return Snapshot(
            customer: customer,
            environment: environment,
            asOf: instant,
            entitlements: entitlements,
            prompt: prompting.prompt,
            promptAt: prompting.hold?.until
        )
    }

    /// The natural end of the purchase that decides, once it gives access no more.
    private func keepArtifactsUntil(_ standing: Standing, at instant: Instant) -> Instant? {
        guard standing.state == .expired, let lineage = standing.lineage else { return nil }
        return holdings.first { $0.history.lineage == lineage }.flatMap {
            LineageSteps($0.history, catalogue: catalogue, policy: policy, through: instant)
                .naturalEnd(at: instant)
        }
    }

    // MARK: One entitlement

    /// The best standing over the customer's lineages.
    func best(of entitlement: String, at instant: Instant) -> Standing {
        standings(of: entitlement, at: instant).best
            ?? .unheardOf(isReconciled: isReconciled(at: instant))
    }

    func isReconciled(at instant: Instant) -> Bool {
        reconciledAt.map { $0 <= instant } ?? false
    }

    /// The standing of each lineage that the customer owns at an instant, in the order of keys.
    func standings(of entitlement: String, at instant: Instant) -> [Standing] {
        let policy = policy.value(at: instant)
        let catalogue = catalogue.value(at: instant)
        return holdings.compactMap { holding in
            guard identity.owns(holding.owners, at: instant) else { return nil }
            return holding.history.standing(
                of: entitlement,
                at: instant,
                policy: policy,
                catalogue: catalogue
            )
        }
    }

    /// The end of unbroken access from an instant on, as known now; nil is for ever. `ahead` contains
    /// the boundaries from the next change on.
    private func accessEnd(
        of entitlement: String,
        at instant: Instant,
        from standing: Standing,
        ahead: ArraySlice<Instant>
    ) -> Instant? {
        let until = unbrokenAccess(to: entitlement, at: instant, from: standing)
        guard standing.access else { return until }
        let known = ahead.prefix { $0 < until ?? .distantFuture }
        return known.first { !best(of: entitlement, at: $0).access } ?? until
    }

    /// The end of unbroken confirmed access over all lineages; nil is for ever.
    private func unbrokenAccess(
        to entitlement: String,
        at instant: Instant,
        from standing: Standing
    ) -> Instant? {
        guard standing.access, let first = standing.accessUntil else { return standing.accessUntil }
        var until = confirmedEnd(of: entitlement, at: instant) ?? first
        // Each step needs a term or grace of its own that is already known, so the walk is bounded
        // by their number; the bound only guards against a fault in that reasoning.
        for _ in 0..<10_000 {
            guard let later = confirmedEnd(of: entitlement, at: until), later > until else { break }
            until = later
        }
        return until == .distantFuture ? nil : until
    }

    /// What the customer waits for: of one product only while no purchase of it has begun since.
    func pending(for entitlement: String, at instant: Instant) -> [Snapshot.Pending] {
        let catalogue = catalogue.value(at: instant)
        let own = holdings.filter { identity.owns($0.owners, at: instant) }
        let open = own.flatMap { holding in
            holding.history.pending.filter { span in
                span.isOpen(at: instant) && catalogue.unlocks(span.productId, entitlement)
                    && !own.contains {
                        $0.history.hasBegun(span.productId, since: span.since, by: instant)
                    }
            }.map { span in
                Snapshot.Pending(
                    productId: span.productId,
                    store: holding.history.lineage.store,
                    since: span.since,
                    until: span.until
                )
            }
        }
        return open.sorted { ($0.since, $0.productId) < ($1.since, $1.productId) }
    }

    /// The latest end of the confirmed access that one purchase or another gives at an instant. It
    /// need not be the best one's: another may be active, but only presumed so.
    private func confirmedEnd(of entitlement: String, at instant: Instant) -> Instant? {
        standings(of: entitlement, at: instant)
            .filter { $0.access && $0.confidence == .confirmed }
            .map { $0.accessUntil ?? .distantFuture }.max()
    }

    /// The earliest of the later instants at which state, reason, access or confidence differs.
    private func nextChange(
        of entitlement: String,
        among ahead: [Instant],
        from standing: Standing
    ) -> Instant? {
        ahead.first {
            let then = best(of: entitlement, at: $0)
            return then.state != standing.state || then.reason != standing.reason
                || then.confidence != standing.confidence
        }
    }

    /// The later instants at which some answer may change if no store says more, in order.
    func boundaries(after instant: Instant) -> [Instant] {
        var all = policy.versions.map(\.effectiveAt) + catalogue.versions.map(\.effectiveAt)
        if let reconciledAt { all.append(reconciledAt) }
        all += identity.instants
        for holding in holdings {
            for version in policy.versions { all += holding.history.changes(policy: version.value) }
            for entry in holding.owners { all += [entry.from, entry.until].compactMap(\.self) }
        }
        return all.filter { $0 > instant }.inOrder
    }
}

extension Standing {
    /// Active before grace, hold, a product that runs and the catalogue lacks, expired and never;
    /// then confirmed before presumed and unknown; then the later end. The end of a grace is
    /// `graceUntil` where it is known: Google moves the expiry of each product daily. Equal answers
    /// keep the first lineage by key. What was never paid is not ranked: any other answer is better.
    func isBetter(than other: Standing) -> Bool {
        guard isRanked, other.isRanked else { return isRanked }
        let mine = (worth, confidence.worth, lasting)
        let theirs = (other.worth, other.confidence.worth, other.lasting)
        return mine > theirs
    }

    private var worth: Int { state == .never && hasUnlistedProduct ? 2 : state.worth }

    private var isRanked: Bool { rule != .pending && rule != .calledOff }

    private var lasting: Instant {
        guard let accessUntil else { return access ? .distantFuture : .distantPast }
        return max(accessUntil, graceUntil ?? accessUntil)
    }
}

extension Standing {
    /// The answer where no purchase is known: for certain once a device has presented all that it had,
    /// and nothing of it was the customer's.
    static func unheardOf(isReconciled: Bool) -> Standing {
        Standing(
            state: .never,
            reason: .unknown,
            confidence: isReconciled ? .confirmed : .unknown,
            rule: .noFacts
        )
    }
}

extension [Standing] {
    /// The best of them; of equal ones the first.
    var best: Standing? {
        guard let first else { return nil }
        return dropFirst().reduce(first) { $1.isBetter(than: $0) ? $1 : $0 }
    }
}

extension State {
    fileprivate var worth: Int {
        switch self {
        case .active: 5
        case .grace: 4
        case .hold: 3
        case .expired: 1
        case .never: 0
        }
    }
}

extension Confidence {
    fileprivate var worth: Int {
        switch self {
        case .confirmed: 2
        case .presumed: 1
        case .unknown: 0
        }
    }
}

/// The best standing per entitlement of one customer in one environment: what an app reads.
public struct Snapshot: Hashable, Sendable {
    public var customer: CustomerID
    public var environment: Environment
    public var asOf: Instant
    /// By name.
    public var entitlements: [Entitlement]
    /// Nil when there is nothing to ask the customer.
    public var prompt: Prompt?
    /// When a prompt that is held back will be shown; nil if none is.
    public var promptAt: Instant?

    public struct Entitlement: Hashable, Sendable {
        public var name: String
        public var standing: Standing
        /// The end of unbroken confirmed access; nil is for ever where there is access.
        public var accessUntil: Instant?
        /// When state, reason, access or confidence next differs if the store says nothing more.
        public var nextChange: Instant?
        /// Purchases that would unlock it and wait for approval or payment, oldest first.
        public var pending: [Pending]
        /// Where access has ended: until when to keep what the customer downloaded or made, the end of
        /// what was paid for.
        public var keepArtifactsUntil: Instant?
        public var guidance: Guidance
    }

    /// A purchase that waits for approval or for its first payment.
    public struct Pending: Hashable, Sendable {
        public var productId: String
        public var store: Store
        public var since: Instant
        /// When it stops waiting by itself; nil where that is not known.
        public var until: Instant?
    }

    public subscript(_ name: String) -> Entitlement? {
        entitlements.first { $0.name == name }
    }

    /// Until when this snapshot, as written out, stays true: the next change of any entitlement,
    /// the next day of a trial's countdown, the end of a wait, or a prompt that is held back.
    public var validUntil: Instant? {
        let changes = entitlements.flatMap { entitlement in
            [entitlement.nextChange, entitlement.standing.trial?.nextTick(after: asOf)]
                + entitlement.pending.map(\.until)
        }
        return (changes + [promptAt]).compactMap(\.self).min()
    }
}

extension Trial {
    /// The next instant after `now` at which `daysLeft` or `urgent` differs.
    func nextTick(after now: Instant) -> Instant? {
        let day = max(1, (endsAt - cancelBy).count)
        let left = (endsAt - now).count
        guard left > 0 else { return nil }
        return endsAt - Milliseconds((left - 1) / day * day)
    }
}

extension LineageHistory {
    /// Whether a term of a product began in a stretch of time.
    fileprivate func hasBegun(_ product: String, since start: Instant, by end: Instant) -> Bool {
        seenTerms.contains {
            $0.term.productId == product && $0.term.start >= start && $0.effectiveStart <= end
        }
    }
}
