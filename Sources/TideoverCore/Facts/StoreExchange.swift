/// When a request was sent and answered.
public struct StoreExchange: Hashable, Sendable {
    /// When the request was sent, by our clock.
    public let askedAt: Instant
    /// When the response arrived or the request was abandoned, by our clock.
    public let answeredAt: Instant
    /// The date of the response, by the store's clock, in whole seconds; nil if there is none.
    public let dated: Instant?

    public init(askedAt: Instant, answeredAt: Instant, dated: Instant?) {
        self.askedAt = askedAt
        self.answeredAt = answeredAt
        self.dated = dated
    }

    /// The store's clock minus ours when the response arrived; positive if ours is behind. Accurate
    /// to a second plus the transfer time of the response.
    public var skew: Milliseconds? { dated.map { $0 - answeredAt } }

    /// When the request was sent, by the store's clock if known, otherwise by ours.
    public var inquiredAt: Instant {
        guard let dated else { return askedAt }
        return Inquiry.instant(asked: askedAt, answered: answeredAt, dated: dated)
    }

    /// Returns the fact that a lineage was queried, with the outcome. The evidence is the caller's
    /// record of the exchange.
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
