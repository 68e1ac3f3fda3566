import TideoverSQLite

/// What a backfill has left behind, and what is answered by it.
struct BackfillTraces {
    /// The names of the notifications that are stored.
    let notifications: [String]
    /// What they state, by lineage.
    let facts: [String]
    /// What was read elsewhere states; what was asked for once more after a kill was signed anew, and is
    /// another fact that says the same.
    let otherFacts: Set<String>
    /// What was told of each customer and not taken back, without the numbers of tellings that were. What
    /// is yet to come may be among it: in which order the words of a page are heard is up to chance.
    let told: [String]
    /// What the timelines say to have happened.
    let happened: Set<String>
    /// How many events were told that have no name, or one that was told before.
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

    /// Without corrections and what they took back.
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

    /// What these lack, or have too often, measured by those of a run that nobody disturbed.
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

    /// A little of a text from where it differs from another, and as much of that.
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

    /// Events that have a name; those that tell of another answer have none.
    fileprivate func happeningCount() throws -> Int {
        try rows("SELECT id FROM outbox WHERE kind <> 'entitlement_changed'") { $0.text(0) }.count
    }

    private func texts(_ sql: StaticString) throws -> [String] {
        try rows(sql) { $0.text(0) }
    }
}
