/// The assertion of one part of a message, without when and how it arrived.
package struct Statement: Hashable, Sendable {
    package let lineage: Lineage
    package let assertion: Assertion
    package let effectiveAt: Instant
    package let assertedAt: Instant

    /// Creates a statement that is true from an instant; by default from when it was asserted.
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

    /// Returns the fact, given when and how it reached the server.
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
