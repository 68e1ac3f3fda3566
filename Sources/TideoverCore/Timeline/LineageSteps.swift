/// The phases of a lineage that cause transitions between them.
enum Phase: Sendable {
    case none, running, grace, hold, paused, ended, unconfirmed
}

extension Standing {
    /// The phase. Access that only the operator's policy keeps is hold; a pause is not a billing
    /// issue.
    var phase: Phase {
        switch state {
        case .never: .none
        case .active: .running
        case .grace: reason == .keptByPolicy ? .hold : .grace
        case .hold: isPaused ? .paused : .hold
        case .expired: confidence == .unknown ? .unconfirmed : .ended
        }
    }
}

/// The time from one boundary of a lineage to the next. Its standing cannot change in between.
///
/// A class, because steps are passed on and compared often, and are large to copy.
final class Step: Sendable {
    let from: Instant
    /// The lineage's own standing, for any entitlement.
    let standing: Standing
    /// The governing term.
    let term: TermRecord?
    /// The standing of a later transaction that covers the time, if `standing` has no access.
    let covered: Standing?
    /// The standing of the newest term, if an earlier one that returned governs instead.
    let newest: Standing?
    /// The products on Google Play that are only sold with the governing one, and have not ended.
    let addOns: [AddOn]
    let phase: Phase

    struct AddOn: Sendable {
        let standing: Standing
        let term: TermRecord
    }

    init(
        from instant: Instant,
        standing: Standing,
        term: TermRecord?,
        covered: Standing? = nil,
        newest: Standing? = nil,
        addOns: [AddOn] = []
    ) {
        from = instant
        self.standing = standing
        self.term = term
        self.covered = covered
        self.newest = newest
        self.addOns = addOns
        phase =
            switch term?.term.plan {
            case .consumable, .unrecognised: .none
            case .autoRenewable, .nonRenewing, .nonConsumable, nil: standing.phase
            }
    }

    /// The governing term, if the store itself reported it.
    var seenTerm: TermRecord? { term.flatMap { $0.isUnseen ? nil : $0 } }

    /// Returns whether the governing term renews. The standing may be about the charge after it.
    func willRenew(_ term: TermRecord) -> Bool? {
        guard standing.lineage?.store != .googlePlay else { return standing.willRenew }
        return term.outlooks.newest(by: from)?.value.willRenew
    }
}

/// The complete past and expected steps of a lineage. Each uses the policy and the catalogue in
/// effect at that time.
struct LineageSteps: Sendable {
    let history: LineageHistory
    /// The product of a one-time purchase of several that the steps are about; nil if they are
    /// about the whole lineage.
    let product: String?
    let catalogue: Versioned<Catalogue>
    let policy: Versioned<Policy>
    let all: [Step]
    /// Names the lineage's events.
    let names: StableDigest

    var lineage: Lineage { history.lineage }

    /// Creates all steps.
    init(
        _ history: LineageHistory,
        of product: String? = nil,
        catalogue: Versioned<Catalogue>,
        policy: Versioned<Policy>
    ) {
        self.history = history
        self.product = product
        self.catalogue = catalogue
        self.policy = policy
        names = StableDigest(of: history.lineage)
        let addOns = history.play?.addOns
        all = Self.changes(of: history, catalogue, policy).compactMap { instant in
            history.step(from: instant, policy, of: product, without: addOns)
        }
    }

    private static func changes(
        of history: LineageHistory,
        _ catalogue: Versioned<Catalogue>,
        _ policy: Versioned<Policy>
    ) -> [Instant] {
        var instants: [Instant] = []
        for version in policy.versions {
            history.addChanges(policy: version.value, to: &instants)
        }
        guard let first = instants.min() else { return [] }
        for version in policy.versions where version.effectiveAt > first {
            instants.append(version.effectiveAt)
        }
        for version in catalogue.versions where version.effectiveAt > first {
            instants.append(version.effectiveAt)
        }
        return instants.inOrder
    }

    /// The steps that have events of their own: those of each product of a one-time purchase of
    /// several.
    var stories: [LineageSteps] {
        guard !history.bundle.isEmpty else { return [self] }
        return history.bundle.map {
            LineageSteps(history, of: $0, catalogue: catalogue, policy: policy)
        }
    }

    /// The terms that the steps are about.
    var terms: [TermRecord] {
        guard let product else { return history.seenTerms }
        return history.seenTerms.filter { $0.term.productId == product }
    }

    /// Returns the step that contains an instant; nil before the first.
    func step(at instant: Instant) -> Step? {
        all[..<all.endOfPrefix { $0.from <= instant }].last
    }

    /// Returns the standing for one entitlement from each step on.
    func answers(of entitlement: String) -> [Answer] {
        all.map { answer(of: entitlement, from: $0) }
    }

    /// Returns the standing for one entitlement from a step on.
    func answer(of entitlement: String, from step: Step) -> Answer {
        guard !history.hasItems else {
            return Answer(from: step.from, standing: standing(of: entitlement, at: step.from))
        }
        let standing = history.narrowed(
            step.covered ?? step.standing,
            to: entitlement,
            at: step.from,
            catalogue.value(at: step.from),
            policy
        )
        return Answer(from: step.from, standing: standing)
    }

    func standing(of entitlement: String, at instant: Instant) -> Standing {
        history.standing(
            of: entitlement,
            at: instant,
            policy: policy,
            catalogue: catalogue.value(at: instant)
        )
    }

    /// Returns the natural end of a purchase's paid time at an instant; nil if it has not ended by
    /// then. Evaluates only the steps since the end. Of a one-time purchase of several it is the
    /// end of `product`.
    static func naturalEnd(
        of history: LineageHistory,
        _ product: String?,
        catalogue: Versioned<Catalogue>,
        policy: Versioned<Policy>,
        at instant: Instant
    ) -> Instant? {
        let addOns = history.play?.addOns
        let product = history.bundle.isEmpty ? nil : product
        var end: Instant?
        for change in changes(of: history, catalogue, policy).reversed() where change <= instant {
            guard let step = history.step(from: change, policy, of: product, without: addOns)
            else { continue }
            guard step.phase == .ended else { break }
            end = step.term.map { history.naturalEnd(of: $0, after: change) } ?? end
        }
        return end
    }

    /// Returns the entitlements of a standing, as the catalogue of an instant has them.
    func entitlements(of standing: Standing, at instant: Instant) -> [String] {
        history.entitlements(
            of: standing,
            at: instant,
            in: catalogue.value(at: instant),
            policy: policy
        )
    }

    /// Returns the entitlements of a product at an instant.
    func entitlements(of productId: String, at instant: Instant) -> [String] {
        catalogue.value(at: instant).entitlements(of: productId)
    }
}

extension LineageHistory {
    /// Returns the entitlements of a standing: the granted one, or those of its product and the
    /// products sold with it. Products that go on beside an ended one do not end with it.
    func entitlements(
        of standing: Standing,
        at instant: Instant,
        in catalogue: Catalogue,
        policy: Versioned<Policy>
    ) -> [String] {
        if let granted = standing.grantedEntitlement { return [granted] }
        var addOns = play?.products(at: instant) ?? []
        if let play, standing.state == .expired, addOns.count > 1 {
            let all = play.candidates(at: instant, in: self, policy: policy)
            let running = all.filter(\.standing.access).compactMap(\.standing.productId)
            addOns.removeAll(where: running.contains)
        }
        let all = ([standing.productId].compactMap(\.self) + addOns).map {
            catalogue.entitlements(of: $0)
        }
        return all.dropFirst().reduce(all.first ?? []) { found, more in
            found + more.filter { !found.contains($0) }
        }
    }

    /// Returns the step that begins at an instant, decided without add-ons where possible; nil if
    /// nothing decides it. `addOns` is nil for a lineage that is not on Google Play.
    fileprivate func step(
        from instant: Instant,
        _ policy: Versioned<Policy>,
        of product: String? = nil,
        without addOns: Set<String>?
    ) -> Step? {
        guard let addOns else { return step(from: instant, policy, of: product) }
        let isMain = { (standing: Standing) in !addOns.contains(standing.productId ?? "") }
        let decision =
            decision(at: instant, policy: policy, where: isMain)
            ?? decision(at: instant, policy: policy) { _ in true }
        return decision.map {
            let term = $0.decisionBasis.term
            return Step(
                from: instant,
                standing: $0.standing,
                term: term,
                addOns: living(addOns, beside: term, at: instant, policy)
            )
        }
    }

    /// Returns the step of a lineage that is not a subscription on Google Play. A term that
    /// returned governs it again; a recovery governs only from its own step on. Of the products of
    /// a one-time purchase the best one counts.
    fileprivate func step(
        from instant: Instant,
        _ policy: Versioned<Policy>,
        of product: String?
    ) -> Step {
        let products = product.map { [$0] } ?? bundle
        let found = products.map {
            let lengths = PolicyLengths(policy, at: instant)
            return RuleContext.decide($0, of: self, at: instant, policy: lengths)
        }
        if let first = found.first {
            let best = found.dropFirst().reduce(first) {
                $1.standing.isBetter(than: $0.standing) ? $1 : $0
            }
            return Step(from: instant, standing: best.standing, term: best.now.term)
        }
        let now = RuleContext(history: self, instant: instant, policy: policy)
        let standing = TermRule.standing(now)
        let other = now.covered(instead: standing)
        if let other, let term = other.now.term, term.effectiveStart <= instant {
            return Step(from: instant, standing: other.standing, term: term, newest: standing)
        }
        return Step(from: instant, standing: standing, term: now.term, covered: other?.standing)
    }

    private func living(
        _ addOns: Set<String>,
        beside term: TermRecord?,
        at instant: Instant,
        _ policy: Versioned<Policy>
    ) -> [Step.AddOn] {
        guard let play, !addOns.isEmpty else { return [] }
        return play.candidates(at: instant, in: self, policy: policy).compactMap { standing, now in
            guard addOns.contains(standing.productId ?? ""), let record = now.record,
                record.key != term?.key, standing.state != .never, standing.state != .expired
            else { return nil }
            return Step.AddOn(standing: standing, term: record)
        }
    }

    /// How long artifacts of a purchase without an end are kept after a revocation.
    private static let lifetimeArtifacts = Milliseconds.days(30)

    /// Returns the natural end of the paid time, for access that ended at an instant.
    func naturalEnd(of term: TermRecord, after instant: Instant) -> Instant {
        max(instant, term.end ?? instant + pace.scale(Self.lifetimeArtifacts))
    }

    /// Returns the natural end of the paid time of a product that another one replaced, for its
    /// standing at an instant.
    func naturalEnd(ofReplaced standing: Standing, at instant: Instant) -> Instant? {
        let former = seenTerms.last {
            $0.effectiveStart <= instant && $0.term.productId == standing.productId
        }
        guard let former, let end = standing.accessUntil else { return nil }
        return naturalEnd(of: former, after: end)
    }
}

extension PlayHistory {
    /// Products that are only sold with another one. Events report the other one, so a product of
    /// these that fails or ends alone has no transition of its own.
    fileprivate var addOns: Set<String> {
        let main = tokens.compactMap(\.items.first).flatMap { $0.statements.map(\.productId) }
        let others = tokens.flatMap { $0.items.dropFirst() }.flatMap(\.statements)
        return Set(others.map(\.productId)).subtracting(main)
    }

    /// Returns the products sold together at an instant.
    fileprivate func products(at instant: Instant) -> [String] {
        tokens.filter { $0.isAlive(at: instant) }.flatMap(\.items).compactMap {
            guard let statement = $0.statement(at: instant), statement.item != nil else {
                return nil
            }
            return statement.productId
        }
    }
}

/// A standing from an instant on.
struct Answer: Sendable {
    let from: Instant
    let standing: Standing
}

extension [Answer] {
    /// Returns the spans up to an instant, and the expected ones after it.
    func spans(until: Instant) -> (lived: [Timeline.Span], expected: [Timeline.Span]) {
        let lived = prefix { $0.from < until }
        let current = last { $0.from <= until }.map { Answer(from: until, standing: $0.standing) }
        let ahead = (current.map { [$0] } ?? []) + filter { $0.from > until }
        return (Self.merged(lived, until: until), Self.merged(ahead, until: nil))
    }

    /// Merges equal neighbours. The last span lasts until `until`.
    private static func merged(_ answers: some Sequence<Answer>, until: Instant?) -> [Timeline.Span]
    {
        var openings: [Timeline.Span] = []
        for answer in answers {
            if openings.last?.says(answer.standing) ?? false { continue }
            openings.append(Timeline.Span(answer.standing, from: answer.from, until: nil))
        }
        return openings.indices.map { position in
            let next = openings.dropFirst(position + 1).first
            return openings[position].lasting(until: next?.from ?? until)
        }
    }
}
