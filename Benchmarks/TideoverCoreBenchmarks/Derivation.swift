import TideoverCore
import TideoverJSON
import TideoverLives

/// A customer of 12 facts over three months, with a failed payment, a recovery in grace and a
/// cancellation. The cancellation is new.
struct Derivation {
    private let record: CustomerRecord
    /// The IDs of the events sent before the cancellation.
    private let sent: [String]
    private let now: Instant
    private let forms: [[UInt8]]

    init() {
        let life = Subscriptions.customer
        let former = Self.record(of: life, facts: Array(life.facts.dropLast()))
        record = Self.record(of: life, facts: life.facts)
        now = life.facts.map(\.assertedAt).max() ?? .distantPast
        let timeline = CustomerTimeline(former, until: now - Milliseconds(1))
        sent = timeline.news(since: [String]()).unsent.map(\.id)
        forms = life.facts.map { fact in
            var writer = JSONWriter()
            fact.write(to: &writer)
            return writer.bytes
        }
    }

    private static func record(of life: Life, facts: [Fact]) -> CustomerRecord {
        guard let customer = CustomerID("6f9619ff-8b86-d011-b42d-00c04fc964ff") else {
            preconditionFailure("the ID of the customer is valid")
        }
        let owner = OwnershipEntry(
            lineage: life.lineage,
            customer: customer,
            from: .distantPast,
            why: .accountToken
        )
        return CustomerRecord(
            customer: customer,
            environment: life.lineage.environment,
            lineageRecords: [
                CustomerRecord.LineageRecord(lineage: life.lineage, facts: facts, owners: [owner])
            ],
            catalogue: Versioned(life.catalogue),
            policy: Versioned(life.policy)
        )
    }

    /// Runs the core's part of a commit: from facts to the stored answer and the events.
    /// Returns their number of bytes.
    func answerAndEvents() -> Int {
        precondition(record.settledPurchases.isEmpty, "subscriptions are never settled")
        let history = record.history
        let timeline = CustomerTimeline(record, history, until: now)
        let plan = timeline.plan()
        let news = timeline.news(since: sent, of: plan)
        var snapshot = history.snapshot(at: now)
        snapshot.plan = plan.open(at: now)
        precondition(news.corrected.isEmpty && news.unsent.count == 1, "one event is new")
        let events = news.unsent.map { happening in
            var writer = JSONWriter()
            writer.object { happening.writeFields(to: &$0) }
            return writer.bytes.count
        }
        var writer = JSONWriter()
        writer.object { snapshot.writeAnswer(to: &$0) }
        precondition(snapshot.validUntil != nil, "a cancelled subscription ends")
        return events.reduce(writer.bytes.count, +)
    }

    /// Reads the stored facts, the lineage once. Returns their number.
    func read() -> Int {
        var lineage: (end: Int, value: Lineage)?
        let facts = forms.map { form in
            let fact = WrittenJSON.read(form, from: lineage?.end ?? 0) {
                json throws(WrittenJSON.Mismatch) in
                guard let lineage else {
                    try json.beginObject()
                    let read: Lineage = try json.required("lineage", nil)
                    lineage = (json.offset, read)
                    return try Fact(written: &json, of: read)
                }
                return try Fact(written: &json, of: lineage.value)
            }
            guard let fact else { preconditionFailure("a written form is read again") }
            return fact
        }
        return facts.count
    }
}
