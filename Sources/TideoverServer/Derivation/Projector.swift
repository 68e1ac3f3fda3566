import TideoverCore
import TideoverJSON
import TideoverStorage

/// The pure function that runs inside `commit`: it derives a customer's answer and events from the
/// stored lineages.
struct Projector: Sendable {
    let app: App
    /// False if the derivation is not stored; then no pass is signed.
    var issuesPasses = true
    /// The report that a device has just sent.
    var heard: HeardReport?

    func derive(_ lineages: CustomerLineages) -> Derivation {
        guard mayLeaveOut(lineages) else { return .needingAll(under: app.fingerprint) }
        let whole = record(of: lineages)
        let now = instant(of: whole, now: lineages.now)
        let settled = settled(in: whole)
        let record = whole.leavingOut(settled, by: horizon(of: lineages))
        let history = record.history
        // Delivered events remain delivered when a clock is set back.
        let until = max(now, lineages.answer?.derivedAt ?? now)
        let timeline = CustomerTimeline(record, history, until: until)
        let plan = timeline.plan(shown: lineages.prompts)
        let news = timeline.news(since: lineages.deliveredEvents, of: plan)
        let snapshot = history.snapshot(at: now, shown: lineages.presentation(), plan)
        let bodies = EventBodies(lineages.key, snapshot)
        var changes = ChangeEvents(bodies, lineages.answer, policyChange(since: lineages))
        changes.pass(history, news, before: now)
        let answer = changes.move(to: snapshot)
        let newsEvents = NewsEvents(bodies: bodies, languages: app.languages)
        return Derivation(
            answer: answer,
            validUntil: [snapshot.validUntil, news.nextAt].compactMap(\.self).min(),
            fingerprint: app.fingerprint,
            events: newsEvents.corrections(of: news, at: now)
                + (newsEvents.happenings(in: news) + changes.events).inOrder,
            pass: pass(on: snapshot, answer, of: history, lineages),
            drift: drift(lineages, record, history, snapshot),
            settled: settled
        )
    }

    /// Returns the first change of catalogue or policy that the stored answer does not include.
    private func policyChange(since lineages: CustomerLineages) -> Instant? {
        lineages.answer.flatMap {
            app.policyHistory(in: lineages.key.environment).change(after: $0.derivedAt)
        }
    }

    /// Returns the answer with the offers of one store; nothing is stored.
    func answer(for lineages: CustomerLineages, in store: Store) -> [UInt8] {
        let record = record(of: lineages)
        let now = instant(of: record, now: lineages.now)
        let history = record.history
        // A timeline takes longer than the rest of the answer.
        let plan =
            record.policy.versions.contains { !$0.value.plan.channels.isEmpty }
            ? CustomerTimeline(record, history, until: now).plan(shown: lineages.prompts) : .none
        return history.snapshot(at: now, shown: lineages.presentation(in: store), plan).answer
    }

    private func settled(in record: CustomerRecord) -> [SettledLineage] {
        guard record.customer == record.identity.primary else { return [] }
        return record.settledPurchases.map { SettledLineage($0.lineage, since: $0.since) }
    }

    /// Returns the earliest instant that a derivation examines. This is when the answer was due or
    /// derived, or the instant of a device's report. If drift is judged, it is at the latest just
    /// before the newest facts.
    private func horizon(of lineages: CustomerLineages) -> Instant {
        let answer = lineages.answer
        let looked = [lineages.now, answer?.derivedAt, answer?.validUntil].compactMap(\.self)
        let earliest = looked.min() ?? lineages.now
        let report = heard.flatMap { $0.key == lineages.key ? $0.report : nil }
        guard report != nil || !lineages.openDrift.isEmpty else { return earliest }
        let before = min(earliest, lineages.now - Milliseconds(1))
        return min(before, report?.conclusion.at ?? before)
    }

    /// Returns whether the omitted lineages cannot change the answer. They are settled under this
    /// catalogue and policy, no relayed purchase can belong to them, and no device reports an
    /// earlier instant.
    private func mayLeaveOut(_ lineages: CustomerLineages) -> Bool {
        guard let leftOut = lineages.leftOut else { return true }
        guard lineages.answer?.fingerprint == app.fingerprint,
            !lineages.lineageRecords.contains(where: \.isRelayed)
        else { return false }
        guard let heard, heard.key == lineages.key, let at = heard.report.conclusion.at else {
            return true
        }
        return at >= leftOut.since
    }

    /// Returns the answer's existing pass while it is fresh, else a new one. Commands that work on
    /// a server's database cannot sign; they keep the pass of an unchanged answer.
    private func pass(
        on snapshot: Snapshot,
        _ answer: [UInt8],
        of history: CustomerHistory,
        _ lineages: CustomerLineages
    ) -> IssuedPass? {
        let isUnchanged = lineages.answer?.answer == answer
        let former = isUnchanged ? lineages.answer?.pass : nil
        guard issuesPasses, let passes = app.passes else { return former }
        guard !passes.isFresh(former, at: lineages.now) else { return former }
        var dated = snapshot
        // Devices reject a pass dated far ahead, and each read would replace it.
        if dated.asOf > lineages.now + .clockTolerance { dated.asOf = lineages.now }
        return passes.issue(
            history.pass(
                on: dated,
                version: lineages.version(of: answer),
                issuer: passes.issuer,
                audience: app.id
            )
        )
    }

    /// The pure function that decides a claim to a lineage, also inside `commit`.
    func rule(
        _ claim: OwnershipClaim,
        _ lineageRecord: LineageRecord,
        _ holder: LineageHolder?
    ) throws(StorageError) -> ClaimRuling {
        // The customer already owns it under another id.
        if let holder, holder.identity.all.contains(claim.customer) { return .held }
        return try claim.ruling(
            facts: lineageRecord.facts,
            owners: lineageRecord.owners,
            policy: app.policy.transfer
        ) { () throws(StorageError) -> Bool in
            guard let holder else { return false }
            var held = try holder.lineages()
            if !mayLeaveOut(held) { held = try holder.allLineages() }
            let snapshot = record(of: held).history.snapshot(at: claim.at)
            return snapshot.entitlements.contains(where: \.standing.access)
        }
    }

    /// Returns all data that determines the customer's answer, under this app's catalogue and
    /// policy.
    func record(of lineages: CustomerLineages) -> CustomerRecord {
        let policyHistory = app.policyHistory(in: lineages.key.environment)
        return CustomerRecord(
            customer: lineages.key.customer,
            aliases: lineages.identity.aliases,
            environment: lineages.key.environment,
            lineageRecords: lineages.lineageRecords.joined.map {
                CustomerRecord.LineageRecord(
                    lineage: $0.lineage,
                    facts: $0.facts,
                    owners: $0.owners
                )
            },
            catalogue: policyHistory.catalogue,
            policy: policyHistory.policy,
            reconciledAt: lineages.reconciledAt,
            googlePlayPackage: app.googlePlay?.packageName,
            stores: lineages.stores(selling: app.stores)
        )
    }

    /// Returns our clock, or the date of the newest data that decides the answer if that is later.
    /// A slow clock must not hide verified data, and a clock that was set back must not hide what
    /// was bought or given before. The routes reject assertions far in the future.
    func instant(
        of record: CustomerRecord,
        now: Instant,
        atLatest latest: Instant = .distantFuture
    ) -> Instant {
        var instant = now
        func see(_ date: Instant) {
            if date <= latest { instant = max(instant, date) }
        }
        for lineageRecord in record.lineageRecords {
            for fact in lineageRecord.facts
            where fact.assertedAt > instant && fact.isDatedBySender { see(fact.assertedAt) }
            for owner in lineageRecord.owners where owner.decidedAt != nil { see(owner.from) }
        }
        for alias in record.identity.aliases { see(alias.from) }
        return instant
    }
}

extension Fact {
    /// Whether the date is that of a store, a relay, or an operator's decision. Data that we record
    /// by our own clock, such as a failed query, does not count: after a clock was ahead, it would
    /// keep the answer of that time.
    fileprivate var isDatedBySender: Bool {
        switch assertion {
        case .inquiry, .inferredOwner: false
        default: !isPresentation
        }
    }
}

extension CustomerRecord {
    /// Returns the record without the lineages settled by an instant, except the first by key,
    /// which represents the others.
    fileprivate func leavingOut(_ settled: [SettledLineage], by horizon: Instant) -> CustomerRecord
    {
        let old = settled.filter { $0.since <= horizon }.map(\.lineage)
        guard old.count > 1, let first = old.min() else { return self }
        let left = Set(old).subtracting([first])
        return CustomerRecord(
            customer: customer,
            aliases: identity.aliases,
            environment: environment,
            lineageRecords: lineageRecords.filter { !left.contains($0.lineage) },
            catalogue: catalogue,
            policy: policy,
            reconciledAt: reconciledAt,
            googlePlayPackage: googlePlayPackage,
            stores: stores
        )
    }
}

extension CustomerLineages {
    fileprivate func stores(selling: [Store]) -> CustomerStores {
        var stores = CustomerStores(selling: selling, presented: presented.instants)
        stores.accountOffers = presented.accountOffers
        return stores
    }

    /// Returns how the answer is presented: after the prompts shown before, and for a store if
    /// known.
    func presentation(in store: Store? = nil) -> Presentation {
        Presentation(after: prompts, store: store)
    }
}

extension CustomerHistory {
    /// Returns the access at an instant, with the messages planned from then on.
    fileprivate func snapshot(
        at instant: Instant,
        shown presentation: Presentation,
        _ plan: MessagePlan
    ) -> Snapshot {
        var snapshot = snapshot(at: instant, shown: presentation)
        snapshot.plan = plan.open(at: instant)
        return snapshot
    }
}

extension Derivation {
    /// Requests a derivation from all lineages.
    fileprivate static func needingAll(under fingerprint: String) -> Derivation {
        Derivation(answer: [], validUntil: nil, fingerprint: fingerprint, needsAll: true)
    }
}
