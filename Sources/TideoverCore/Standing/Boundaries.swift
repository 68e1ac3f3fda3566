extension LineageHistory {
    /// Every instant at which the answer may change, in no order.
    public func boundaries(policy: Policy) -> [Instant] {
        (terms + unseen).flatMap { boundaries(of: $0, policy: policy) }
            + (play?.boundaries(policy: policy, pace: pace) ?? [])
            + pending.flatMap { [$0.since, $0.until].compactMap(\.self) } + inquiries.instants
    }

    private func boundaries(of record: TermRecord, policy: Policy) -> [Instant] {
        var found = [record.term.start, record.effectiveStart, record.firstTold]
        found += record.reversals + record.cleanSignings
        found += record.revocations.flatMap { [$0.value.date, $0.assertedAt] }
        found += record.outlooks.flatMap { word in
            [word.assertedAt] + [word.value.graceEnd].compactMap(\.self)
        }
        found += record.conditions.map(\.assertedAt)
        found += [record.upgradedAt].compactMap(\.self)
        guard let end = record.end else { return found }
        let leeway = min(
            pace.scale(policy.renewalLeeway),
            Milliseconds(max(0, (end - record.term.start).count / 5))
        )
        found += [
            end, end + leeway, end + pace.scale(policy.unreachable), end + pace.scale(.days(3)),
            end + pace.scale(Situation.retry),
        ]
        if case .keep(let length) = policy.billingRetry {
            found.append(max(end, record.graceEnd ?? end) + pace.scale(length))
        }
        return found
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
                expiry + pace.scale(PlaySituation.graceMargin),
                expiry + pace.scale(policy.unreachable),
                said + pace.scale(PlaySituation.unstatedGrace),
            ] + [graceUntil].compactMap(\.self)
        let holdStarts = graceEnds + [expiry, said] + [resumesAt].compactMap(\.self)
        return [from, expiry + pace.scale(PlaySituation.silentGrace)]
            + [failedFrom].compactMap(\.self) + holdStarts
            + holdStarts.map { $0 + pace.scale(PlaySituation.hold) }
    }
}
