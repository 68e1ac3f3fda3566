import TideoverCore

/// The result of querying the store after its notifications stopped.
struct MissingNotificationFinding: Hashable {
    enum Word: String, CaseIterable, Hashable, Sendable {
        /// The store has content that never arrived, so its notifications are lost.
        case missed
        /// All content of the store was known.
        case nothing
        /// The store did not answer all queries, and its answers had nothing that never arrived.
        case unknown
    }

    let word: Word
    /// A readable sentence without ids and without text from the store.
    let sentence: String

    init(_ report: BackfillReport) {
        let sums = report.sums.values
        let news = sums.reduce(0) { $0 + $1.items - $1.known - $1.refused }
        let stop: BackfillStop? =
            if case .stopped(let stop) = report.outcome { stop } else { nil }
        if news > 0 {
            word = .missed
            sentence =
                "the store reported \(news) signed items that had not arrived, with "
                + "\(report.newFacts) new facts: its messages do not arrive here"
                + (stop.map { "; it did not answer everything: \($0.sentence)" } ?? "")
        } else if let stop {
            word = .unknown
            sentence =
                "the store did not answer everything: \(stop.sentence) "
                + "Everything that it answered was known."
        } else {
            word = .nothing
            sentence = "the store reports nothing new"
        }
    }
}
