/// The revocations and reinstatements of each term, including terms that no longer govern.
struct Refunds {
    let steps: LineageSteps
    let evidenceIndex: EvidenceIndex

    private var history: LineageHistory { steps.history }

    /// The transitions. Products of one order that were revoked at once cause only one.
    var transitions: [Transition] {
        var told: [Transition] = []
        var places: [String: Int] = [:]
        for transition in steps.terms.flatMap(transitions) {
            if let place = places[transition.id] {
                told[place].add(transition)
            } else {
                places[transition.id] = told.count
                told.append(transition)
            }
        }
        return told
    }

    private func transitions(of record: TermRecord) -> [Transition] {
        var found: [Transition] = []
        var isTaken = false
        for instant in record.turningPoints {
            let taken = record.takenBack(at: instant, pace: history.pace)
            guard (taken != nil) != isTaken, let step = steps.step(at: instant) else { continue }
            isTaken = taken != nil
            found.append(
                taken.map { taking(of: record, $0.cause, at: step, instant) }
                    ?? givingBack(of: record, after: found.last, at: step, instant)
            )
        }
        if steps.lineage.store == .googlePlay { addFormerIDs(to: &found, of: record) }
        return found
    }

    /// Adds the IDs by the other dates of each revocation: a read dates it by when it was asked,
    /// a notification and the list of voided orders by when the store voided the order.
    private func addFormerIDs(to found: inout [Transition], of record: TermRecord) {
        let dates = Set(record.revocations.flatMap { [$0.value.date, $0.assertedAt] }).sorted()
        let anchor = evidenceIndex.anchor(of: record)
        // They alternate: each reversal follows what it reverses.
        for position in found.indices {
            let taking = position.isMultiple(of: 2) ? position : position - 1
            let since = found[taking].at
            let end = taking + 1 < found.count ? found[taking + 1].at : .distantFuture
            found[position].formerIDs = dates.filter { since < $0 && $0 < end }.map { date in
                let kind = found[position].kind.rawValue
                return StableDigest.text(
                    of: steps.lineage,
                    kind,
                    Self.anchor(anchor, revokedAt: date)
                )
            }
        }
    }

    private static func anchor(_ term: String, revokedAt date: Instant) -> String {
        "\(term) \(date.millisecondsSince1970)"
    }

    private func taking(
        of record: TermRecord,
        _ cause: Revocation.Cause?,
        at step: Step,
        _ instant: Instant
    ) -> Transition {
        var taking = transition(
            cause.isRefund ? .refunded : .revoked,
            Self.anchor(evidenceIndex.anchor(of: record), revokedAt: instant),
            of: record,
            at: step,
            instant,
            evidenceIndex.revocation(of: record, since: instant)
        )
        let revocation = record.revocation(at: instant, pace: history.pace)
        taking.money = taking.money?.part(revocation?.percentage)
        let governs = step.phase == .ended && step.term?.key == record.key
        taking.keepArtifactsUntil = governs ? history.naturalEnd(of: record, after: instant) : nil
        return taking
    }

    private func givingBack(
        of record: TermRecord,
        after taking: Transition?,
        at step: Step,
        _ instant: Instant
    ) -> Transition {
        let since = taking?.at ?? instant
        var giving = transition(
            taking?.kind == .refunded ? .refundReversed : .reinstated,
            Self.anchor(evidenceIndex.anchor(of: record), revokedAt: since),
            of: record,
            at: step,
            instant,
            evidenceIndex.undoing(of: record, at: instant)
        )
        giving.money = taking?.money
        giving.duration = instant - since
        return giving
    }

    private func transition(
        _ kind: Transition.Kind,
        _ anchor: String,
        of record: TermRecord,
        at step: Step,
        _ instant: Instant,
        _ proof: Proof
    ) -> Transition {
        var transition = Transition(
            kind,
            of: steps,
            anchor: anchor,
            at: instant,
            step: step,
            entitlements: record.entitlement.map { [$0] }
                ?? steps.entitlements(of: record.term.productId, at: instant),
            proof: proof
        )
        transition.productId = record.entitlement == nil ? record.term.productId : nil
        transition.storefront = record.term.storefront
        transition.money = steps.lineage.ownership == .purchased ? record.term.price : nil
        return transition
    }
}

extension Transition {
    fileprivate mutating func add(_ other: Transition) {
        entitlements += other.entitlements.filter { !entitlements.contains($0) }
        guard let own = money, let more = other.money, own.currency == more.currency else { return }
        let (sum, overflow) = own.milliunits.addingReportingOverflow(more.milliunits)
        if !overflow { money?.milliunits = sum }
    }
}

extension TermRecord {
    /// Every instant at which it may be revoked or reinstated, oldest first.
    fileprivate var turningPoints: [Instant] {
        let said = conditions.filter { $0.value.status == .revoked }.map(\.assertedAt)
        let taken = revocations.map(\.value.date) + said
        guard !taken.isEmpty else { return [] }
        return Set(taken + reversals + cleanSignings).sorted()
    }
}

extension Revocation.Cause? {
    /// Whether money was refunded.
    fileprivate var isRefund: Bool {
        switch self {
        case .refund, .proratedRefund: true
        case .familyAccessRemoved, .assignmentRemoved, .withdrawn, .unrecognised, nil: false
        }
    }
}

extension Money {
    /// Returns the part for a percentage in thousandths; the whole amount if none is stated.
    fileprivate func part(_ percentage: Int64?) -> Money {
        guard let percentage, (0...100_000).contains(percentage) else { return self }
        let product = milliunits.multipliedFullWidth(by: percentage)
        let whole = Int64(100_000).dividingFullWidth(product).quotient
        return Money(milliunits: whole, currency: currency)
    }
}
