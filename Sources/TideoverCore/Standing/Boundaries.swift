extension LineageHistory {
    /// Returns every instant at which the answer may change, in no particular order.
    public func boundaries(policy: Policy) -> [Instant] {
        var found: [Instant] = []
        for record in terms + unseen { add(boundariesOf: record, policy, before: nil, to: &found) }
        addOtherBoundaries(policy: policy, to: &found)
        return found
    }

    /// Adds the boundaries without those of terms that no longer govern, in no particular order. An
    /// instant after a term's end matters only until another term counts. That is unknown for an
    /// upgrade that overtakes a renewal.
    func addChanges(policy: Policy, to found: inout [Instant]) {
        // A term without a failure has about as many, most of them at the same instant.
        found.reserveCapacity(found.count + 12 * terms.count)
        for (position, record) in terms.enumerated() {
            let next = position + 1 < terms.count ? terms[position + 1].effectiveStart : nil
            let end = record.end ?? .distantFuture
            let isOvertaking = terms[(position + 1)...].prefix { $0.term.start < end }
                .contains { record.overtakes($0) }
            let left = isOvertaking ? nil : next.map { max($0, end) }
            add(boundariesOf: record, policy, before: left, to: &found)
        }
        for record in unseen { add(boundariesOf: record, policy, before: nil, to: &found) }
        addOtherBoundaries(policy: policy, to: &found)
    }

    private func addOtherBoundaries(policy: Policy, to found: inout [Instant]) {
        if let play { found += play.boundaries(policy: policy, pace: pace) }
        for span in pending {
            found.append(span.since)
            if let until = span.until { found.append(until) }
        }
        found += inquiries.instants
        found += receipts
    }

    /// Adds the boundaries of a term. `left` is when the term stops governing, if known.
    private func add(
        boundariesOf record: TermRecord,
        _ policy: Policy,
        before left: Instant?,
        to found: inout [Instant]
    ) {
        func add(_ instant: Instant?) {
            if let instant, instant != found.last { found.append(instant) }
        }
        func add(ahead instant: Instant?) {
            guard let instant, left.map({ instant < $0 }) ?? true else { return }
            found.append(instant)
        }
        add(record.term.start)
        add(record.effectiveStart)
        add(record.firstTold)
        for instant in record.reversals { add(instant) }
        for instant in record.cleanSignings { add(instant) }
        for word in record.revocations {
            add(word.value.date)
            add(word.assertedAt)
        }
        for word in record.outlooks { add(word.assertedAt) }
        for word in record.conditions { add(word.assertedAt) }
        add(record.upgradedAt)
        add(record.end)
        for word in record.outlooks {
            add(ahead: word.value.graceEnd)
            let pause = pace.scale(RuleContext.pause)
            let unstated = word.value.lapse == .paused ? record.end.map { $0 + pause } : nil
            guard let resumed = word.value.resumesAt ?? unstated else { continue }
            add(ahead: resumed)
            add(ahead: resumed + pause)
        }
        guard let end = record.end else { return }
        if record.conditions.contains(where: { $0.value.saysGrace }) {
            add(ahead: end + pace.scale(.days(3)))
        }
        // No rule awaits or retries a renewal of anything else.
        guard record.term.plan == .autoRenewable else { return }
        let fifth = Milliseconds(max(0, (end - record.term.start).count / 5))
        add(ahead: end + min(pace.scale(policy.renewalLeeway), fifth))
        add(ahead: end + pace.scale(policy.unreachable))
        add(ahead: end + pace.scale(RuleContext.retry))
        guard case .keep(let length) = policy.billingRetry else { return }
        add(ahead: max(end, record.graceEnd ?? end) + pace.scale(length))
    }
}

extension PlayHistory {
    fileprivate func boundaries(policy: Policy, pace: Pace) -> [Instant] {
        let ofTokens = tokens.flatMap { token in
            [token.begun] + [token.retiredFrom].compactMap(\.self)
                + token.voids.flatMap { [$0.value.date, $0.assertedAt] }
        }
        let statements = tokens.flatMap(\.items).flatMap(\.statements)
        return ofTokens + periods.map(\.effectiveStart)
            + statements.flatMap { $0.boundaries(policy: policy, pace: pace) }
    }
}

extension PlayStatement {
    fileprivate func boundaries(policy: Policy, pace: Pace) -> [Instant] {
        let graceEnds =
            [
                expiry + pace.scale(PlayRuleContext.graceMargin),
                expiry + pace.scale(policy.unreachable),
                said + pace.scale(PlayRuleContext.unstatedGrace),
            ] + [graceUntil].compactMap(\.self)
        let holdStarts = graceEnds + [expiry, said] + [resumesAt, heldFrom].compactMap(\.self)
        return [from, expiry + pace.scale(PlayRuleContext.silentGrace)]
            + [failedFrom].compactMap(\.self) + holdStarts
            + holdStarts.map { $0 + pace.scale(PlayRuleContext.hold) }
    }
}
