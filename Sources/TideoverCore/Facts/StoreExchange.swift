/// When a question was asked and answered.
public struct StoreExchange: Hashable, Sendable {
    /// When we asked, by our clock.
    public let askedAt: Instant
    /// When the answer was there or given up, by our clock.
    public let answeredAt: Instant
    /// The date of the answer, by the store's clock, in whole seconds; nil where there is none.
    public let dated: Instant?

    public init(askedAt: Instant, answeredAt: Instant, dated: Instant?) {
        self.askedAt = askedAt
        self.answeredAt = answeredAt
        self.dated = dated
    }

    /// The store's clock less ours when the answer arrived: positive when ours is behind. Right to
    /// a second, and to what the answer took to arrive.
    public var skew: Milliseconds? { dated.map { $0 - answeredAt } }

    /// When the question was asked by the store's clock, where that is known, else by ours.
    public var inquiredAt: Instant {
        guard let dated else { return askedAt }
        return Inquiry.instant(asked: askedAt, answered: answeredAt, dated: dated)
    }

    /// That we asked about a lineage, and how it went; the evidence is what the caller keeps of it.
    public func fact(
        about lineage: Lineage,
        outcome: Inquiry.Outcome,
        source: Source,
        evidence: EvidenceID
    ) -> Fact {
        Fact(
            lineage: lineage,
            assertion: .inquiry(Inquiry(askedAt: askedAt, outcome: outcome)),
            effectiveAt: inquiredAt,
            assertedAt: inquiredAt,
            learnedAt: answeredAt,
            source: source,
            evidence: evidence
        )
    }
}
