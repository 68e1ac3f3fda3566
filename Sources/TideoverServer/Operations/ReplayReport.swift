import TideoverCore
import TideoverJSON
import TideoverStorage

/// The result of reading the stored evidence with the current rules, compared with the stored facts
/// and answers.
struct ReplayReport: Sendable {
    /// The maximum number of items listed; all are counted.
    static let mostNamed = 100

    /// The summary of a fact.
    struct Named: Hashable, Sendable {
        let evidence: EvidenceID
        let word: String
        let assertedAt: Instant
    }

    /// A changed answer for one entitlement.
    struct Change: Hashable, Sendable {
        let customer: CustomerID
        let entitlement: String
        /// `state reason confidence`; nil if there was no answer before.
        let from: String?
        let to: String
        let cause: Cause
    }

    /// The cause of a changed answer.
    enum Cause: String, Hashable, Sendable {
        /// Facts that the replay adds.
        case evidence
        /// The rules of this version of the program.
        case rules
        /// A catalogue or policy that took effect since.
        case configuration
    }

    /// The number of items, and the first of them.
    struct Listed<Item: Sendable>: Sendable {
        private(set) var count = 0
        private(set) var first: [Item] = []

        mutating func add(_ item: Item) {
            count += 1
            if first.count < ReplayReport.mostNamed { first.append(item) }
        }
    }

    enum Outcome: Hashable, Sendable {
        case running, completed
        case stopped(Stop)
    }

    /// The reason a run did not complete.
    struct Stop: Hashable, Sendable {
        /// A stable code, such as `storage`.
        let code: String
        /// A sentence for readers.
        let sentence: String
    }

    let app: String
    let environment: Environment
    /// Whether the run stores new facts.
    let applies: Bool
    let startedAt: Instant
    /// Whether the run resumed at the place where an earlier server stopped. Evidence read by that
    /// server is not counted.
    let isResumed: Bool
    var endedAt: Instant?
    var outcome = Outcome.running
    /// The number of pieces of evidence read.
    var evidence = 0
    /// The number of facts in the evidence.
    var facts = 0
    /// The number of pieces that are no longer trusted or understood, by code.
    var unreadable: [String: Int] = [:]
    /// Facts in the evidence that are not stored.
    var added = Listed<Named>()
    /// Stored facts that are no longer in any evidence. They are kept. A resumed run cannot find
    /// them.
    var unread = Listed<Named>()
    var changed = Listed<Change>()

    init(
        app: String,
        environment: Environment,
        applies: Bool,
        startedAt: Instant,
        isResumed: Bool = false
    ) {
        self.app = app
        self.environment = environment
        self.applies = applies
        self.startedAt = startedAt
        self.isResumed = isResumed
    }

    /// Whether all new facts are stored.
    var isApplied: Bool { applies && outcome == .completed }
}

extension ReplayReport.Named {
    init(_ fact: Fact) {
        self.init(evidence: fact.evidence, word: fact.assertion.word, assertedAt: fact.assertedAt)
    }
}

// MARK: - JSON

extension ReplayReport {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("app", app)
            writer.field("environment", environment.rawValue)
            writer.field("status", outcome.word)
            writer.field("startedAt", startedAt.rfc3339)
            writer.field("endedAt", endedAt?.rfc3339)
            writer.key("stopped")
            if case .stopped(let stop) = outcome { stop.write(to: &writer) } else { writer.null() }
            writer.field("apply", applies)
            writer.field("resumed", isResumed)
            writer.field("evidence", evidence)
            writer.field("facts", facts)
            writer.field(
                "unreadable",
                object: { writer in
                    for (code, count) in unreadable.sorted(by: { $0.key < $1.key }) {
                        writer.field(code, count)
                    }
                }
            )
            writer.field("added", object: { added.write(to: &$0) { $0.write(to: &$1) } })
            writer.key("unread")
            if isResumed {
                writer.null()
            } else {
                writer.object { unread.write(to: &$0) { $0.write(to: &$1) } }
            }
            writer.field("changed", object: { changed.write(to: &$0) { $0.write(to: &$1) } })
            writer.field("applied", isApplied)
        }
    }
}

extension ReplayReport.Outcome {
    fileprivate var word: String {
        switch self {
        case .running: "running"
        case .completed: "completed"
        case .stopped: "stopped"
        }
    }
}

extension ReplayReport.Stop {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("code", code)
            writer.field("detail", sentence)
        }
    }
}

extension ReplayReport.Listed {
    fileprivate func write(
        to writer: inout JSONWriter,
        _ item: (Item, inout JSONWriter) -> Void
    ) {
        writer.field("count", count)
        writer.field("first", array: { writer in for one in first { item(one, &writer) } })
    }
}

extension ReplayReport.Named {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("evidence", evidence.hex)
            writer.field("kind", word)
            writer.field("assertedAt", assertedAt.rfc3339)
        }
    }
}

extension ReplayReport.Change {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("customer", customer.text)
            writer.field("entitlement", entitlement)
            writer.field("from", from)
            writer.field("to", to)
            writer.field("cause", cause.rawValue)
        }
    }
}
