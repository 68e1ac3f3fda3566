import TideoverCore
import TideoverJSON
import TideoverStorage

/// What today's reading rules make of the evidence that is stored, beside what was made of it before.
struct ReplayReport: Sendable {
    /// How many of each list are named; all are counted.
    static let mostNamed = 100

    /// A fact in a few words.
    struct Named: Hashable, Sendable {
        let evidence: EvidenceID
        let word: String
        let assertedAt: Instant
    }

    /// An answer that differs, by entitlement.
    struct Change: Hashable, Sendable {
        let customer: CustomerID
        let entitlement: String
        /// `state reason confidence`; nil where nothing was answered before.
        let from: String?
        let to: String
        let cause: Cause
    }

    /// Why an answer differs.
    enum Cause: String, Hashable, Sendable {
        /// Facts that are stored only now.
        case evidence
        /// The rules of this version of the program.
        case rules
        /// A catalogue or policy that took effect since.
        case configuration
    }

    /// How many of a kind there are, and the first of them.
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

    /// Why a run did not come to its end.
    struct Stop: Hashable, Sendable {
        /// One word that never changes, such as `storage`.
        let code: String
        /// For people.
        let sentence: String
    }

    let app: String
    let environment: Environment
    /// Whether what is new is added.
    let applies: Bool
    let startedAt: Instant
    /// Whether it went on where a server before had come to: what that read is not counted.
    let isResumed: Bool
    var endedAt: Instant?
    var outcome = Outcome.running
    /// Pieces of evidence that were read.
    var evidence = 0
    /// Facts that they state.
    var facts = 0
    /// Pieces that are not believed or not understood any more, by code.
    var unreadable: [String: Int] = [:]
    /// Facts that the evidence states and that are not stored.
    var added = Listed<Named>()
    /// Facts that are stored and that no evidence states any more. They stay. A resumed run cannot tell.
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

    /// Whether everything that is new has been added.
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
