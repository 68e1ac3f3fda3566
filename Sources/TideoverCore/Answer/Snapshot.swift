/// A lineage with its list of owners.
public struct OwnedHistory: Sendable {
    public let history: LineageHistory
    public let owners: [OwnershipEntry]

    public init(history: LineageHistory, owners: [OwnershipEntry]) {
        self.history = history
        self.owners = owners
    }
}

/// All data that answers for one customer in one environment.
public struct CustomerHistory: Sendable {
    /// The requested customer, with all aliases.
    public let identity: CustomerIdentity
    public let environment: Environment
    public let lineageRecords: [OwnedHistory]
    public let catalogue: Versioned<Catalogue>
    public let policy: Versioned<Policy>
    /// When a device first presented all its purchases; nil if none did. For an alias it is not
    /// before the ID became the customer's, because the report may be about another ID.
    public let reconciledAt: Instant?
    /// The app's package name on Google Play, for links to its subscriptions; nil if unknown.
    public let googlePlayPackage: String?
    /// The stores available to the customer.
    public let stores: CustomerStores

    /// Creates a history. Holdings of other environments are left out: environments are never
    /// mixed.
    public init(
        customer: CustomerID,
        aliases: [CustomerAlias] = [],
        environment: Environment,
        lineageRecords: [OwnedHistory],
        catalogue: Versioned<Catalogue>,
        policy: Versioned<Policy>,
        reconciledAt: Instant? = nil,
        googlePlayPackage: String? = nil,
        stores: CustomerStores = CustomerStores()
    ) {
        self.googlePlayPackage = googlePlayPackage
        self.stores = stores
        let identity = CustomerIdentity(customer, aliases: aliases)
        self.identity = identity
        self.environment = environment
        self.reconciledAt = reconciledAt.map { max($0, identity.joinedAt) }
        self.lineageRecords = lineageRecords.filter {
            $0.history.lineage.environment == environment
        }
        .sorted { $0.history.lineage < $1.history.lineage }
        self.catalogue = catalogue
        self.policy = policy
    }

    public var customer: CustomerID { identity.customer }

    /// Returns the customer's access at an instant, for every entitlement of the catalogue.
    public func snapshot(
        at instant: Instant,
        shown presentation: Presentation = Presentation()
    ) -> Snapshot {
        let ahead = ahead(of: instant)
        let names = catalogue.value(at: instant).entitlements
        var own = OwnStandings(lineages: lineageRecords.count)
        let views = names.map { view(of: $0, at: instant, &own) }
        let entitlements = zip(names, views).map { name, now in
            entitlement(name, now, ahead, &own, in: presentation.store)
        }
        let counsels = zip(names, views).map { (entitlement: $0, counsel: $1.counsel) }
        let prompting = prompting(counsels, at: instant, presentation)
        return Snapshot(
            customer: customer,
            environment: environment,
            asOf: instant,
            entitlements: entitlements,
            prompt: prompting.prompt,
            promptAt: prompting.hold?.until
        )
    }

    /// The standings and the pending purchases for one entitlement at an instant, evaluated once
    /// for all parts of an answer.
    private struct View {
        let instant: Instant
        /// The standing of each lineage, ordered by key; nil for one that the customer does not
        /// own.
        let standings: [Standing?]
        let best: Standing
        let pending: [Snapshot.Pending]
        let counsel: Counsel

        /// The access given by hand that ended after the best standing.
        var given: Standing? { counsel.standings.given(after: best) }
    }

    /// The standings of the lineages themselves, evaluated once for all entitlements.
    private struct OwnStandings {
        /// By position, ordered by instant; nil where the customer does not own the lineage.
        private var known: [[(at: Instant, standing: Standing?)]]

        init(lineages: Int) {
            known = Array(repeating: [], count: lineages)
        }

        mutating func standing(
            at position: Int,
            _ instant: Instant,
            _ evaluate: () -> Standing?
        ) -> Standing? {
            let place = known[position].endOfPrefix { $0.at < instant }
            if place < known[position].count, known[position][place].at == instant {
                return known[position][place].standing
            }
            let standing = evaluate()
            if place == known[position].count {
                known[position].append((instant, standing))
            } else {
                known[position].insert((instant, standing), at: place)
            }
            return standing
        }
    }

    private func view(
        of entitlement: String,
        at instant: Instant,
        _ own: inout OwnStandings
    ) -> View {
        let standings = lineageRecords.indices.map { position in
            standing(of: entitlement, at: position, instant, &own)
        }
        let owned = standings.compactMap(\.self)
        let pending = pending(for: entitlement, at: instant)
        return View(
            instant: instant,
            standings: standings,
            best: owned.best ?? .unheardOf(isReconciled: isReconciled(at: instant)),
            pending: pending,
            counsel: Counsel(standings: owned, isPending: !pending.isEmpty)
        )
    }

    private func entitlement(
        _ name: String,
        _ now: View,
        _ ahead: Ahead,
        _ own: inout OwnStandings,
        in store: Store?
    ) -> Snapshot.Entitlement {
        let (nextChange, accessUntil) = future(of: name, from: now, ahead, &own)
        return Snapshot.Entitlement(
            name: name,
            standing: now.best,
            accessUntil: accessUntil,
            nextChange: nextChange,
            pending: now.pending,
            keepArtifactsUntil: keepArtifactsUntil(now),
            guidance: guidance(on: name, now.best, now.counsel, at: now.instant, in: store)
        )
    }

    /// Returns the natural end of the deciding purchase and of access given by hand after it, once
    /// neither gives access.
    private func keepArtifactsUntil(_ now: View) -> Instant? {
        let end = keepArtifactsUntil(now.best, at: now.instant)
        let given = now.given.flatMap { keepArtifactsUntil($0, at: now.instant) }
        return end.map { max($0, given ?? $0) }
    }

    private func keepArtifactsUntil(_ standing: Standing, at instant: Instant) -> Instant? {
        guard standing.state == .expired, let lineage = standing.lineage,
            let history = lineageRecords.first(where: { $0.history.lineage == lineage })?.history
        else { return nil }
        guard standing.reason != .changedProduct else {
            // A change that is only assumed takes nothing away yet.
            guard !standing.asksStore else { return nil }
            return history.naturalEnd(ofReplaced: standing, at: instant)
        }
        return LineageSteps.naturalEnd(
            of: history,
            standing.productId,
            catalogue: catalogue,
            policy: policy,
            at: instant
        )
    }

    // MARK: One entitlement

    /// Returns the best standing over the customer's lineages.
    func best(of entitlement: String, at instant: Instant) -> Standing {
        standings(of: entitlement, at: instant).best
            ?? .unheardOf(isReconciled: isReconciled(at: instant))
    }

    func isReconciled(at instant: Instant) -> Bool {
        reconciledAt.map { $0 <= instant } ?? false
    }

    /// Returns the standing of each lineage that the customer owns at an instant, ordered by key.
    func standings(of entitlement: String, at instant: Instant) -> [Standing] {
        lineageRecords.indices.compactMap { standing(of: entitlement, at: $0, instant) }
    }

    /// Returns the standing of the lineage at a position; nil if the customer does not own it.
    private func standing(
        of entitlement: String,
        at position: Int,
        _ instant: Instant
    ) -> Standing? {
        let lineageRecord = lineageRecords[position]
        guard identity.owns(lineageRecord.owners, at: instant) else { return nil }
        return lineageRecord.history.standing(
            of: entitlement,
            at: instant,
            policy: policy,
            catalogue: catalogue.value(at: instant)
        )
    }

    /// Returns the same. A lineage without `hasItems` has one standing, which is narrowed to the
    /// entitlement.
    private func standing(
        of entitlement: String,
        at position: Int,
        _ instant: Instant,
        _ own: inout OwnStandings
    ) -> Standing? {
        let history = lineageRecords[position].history
        guard !history.hasItems else { return standing(of: entitlement, at: position, instant) }
        let standing = own.standing(at: position, instant) {
            guard identity.owns(lineageRecords[position].owners, at: instant) else { return nil }
            return history.standing(at: instant, policy: policy)
        }
        return standing.map {
            history.narrowed(
                $0,
                to: entitlement,
                at: instant,
                catalogue.value(at: instant),
                policy
            )
        }
    }

    /// Returns the earliest later instant at which state, reason, access or confidence differs, and
    /// the end of unbroken access as known now; nil means permanent.
    ///
    /// Unbroken access is confirmed over all lineages: where one ends, another one may have a later
    /// end. It is over earlier where no lineage gives any access.
    private func future(
        of entitlement: String,
        from now: View,
        _ ahead: Ahead,
        _ own: inout OwnStandings
    ) -> (nextChange: Instant?, accessUntil: Instant?) {
        var lineages = BestOverTime(now.standings, ahead.changes)
        var nextChange: Instant?
        var end = now.best.accessUntil ?? .distantFuture
        if now.best.accessUntil != nil, lineages.confirmedEnd > .distantPast {
            end = lineages.confirmedEnd
        }
        var isEndKnown = !now.best.access
        for instant in ahead.instants {
            // No change is between `end` and this instant, so the standings are those at `end`.
            while !isEndKnown, end < instant {
                isEndKnown = lineages.confirmedEnd <= end
                end = max(end, lineages.confirmedEnd)
            }
            if isEndKnown, nextChange != nil { break }
            lineages.move(to: instant) { standing(of: entitlement, at: $0, instant, &own) }
            let best = lineages.best ?? .unheardOf(isReconciled: isReconciled(at: instant))
            if nextChange == nil, !best.isSame(as: now.best) { nextChange = instant }
            if !isEndKnown, !best.access, instant < end { (end, isEndKnown) = (instant, true) }
        }
        guard now.best.access else {
            return (nextChange, now.given?.accessUntil ?? now.best.accessUntil)
        }
        if !isEndKnown { end = max(end, lineages.confirmedEnd) }
        return (nextChange, end == .distantFuture ? nil : end)
    }

    /// Returns the customer's pending purchases. Excludes a product if a purchase of it has begun
    /// since.
    func pending(for entitlement: String, at instant: Instant) -> [Snapshot.Pending] {
        guard lineageRecords.contains(where: { !$0.history.pending.isEmpty }) else { return [] }
        let catalogue = catalogue.value(at: instant)
        let own = lineageRecords.filter { identity.owns($0.owners, at: instant) }
        let open = own.flatMap { lineageRecord in
            lineageRecord.history.pending.filter { span in
                span.isOpen(at: instant) && catalogue.unlocks(span.productId, entitlement)
            }.map { span in
                Snapshot.Pending(
                    productId: span.productId,
                    store: lineageRecord.history.lineage.store,
                    since: span.since,
                    until: span.until
                )
            }
        }
        guard !open.isEmpty else { return [] }
        var lastStarts: [String: Instant] = [:]
        for record in own.flatMap(\.history.seenTerms) where record.effectiveStart <= instant {
            let product = record.term.productId
            lastStarts[product] = max(lastStarts[product] ?? .distantPast, record.term.start)
        }
        return open.filter { pending in
            lastStarts[pending.productId].map { $0 < pending.since } ?? true
        }.sorted { ($0.since, $0.productId) < ($1.since, $1.productId) }
    }

    /// The later instants at which an answer may change if no store reports more.
    private struct Ahead {
        /// In order.
        let instants: [Instant]
        /// Those of each lineage.
        let changes: [BestOverTime.Change]
    }

    private func ahead(of instant: Instant) -> Ahead {
        let shared =
            policy.versions.map(\.effectiveAt) + catalogue.versions.map(\.effectiveAt)
            + identity.instants
        var changes: [BestOverTime.Change] = []
        for position in lineageRecords.indices {
            var own = shared
            for version in policy.versions {
                lineageRecords[position].history.addChanges(policy: version.value, to: &own)
            }
            for entry in lineageRecords[position].owners {
                own.append(entry.from)
                if let until = entry.until { own.append(until) }
            }
            own.removeAll { $0 <= instant }
            changes += own.inOrder.map { BestOverTime.Change(at: $0, position: position) }
        }
        if lineageRecords.count > 1 { changes.sort { $0.at < $1.at } }
        let others = (shared + [reconciledAt].compactMap(\.self)).filter { $0 > instant }
        return Ahead(instants: (changes.map(\.at) + others).inOrder, changes: changes)
    }

    /// Returns the later instants at which an answer may change if no store reports more, in order.
    func boundaries(after instant: Instant) -> [Instant] { ahead(of: instant).instants }
}

extension Standing {
    /// Whether this standing ranks before another.
    ///
    /// The order of states is: active, grace, hold, a running product that the catalogue lacks,
    /// expired, never. Then come confirmed before presumed and unknown, then the later end. Of
    /// expired ones the later end comes first: a purchase that ended long ago must not hide that a
    /// newer one may have renewed. Access that was given by hand and has ended comes after every
    /// purchase that has ended: it must not hide a failed payment. The end of grace is `graceUntil`
    /// if known: Google moves the expiry of each product daily. Equal answers keep the first
    /// lineage by key. A purchase that was never paid is not ranked: any other answer is better.
    func isBetter(than other: Standing) -> Bool {
        guard isRanked, other.isRanked else { return isRanked }
        let mine = (worth, sold, lapsed, confidence.worth, lasting)
        let theirs = (other.worth, other.sold, other.lapsed, other.confidence.worth, other.lasting)
        return mine > theirs
    }

    /// Whether both have expired for certain and this one's access ended later.
    func ended(after other: Standing) -> Bool {
        guard state == .expired, other.state == .expired else { return false }
        return confidence != .unknown && lasting > other.lasting
    }

    /// Whether state, reason, access and confidence are those of another standing.
    fileprivate func isSame(as other: Standing) -> Bool {
        state == other.state && reason == other.reason && confidence == other.confidence
    }

    private var worth: Int { state == .never && hasUnlistedProduct ? 2 : state.worth }

    private var isRanked: Bool { rule != .pending && rule != .calledOff }

    /// Zero for access given by hand that has ended. All others are equal.
    private var sold: Int { state == .expired && grantedEntitlement != nil ? 0 : 1 }

    /// When access ended, of an expired standing. All others are equal.
    private var lapsed: Instant { state == .expired ? lasting : .distantPast }

    private var lasting: Instant {
        guard let accessUntil else { return access ? .distantFuture : .distantPast }
        return max(accessUntil, graceUntil ?? accessUntil)
    }
}

extension Standing {
    /// Returns the answer if no purchase is known. It is certain once a device has presented all
    /// its purchases, and none belonged to the customer.
    static func unheardOf(isReconciled: Bool) -> Standing {
        Standing(
            .never,
            .unknown,
            confidence: isReconciled ? .confirmed : .unknown,
            rule: .noFacts,
            of: .none
        )
    }
}

extension [Standing] {
    /// The best standing; of equal ones the first.
    package var best: Standing? {
        guard let first else { return nil }
        return dropFirst().reduce(first) { $1.isBetter(than: $0) ? $1 : $0 }
    }

    /// Returns the access given by hand that ended last; nil if it ended no later than the deciding
    /// standing, or if that gives access.
    func given(after deciding: Standing) -> Standing? {
        guard deciding.state == .hold || deciding.state == .expired,
            let given = filter({ $0.grantedEntitlement != nil && $0.state == .expired }).best,
            let end = given.accessUntil, deciding.accessUntil.map({ $0 < end }) ?? true
        else { return nil }
        return given
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

/// The best standing per entitlement of one customer in one environment: the data that an app
/// reads.
public struct Snapshot: Hashable, Sendable {
    public var customer: CustomerID
    public var environment: Environment
    public var asOf: Instant
    /// By name.
    public var entitlements: [Entitlement]
    /// Nil if there is no prompt for the customer.
    public var prompt: Prompt?
    /// When a delayed prompt will be shown; nil if none is delayed.
    public var promptAt: Instant?
    /// The planned messages for the customer, due or in future, earliest first.
    public var plan: [PlannedMessage] = []

    public struct Entitlement: Hashable, Sendable {
        public var name: String
        public var standing: Standing
        /// The end of unbroken confirmed access; nil is permanent if there is access. Without
        /// access it is when the deciding purchase, or access given by hand after it, ended.
        public var accessUntil: Instant?
        /// When state, reason, access or confidence next differs if the store reports nothing more.
        public var nextChange: Instant?
        /// Purchases that would unlock it and await approval or payment, oldest first.
        public var pending: [Pending]
        /// Until when to keep the customer's downloads and creations after access ended: the end of
        /// the paid time.
        public var keepArtifactsUntil: Instant?
        public var guidance: Guidance
    }

    /// A purchase that awaits approval or its first payment.
    public struct Pending: Hashable, Sendable {
        public var productId: String
        public var store: Store
        public var since: Instant
        /// When it lapses by itself; nil if unknown.
        public var until: Instant?
    }

    public subscript(_ name: String) -> Entitlement? {
        entitlements.first { $0.name == name }
    }

    /// Until when this snapshot stays valid as written. The limit is the next change of an
    /// entitlement, the next day of a trial's countdown, the end of a wait, a delayed prompt, or
    /// the end of a planned message.
    public var validUntil: Instant? {
        var earliest = promptAt
        func limit(_ instant: Instant?) {
            if let instant { earliest = min(earliest ?? instant, instant) }
        }
        for entitlement in entitlements {
            limit(entitlement.nextChange)
            limit(entitlement.standing.trial?.nextTick(after: asOf))
            for purchase in entitlement.pending { limit(purchase.until) }
        }
        for message in plan { limit(message.until) }
        return earliest
    }
}

extension Trial {
    /// Returns the next instant after `now` at which `daysLeft` or `urgent` differs.
    func nextTick(after now: Instant) -> Instant? {
        let day = max(1, (endsAt - cancelBy).count)
        let left = (endsAt - now).count
        guard left > 0 else { return nil }
        return endsAt - Milliseconds((left - 1) / day * day)
    }
}
