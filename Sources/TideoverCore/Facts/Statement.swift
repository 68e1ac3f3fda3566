/// What one part of a message asserts, before it is known when and how we heard.
package struct Statement: Hashable, Sendable {
    package let lineage: Lineage
    package let assertion: Assertion
    package let effectiveAt: Instant
    package let assertedAt: Instant

    /// Something true from an instant; from when it was said if none is given.
    package init(
        _ lineage: Lineage,
        _ assertion: Assertion,
        from effectiveAt: Instant? = nil,
        at assertedAt: Instant
    ) {
        self.lineage = lineage
        self.assertion = assertion
        self.effectiveAt = effectiveAt ?? assertedAt
        self.assertedAt = assertedAt
    }

    /// The fact, given when and how it reached us.
    package func fact(
        envelopeSignedAt: Instant? = nil,
        learnedAt: Instant,
        rank: Rank = .store,
        source: Source,
        evidence: EvidenceID
    ) -> Fact {
        Fact(
            lineage: lineage,
            assertion: assertion,
            effectiveAt: effectiveAt,
            assertedAt: assertedAt,
            envelopeSignedAt: envelopeSignedAt,
            learnedAt: learnedAt,
            rank: rank,
            source: source,
            evidence: evidence
        )
    }
}
