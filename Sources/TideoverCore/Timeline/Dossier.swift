/// What something was read from, and when we first knew it.
struct Proof: Hashable, Sendable {
    /// In the order of digests, each once.
    let evidence: [EvidenceID]
    let learnedAt: Instant

    init(_ evidence: [EvidenceID], learnedAt: Instant) {
        self.evidence = evidence.count > 1 ? Set(evidence).sorted() : evidence
        self.learnedAt = learnedAt
    }
}

/// Where each word about a lineage came from, and when we first heard it.
struct Dossier: Sendable {
    private let names: TermNames
    private let learned: [EvidenceID: Instant]
    private let terms: [TermKey: [Word<Term>]]
    private let reversals: [TermKey: [Word<Reversal>]]
    /// Whatever was said at an instant; only where terms are told of by something else than words on
    /// them, such as grants.
    private let said: [Instant: [EvidenceID]]

    init(_ facts: [Fact]) {
        var terms: [Word<Term>] = []
        var reversals: [Word<Reversal>] = []
        var learned: [EvidenceID: Instant] = [:]
        var isToldOtherwise = false
        for fact in facts {
            let known = learned[fact.evidence] ?? fact.learnedAt
            learned[fact.evidence] = min(known, fact.learnedAt)
            switch fact.assertion {
            case .term(let term): terms.append(Word(term, of: fact))
            case .reversal(let reversal): reversals.append(Word(reversal, of: fact))
            case .grant, .playSubscription, .playPurchase, .playNotice: isToldOtherwise = true
            case .outlook, .condition, .revocation, .inquiry, .pending, .playVoidedOrder,
                .playReplacement, .unrecognised:
                break
            }
        }
        let names = TermNames(terms.map(\.value))
        self.names = names
        self.learned = learned
        said =
            isToldOtherwise
            ? Dictionary(grouping: facts, by: \.assertedAt).mapValues { $0.map(\.evidence) } : [:]
        self.terms = Dictionary(grouping: terms) { names.key(of: $0.value) }
        self.reversals = Dictionary(grouping: reversals) { names.key($0.value.term) }
    }

    // MARK: Names

    /// What names a term in ids: its first transaction, which a relay knows as the store does.
    func anchor(of record: TermRecord) -> String {
        guard !record.isUnseen else { return endAnchor(of: record) }
        let first = terms[record.key, default: []].map(\.value.transactionId).min {
            ($0.utf8.count, $0) < ($1.utf8.count, $1)
        }
        return "term \(first ?? record.term.transactionId)"
    }

    /// What names a term in ids of what befalls it at its end: the end, which is known before the
    /// term is seen.
    func endAnchor(of record: TermRecord) -> String {
        record.end.map { "end \($0.millisecondsSince1970)" } ?? anchor(of: record)
    }

    // MARK: Proofs

    /// That a term was entered: its first word. Any word on it will have told us.
    func entry(into record: TermRecord) -> Proof {
        if !record.isUnseen, let words = terms[record.key], let first = words.min(by: Word.isOlder)
        {
            return Proof([first.evidence], learnedAt: earliest(words.map(\.evidence)))
        }
        if let first = record.outlooks.first { return proof([first.evidence]) }
        return proof(said[record.firstAsserted] ?? [])
    }

    /// That its renewal failed.
    func failure(of record: TermRecord) -> Proof {
        let outlooks = record.outlooks.filter { $0.value.isFailing(termEnd: record.end) }
        let conditions = record.conditions.filter(\.value.isFailing)
        let first = record.firstFailure
        return Proof(
            outlooks.filter { $0.assertedAt == first }.map(\.evidence)
                + conditions.filter { $0.assertedAt == first }.map(\.evidence),
            learnedAt: earliest((outlooks.map(\.evidence) + conditions.map(\.evidence)))
        )
    }

    /// That its grace ends when it does.
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

    /// What the store had last said of it by an instant; its first word where that is all.
    func lastWords(on record: TermRecord, by instant: Instant) -> Proof {
        let said = [
            record.outlooks.newest(by: instant)?.evidence,
            record.conditions.newest(by: instant)?.evidence,
        ].compactMap(\.self)
        return said.isEmpty ? entry(into: record) : proof(said)
    }

    /// That receipts made at an instant list no renewal.
    func receipt(madeAt instant: Instant) -> Proof {
        let listed = terms.values.joined().filter { $0.assertedAt == instant }
        return Proof(listed.map(\.evidence), learnedAt: earliest(listed.map(\.evidence)))
    }

    /// What the newest outlook on it said by an instant.
    func outlook(on record: TermRecord, by instant: Instant) -> Proof {
        record.outlooks.newest(by: instant).map { proof([$0.evidence]) } ?? entry(into: record)
    }

    /// That it was taken back at an instant.
    func revocation(of record: TermRecord, since instant: Instant) -> Proof {
        let dated = record.revocations.filter { $0.value.date == instant }
        guard let first = dated.first else { return lastWords(on: record, by: instant) }
        return Proof([first.evidence], learnedAt: earliest(dated.map(\.evidence)))
    }

    /// That it was given back at an instant: by a reversal, or a signing without the revocation.
    func undoing(of record: TermRecord, at instant: Instant) -> Proof {
        let reversed = reversals[record.key, default: []].filter { $0.assertedAt == instant }
        let signed = terms[record.key, default: []].filter {
            $0.assertedAt == instant && !$0.value.isRevoked
        }
        let evidence = reversed.isEmpty ? signed.map(\.evidence) : reversed.map(\.evidence)
        return Proof(evidence.min().map { [$0] } ?? [], learnedAt: earliest(evidence))
    }

    private func proof(_ evidence: [EvidenceID]) -> Proof {
        Proof(
            evidence,
            learnedAt: evidence.compactMap { learned[$0] }.max() ?? .distantPast
        )
    }

    private func earliest(_ evidence: [EvidenceID]) -> Instant {
        evidence.compactMap { learned[$0] }.min() ?? .distantPast
    }
}
