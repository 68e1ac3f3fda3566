import TideoverCore

/// What asking the store found after its notifications had failed to come.
struct SilenceFinding: Hashable {
    enum Word: String, CaseIterable, Hashable, Sendable {
        /// The store has told of something that never arrived: its notifications go astray.
        case missed
        /// Everything it has to tell was known.
        case nothing
        /// It did not answer everything.
        case unknown
    }

    let word: Word
    /// For people; no id and nothing that the store wrote is in it.
    let sentence: String

    init(_ report: BackfillReport) {
        let sums = report.sums.values
        let news = sums.reduce(0) { $0 + $1.items - $1.known - $1.refused }
        let told = "\(news) signed things that had not arrived, with \(report.newFacts) new facts"
        if case .stopped(let stop) = report.outcome {
            word = .unknown
            sentence = "the store did not answer everything: \(stop.sentence) It told of \(told)."
        } else if news > 0 {
            word = .missed
            sentence = "the store told of \(told): what it sends does not get here"
        } else {
            word = .nothing
            sentence = "the store has nothing to tell that was not known"
        }
    }
}
