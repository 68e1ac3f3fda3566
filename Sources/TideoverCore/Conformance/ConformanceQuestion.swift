import TideoverJSON

/// One question of a case, with the expected members of its answer.
struct ConformanceQuestion: Sendable {
    let instant: Instant
    var lineage: Lineage
    /// Nil to query the purchase itself, regardless of entitlements.
    let entitlement: String?
    /// Nil for a customer who owned everything from the beginning.
    let customer: CustomerID?
    /// Nil for the knowledge at the end.
    let knownAt: Instant?
    let expected: JSONObject
    let node: JSONNode

    /// The members of an expectation that form the question; the others are compared.
    private static let asking = [
        "at", "edge", "before", "from", "lineage", "entitlement", "customer", "knownAt", "note",
    ]

    /// Returns the questions of one expectation: one at its instant, or three around an edge.
    static func all(
        in node: JSONNode,
        _ setting: ConformanceSetting
    ) throws(ConformanceFault) -> [ConformanceQuestion] {
        let object = try ConformanceObject(node, allowing: node.members.map(\.key))
        let shared = JSONValue(node).object?.keeping(
            node.members.map(\.key).filter { !asking.contains($0) }
        )
        let ask = { (instant: Instant, members: JSONObject) throws(ConformanceFault) in
            try ConformanceQuestion(object, setting, instant, members)
        }
        if let instant = try object.instant("at") {
            try refuse(["edge", "before", "from"], in: object)
            return [try ask(instant, shared ?? JSONObject())]
        }
        guard let edge = try object.instant("edge") else { throw noInstant(in: node) }
        let before = try members("before", of: object, besides: shared)
        let from = try members("from", of: object, besides: shared)
        let step = Milliseconds(1)
        return [try ask(edge - step, before), try ask(edge, from), try ask(edge + step, from)]
    }

    /// Returns the fault of an expectation without an instant. Most likely its name is mistyped.
    private static func noInstant(in node: JSONNode) -> ConformanceFault {
        for (name, value) in node.members {
            guard let closest = closestName(to: name, among: asking), closest != name else {
                continue
            }
            return ConformanceFault(.unknownMember(name, closest: closest), at: value.key ?? value)
        }
        return ConformanceFault(.missing("at"), at: node)
    }

    private static func refuse(
        _ names: [String],
        in object: ConformanceObject
    ) throws(ConformanceFault) {
        for name in names {
            guard let node = object[name] else { continue }
            throw ConformanceFault(.unknownMember(name, closest: nil), at: node)
        }
    }

    private static func members(
        _ side: String,
        of object: ConformanceObject,
        besides shared: JSONObject?
    ) throws(ConformanceFault) -> JSONObject {
        guard let node = object[side] else {
            throw ConformanceFault(.missing(side), at: object.node)
        }
        guard let members = JSONValue(node).object else {
            throw ConformanceFault(.notA("object", member: side), at: node)
        }
        return members.reduce(into: shared ?? JSONObject()) { $0[$1.key] = $1.value }
    }

    private init(
        _ object: ConformanceObject,
        _ setting: ConformanceSetting,
        _ instant: Instant,
        _ members: JSONObject
    ) throws(ConformanceFault) {
        self.instant = instant
        lineage = try setting.lineage(object["lineage"])
        entitlement = object["entitlement"] == nil ? nil : try object.text("entitlement")
        customer = object["customer"] == nil ? nil : CustomerID(try object.text("customer"))
        knownAt = try object.instant("knownAt")
        expected = members
        node = object.node
        guard !members.isEmpty else { throw ConformanceFault(.expectsNothing, at: node) }
        let names = setting.catalogue.entitlements
        if let entitlement, !names.contains(entitlement) {
            let closest = closestName(to: entitlement, among: names)
            throw ConformanceFault(.unknownEntitlement(entitlement, closest: closest), at: node)
        }
    }
}

extension JSONObject {
    /// Returns only the members with these names.
    func keeping(_ names: some Collection<String>) -> JSONObject {
        reduce(into: JSONObject()) { if names.contains($1.key) { $0[$1.key] = $1.value } }
    }
}

// MARK: - Answering

extension ConformanceQuestion {
    /// Returns the answer of the rules, with every member that can be expected.
    func answer(by facts: [Fact], in asked: ConformanceCase) -> JSONObject {
        let record = record(of: facts, in: asked)
        var answer = entitlement.map { self.answer(on: $0, by: record) } ?? standing(by: record)
        if expected["events"] != nil { answer["events"] = events(by: record) }
        return answer
    }

    /// Returns the answer for a customer.
    private func answer(on entitlement: String, by record: CustomerRecord) -> JSONObject {
        let snapshot = record.history.snapshot(at: instant)
        guard let found = snapshot[entitlement] else { return JSONObject() }
        var answer = JSONValue { found.write(to: &$0) }.object ?? [:]
        let whole = JSONValue { writer in
            writer.object { snapshot.writeAnswer(to: &$0) }
        }
        answer["prompt"] = whole["prompt"]
        answer["asksStore"] = .bool(found.standing.asksStore)
        return answer
    }

    /// Returns the answer for the purchase itself.
    private func standing(by record: CustomerRecord) -> JSONObject {
        let lineageRecord = record.lineageRecords.first { $0.lineage == lineage }
        let history = LineageHistory(
            lineage: lineage,
            facts: lineageRecord?.facts ?? [],
            catalogue: record.catalogue
        )
        let standing = history.standing(at: instant, policy: record.policy)
        var answer = JSONValue { standing.writeAnswer(to: &$0) }.object ?? [:]
        let owner = lineageRecord?.owners.owner(at: instant)?.text
        answer["owner"] = owner.map { .string($0) } ?? .null
        return answer
    }

    /// Returns the events by the instant of the question, oldest first.
    private func events(by record: CustomerRecord) -> JSONValue {
        let all = entitlement.map {
            CustomerTimeline(record, until: instant).timeline(of: $0).transitions
        }
        let facts = record.lineageRecords.first { $0.lineage == lineage }?.facts ?? []
        let timeline = LineageTimeline(
            lineage: lineage,
            facts: facts,
            catalogue: record.catalogue,
            policy: record.policy,
            until: instant
        )
        return JSONValue { writer in
            writer.array { for event in all ?? timeline.transitions { event.write(to: &$0) } }
        }
    }

    /// Returns the record of the customer in the question.
    private func record(of facts: [Fact], in asked: ConformanceCase) -> CustomerRecord {
        let lineageRecords = Dictionary(grouping: facts, by: \.lineage).map {
            CustomerRecord.LineageRecord(
                lineage: $0.key,
                facts: $0.value,
                owners: .byArrival(of: $0.value)
            )
        }
        let record = CustomerRecord(
            customer: customer ?? Self.someone,
            environment: lineage.environment,
            lineageRecords: lineageRecords,
            catalogue: asked.catalogue,
            policy: asked.policy
        )
        let known = knownAt.map(record.asKnown) ?? record
        return customer == nil && entitlement != nil ? known.owned(by: Self.someone) : known
    }

    /// Returns the record of one customer who always owned every lineage.
    fileprivate func ownedRecord(of facts: [Fact], in asked: ConformanceCase) -> CustomerRecord {
        record(of: facts, in: asked).owned(by: Self.someone)
    }

    private static let someone: CustomerID = {
        guard let id = CustomerID("someone") else {
            preconditionFailure("a text that is not empty is a customer's id")
        }
        return id
    }()
}

/// The history of one case in one environment, for checks of other forms of the answer.
package struct ConformanceHistory: Sendable {
    /// The case's name.
    package let name: String
    /// One customer who always owned every lineage.
    package let record: CustomerRecord
    /// The instants of the case's questions.
    package let asked: [Instant]
}

extension ConformanceTable {
    /// Returns the history of each case, as if it had happened in an environment.
    ///
    /// - Throws: The fault of a malformed case, or what `translate` throws.
    package func histories(
        in environment: Environment,
        translating translate: ConformanceTranslation
    ) throws -> [ConformanceHistory] {
        try entries.compactMap { entry in
            let found = try entry.content.get()
            var facts = try found.facts + found.messages.flatMap(translate)
            for index in facts.indices { facts[index].lineage.environment = environment }
            guard var question = found.questions.first else { return nil }
            question.lineage.environment = environment
            return ConformanceHistory(
                name: entry.name,
                record: question.ownedRecord(of: facts, in: found),
                asked: found.questions.map(\.instant)
            )
        }
    }
}

extension CustomerRecord {
    /// Returns the record with everything always owned by one customer.
    fileprivate func owned(by customer: CustomerID) -> CustomerRecord {
        CustomerRecord(
            customer: customer,
            environment: environment,
            lineageRecords: lineageRecords.map { lineageRecord in
                let entry = OwnershipEntry(
                    lineage: lineageRecord.lineage,
                    customer: customer,
                    from: .distantPast,
                    why: .accountToken
                )
                return LineageRecord(
                    lineage: lineageRecord.lineage,
                    facts: lineageRecord.facts,
                    owners: [entry]
                )
            },
            catalogue: catalogue,
            policy: policy
        )
    }
}

extension [OwnershipEntry] {
    /// Returns the list of owners as the facts of one lineage arrive one by one.
    fileprivate static func byArrival(of facts: [Fact]) -> [OwnershipEntry] {
        let arrivals = facts.enumerated().sorted {
            ($0.element.learnedAt, $0.offset) < ($1.element.learnedAt, $1.offset)
        }.map(\.element)
        let isPlain = arrivals.allSatisfy { $0.claim?.why != .moved && $0.claim?.why != .inferred }
        return arrivals.indices.reduce(into: []) { owners, last in
            // Without moves by operators and inferred owners, a fact that names the owner or none
            // adds nothing.
            guard let name = arrivals[last].claim,
                !isPlain || owners.owner(at: name.from) != name.customer
            else { return }
            owners += owners.additions(for: arrivals[...last])
        }
    }
}

extension Standing {
    fileprivate func writeAnswer(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("state", state.rawValue)
            writer.field("reason", reason.rawValue)
            writer.field("access", access)
            writer.field("confidence", confidence.rawValue)
            writer.field("rule", rule.rawValue)
            writer.field("productId", productId)
            writer.field("store", lineage?.store.rawValue)
            writer.field("accessUntil", accessUntil)
            writer.field("graceUntil", graceUntil)
            writer.field("willRenew", willRenew)
            writer.field("asksStore", asksStore)
            writer.key("trial")
            if let trial { trial.writeAnswer(to: &writer) } else { writer.null() }
        }
    }
}

extension Trial {
    fileprivate func writeAnswer(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("startedAt", startedAt)
            writer.field("endsAt", endsAt)
            writer.field("cancelBy", cancelBy)
            writer.field("daysLeft", daysLeft)
            writer.field("urgent", urgent)
        }
    }
}
