package import TideoverCore

/// The facts in one response of the Play Developer API, or those presumed from one notification.
package struct PlayReading: Sendable {
    package let environment: Environment
    /// The store's values that this version does not know, without duplicates.
    package let unrecognised: [Unrecognised]
    private let statements: [Statement]
    private let rank: Rank
    private let source: Source

    init(_ environment: Environment, rank: Rank, source: Source, _ statements: [Statement]) {
        self.environment = environment
        self.statements = statements
        self.rank = rank
        self.source = source
        var words: [Unrecognised] = []
        for case .unrecognised(let word) in statements.map(\.assertion) where !words.contains(word)
        {
            words.append(word)
        }
        unrecognised = words
    }

    /// The lineages of its facts.
    package var lineages: Set<Lineage> { Set(statements.map(\.lineage)) }

    /// Returns the facts, with the time of arrival and the stored evidence.
    package func facts(learnedAt: Instant, evidence: EvidenceID) -> [Fact] {
        statements.map {
            $0.fact(learnedAt: learnedAt, rank: rank, source: source, evidence: evidence)
        }
    }
}
