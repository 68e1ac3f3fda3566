import TideoverSQLite

/// The data that a backfill leaves, and the answers from it.
struct BackfillTraces {
    /// The names of the stored notifications.
    let notifications: [String]
    /// The facts of these notifications, by lineage.
    let facts: [String]
    /// The facts of other sources. Data that is requested again after a kill has a new signature,
    /// and becomes another fact with equal content.
    let otherFacts: Set<String>
    /// The events about each customer that were not corrected, without the counters of
    /// repeated ones. Expected changes may be among them, because the messages of a page are
    /// processed in random order.
    let told: [String]
    /// The transitions of the timelines.
    let happened: Set<String>
    /// The number of events without a name, or with the name of an earlier event.
    let nameless: Int
    /// By customer: the answer, the prompt, the timeline.
    let answers: [String: [String]]

    init(_ audit: Audit, _ answers: [String: [String]], _ happened: Set<String>) throws {
        self.answers = answers
        self.happened = happened
        notifications = try audit.notifications()
        facts = try audit.factsOfNotifications()
        otherFacts = try audit.otherFacts()
        let named = try audit.told()
        nameless = try audit.happeningCount() - named.count
        told = Self.holding(named)
    }

    /// Returns the events without corrections and the events that they correct.
    private static func holding(_ told: [(customer: String, name: String)]) -> [String] {
        let mark = "-corrected"
        let known = Set(told.map { "\($0.customer) \($0.name)" })
        return told.compactMap { customer, name in
            guard !name.hasSuffix(mark), !known.contains("\(customer) \(name)\(mark)") else {
                return nil
            }
            return "\(customer) \(name.prefix { $0 != "-" })"
        }
    }

    /// Returns the missing and the repeated entries, compared with those of an undisturbed run.
    func difference(from peace: Self) -> (lost: [String], doubled: [String], wrong: [String]) {
        var (lost, doubled): ([String], [String]) = ([], [])
        for (mine, whole) in [
            (notifications, peace.notifications), (facts, peace.facts),
            (Array(otherFacts), Array(peace.otherFacts)),
        ] {
            let (mine, whole) = (Self.counts(mine), Self.counts(whole))
            lost += whole.filter { mine[$0.key] ?? 0 < $0.value }.map(\.key)
            doubled += mine.filter { whole[$0.key] ?? 0 < $0.value }.map(\.key)
        }
        let told = Self.counts(self.told)
        lost += happened.filter { told[$0] == nil }
        doubled += told.filter { $0.value > 1 }.map(\.key)
        doubled += Array(repeating: "an event without a name of its own", count: max(0, nameless))
        let wrong = peace.answers.flatMap { customer, parts in
            zip(answers[customer] ?? [], parts).filter { $0 != $1 }.map {
                "\(customer) is answered \(Self.end(of: $0, unlike: $1))"
            }
        }
        return (lost, doubled, wrong)
    }

    /// Returns a short part of a text from its first difference to another, and the same part of
    /// the other.
    private static func end(of text: String, unlike other: String) -> String {
        let same = zip(text.utf8, other.utf8).prefix { $0 == $1 }.count
        func part(_ text: String) -> String {
            String(decoding: text.utf8.dropFirst(max(0, same - 60)).prefix(160), as: UTF8.self)
        }
        return "...\(part(text)) and not ...\(part(other))"
    }

    private static func counts(_ items: [String]) -> [String: Int] {
        items.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
}

extension Audit {
    fileprivate func notifications() throws -> [String] {
        try texts("SELECT dedupe_key FROM evidence WHERE dedupe_key LIKE 'notification:%'")
    }

    fileprivate func factsOfNotifications() throws -> [String] {
        try texts(
            """
            SELECT fact.lineage || ' ' || hex(fact.identity) FROM fact JOIN evidence
            ON evidence.app = fact.app AND evidence.id = json_extract(fact.form, '$.evidence')
            WHERE evidence.dedupe_key LIKE 'notification:%'
            """
        )
    }

    fileprivate func otherFacts() throws -> Set<String> {
        Set(
            try texts(
                """
                SELECT json_remove(
                    fact.form, '$.evidence', '$.learnedAt', '$.source', '$.effectiveAt',
                    '$.assertedAt', '$.envelopeSignedAt'
                ) FROM fact JOIN evidence
                ON evidence.app = fact.app AND evidence.id = json_extract(fact.form, '$.evidence')
                WHERE evidence.dedupe_key NOT LIKE 'notification:%'
                """
            )
        )
    }

    fileprivate func told() throws -> [(customer: String, name: String)] {
        try rows("SELECT customer, name FROM told") { ($0.text(0), $0.text(1)) }
    }

    /// Counts events that have a name. Those about a changed answer have none.
    fileprivate func happeningCount() throws -> Int {
        try rows("SELECT id FROM outbox WHERE kind <> 'entitlement_changed'") { $0.text(0) }.count
    }

    private func texts(_ sql: StaticString) throws -> [String] {
        try rows(sql) { $0.text(0) }
    }
}
