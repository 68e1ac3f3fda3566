/// The evidence of an event, with when the server first learned it.
struct Proof: Hashable, Sendable {
    /// Ordered by digest, each once.
    let evidence: [EvidenceID]
    let learnedAt: Instant

    init(_ evidence: [EvidenceID], learnedAt: Instant) {
        let inOrder = evidence.count > 1 ? evidence.sorted() : evidence
        let isOnce = zip(inOrder, inOrder.dropFirst()).allSatisfy { $0 != $1 }
        self.evidence = isOnce ? inOrder : Set(evidence).sorted()
        self.learnedAt = learnedAt
    }
}

/// The source of each observation of a lineage, with when it first arrived.
struct EvidenceIndex: Sendable {
    private let history: LineageHistory
    private let learned: [EvidenceID: Instant]
    /// The observations by term; nil if each term of the history has its own, as most have.
    private let collected: CollectedEvidence?

    /// Creates the index of a history's facts.
    init(_ history: LineageHistory, _ facts: [Fact]) {
        // Most messages have several facts.
        var learned = [EvidenceID: Instant](minimumCapacity: facts.count / 2 + 1)
        var needsCollection = false
        for position in facts.indices {
            if position == 0 || !facts[position].isFrom(sameEvidenceAs: facts[position - 1]) {
                let at = facts[position].learnedAt
                Self.reduce(&learned[facts[position].evidence, default: at], to: at)
            }
            switch facts[position].assertion {
            case .reversal, .grant, .playSubscription, .playPurchase, .playNotice:
                needsCollection = true
            case .term, .outlook, .condition, .revocation, .move, .inferredOwner, .inquiry,
                .pending, .playVoidedOrder, .playReplacement, .unrecognised:
                break
            }
        }
        self.history = history
        self.learned = learned
        collected = needsCollection ? CollectedEvidence(facts) : nil
    }

    private static func reduce(_ instant: inout Instant, to other: Instant) {
        instant = min(instant, other)
    }

    /// Returns the observations of a term itself, without those derived from grants and from
    /// purchases on Google Play.
    private func words(on record: TermRecord) -> [Observation<Term>] {
        guard let collected else { return record.words }
        return collected.terms[record.key, default: []]
    }

    // MARK: Names

    /// Returns the part of event IDs that identifies a term: its first transaction. A relay and the
    /// store know it by the same ID.
    func anchor(of record: TermRecord) -> String {
        guard !record.isUnseen else { return endAnchor(of: record) }
        let first = words(on: record).lazy.map { $0.value.transactionId }.min {
            ($0.utf8.count, $0) < ($1.utf8.count, $1)
        }
        return "term " + (first ?? record.term.transactionId)
    }

    /// Returns the part of event IDs that identifies events at a term's end. It is the end, which
    /// is known before the term is seen. Products of one purchase may end at the same instant.
    func endAnchor(of record: TermRecord) -> String {
        guard history.bundle.isEmpty || record.isUnseen else { return anchor(of: record) }
        return record.end.map { "end " + String($0.millisecondsSince1970) } ?? anchor(of: record)
    }

    // MARK: Proofs

    /// Returns proof that a term was entered: its first observation. Any observation of it is
    /// sufficient for when it was learned.
    func entry(into record: TermRecord) -> Proof {
        let words = record.isUnseen ? [] : words(on: record)
        if let first = words.min(by: Observation.isOlder) {
            return Proof([first.evidence], learnedAt: earliest(words.lazy.map { $0.evidence }))
        }
        if let first = record.outlooks.first { return proof([first.evidence]) }
        return proof(collected?.said[record.firstAsserted] ?? [])
    }

    /// Returns proof that its renewal failed.
    func failure(of record: TermRecord) -> Proof {
        var reports: [(evidence: EvidenceID, assertedAt: Instant)] = []
        for word in record.outlooks where word.value.isFailing(termEnd: record.end) {
            reports.append((word.evidence, word.assertedAt))
        }
        for word in record.conditions where word.value.isFailing {
            reports.append((word.evidence, word.assertedAt))
        }
        let first = record.firstFailure
        return Proof(
            reports.filter { $0.assertedAt == first }.map(\.evidence),
            learnedAt: earliest(reports.lazy.map(\.evidence))
        )
    }

    /// Returns proof of the end of its grace.
    func grace(of record: TermRecord) -> Proof {
        let stating = record.outlooks.filter {
            $0.value.graceEnd != nil && $0.value.graceEnd == record.graceEnd
        }
        guard !stating.isEmpty else { return failure(of: record) }
        return Proof(
            stating.prefix(1).map(\.evidence),
            learnedAt: earliest(stating.map(\.evidence))
        )
    }

    /// Returns the store's last report by an instant; the first report if there is no other.
    func lastWords(on record: TermRecord, by instant: Instant) -> Proof {
        let said = [
            record.outlooks.newest(by: instant)?.evidence,
            record.conditions.newest(by: instant)?.evidence,
        ].compactMap(\.self)
        return said.isEmpty ? entry(into: record) : proof(said)
    }

    /// Returns proof that receipts made at an instant list no renewal.
    func receipt(madeAt instant: Instant) -> Proof {
        let words =
            collected.map { Array($0.terms.values.joined()) } ?? history.terms.flatMap(\.words)
        let listed = words.filter { $0.assertedAt == instant }
        return Proof(listed.map(\.evidence), learnedAt: earliest(listed.map(\.evidence)))
    }

    /// Returns its newest outlook by an instant.
    func outlook(on record: TermRecord, by instant: Instant) -> Proof {
        record.outlooks.newest(by: instant).map { proof([$0.evidence]) } ?? entry(into: record)
    }

    /// Returns proof that it was revoked at an instant.
    func revocation(of record: TermRecord, since instant: Instant) -> Proof {
        let dated = record.revocations.filter { $0.value.date == instant }
        guard let first = dated.first else { return lastWords(on: record, by: instant) }
        return Proof([first.evidence], learnedAt: earliest(dated.map(\.evidence)))
    }

    /// Returns proof that it was reinstated at an instant: by a reversal, or by a signing without
    /// the revocation.
    func undoing(of record: TermRecord, at instant: Instant) -> Proof {
        let reversals = collected?.reversals[record.key] ?? []
        let reversed = reversals.filter { $0.assertedAt == instant }
        let signed = words(on: record).filter {
            $0.assertedAt == instant && !$0.value.isRevoked
        }
        let evidence = reversed.isEmpty ? signed.map(\.evidence) : reversed.map(\.evidence)
        guard !evidence.isEmpty else { return proof(collected?.said[instant] ?? []) }
        return Proof(evidence.min().map { [$0] } ?? [], learnedAt: earliest(evidence))
    }

    private func proof(_ evidence: [EvidenceID]) -> Proof {
        Proof(
            evidence,
            learnedAt: evidence.compactMap { learned[$0] }.max() ?? .distantPast
        )
    }

    private func earliest(_ evidence: some Sequence<EvidenceID>) -> Instant {
        evidence.lazy.compactMap { learned[$0] }.min() ?? .distantPast
    }
}

/// The observations by term of a lineage with reversals, or with terms that are derived from other
/// facts: from grants, and from the reads and notifications of Google Play.
private struct CollectedEvidence: Sendable {
    let terms: [TermKey: [Observation<Term>]]
    let reversals: [TermKey: [Observation<Reversal>]]
    /// The evidence asserted at each instant. Used only for terms without observations of their
    /// own, such as grants.
    let said: [Instant: [EvidenceID]]

    init(_ facts: [Fact]) {
        var terms: [Observation<Term>] = []
        var reversals: [Observation<Reversal>] = []
        for fact in facts {
            switch fact.assertion {
            case .term(let term): terms.append(Observation(term, of: fact))
            case .reversal(let reversal): reversals.append(Observation(reversal, of: fact))
            default: break
            }
        }
        let names = TermNames(terms.map(\.value))
        self.terms = Dictionary(grouping: terms) { names.key(of: $0.value) }
        self.reversals = Dictionary(grouping: reversals) { names.key($0.value.term) }
        said = Dictionary(grouping: facts, by: \.assertedAt).mapValues { $0.map(\.evidence) }
    }
}

extension Fact {
    /// Whether another fact has the same evidence, and was not learned later.
    fileprivate func isFrom(sameEvidenceAs other: Fact) -> Bool {
        other.learnedAt <= learnedAt && evidence == other.evidence
    }
}
