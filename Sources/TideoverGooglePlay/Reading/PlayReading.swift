public import TideoverCore

/// What one answer of the Play Developer API states, or one bare notification.
public struct PlayReading: Sendable {
    public let environment: Environment
    /// The store's words that this version does not know, each once.
    public let unrecognised: [Unrecognised]
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

    /// The lineages that its facts speak of.
    public var lineages: Set<Lineage> { Set(statements.map(\.lineage)) }

    /// The facts it states, given when it reached us and the evidence it is kept as.
    public func facts(learnedAt: Instant, evidence: EvidenceID) -> [Fact] {
        statements.map {
            $0.fact(learnedAt: learnedAt, rank: rank, source: source, evidence: evidence)
        }
    }
}
