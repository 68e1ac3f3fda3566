public import TideoverJSON

/// One case: what was said, and what must be answered.
struct ConformanceCase: Sendable {
    let catalogue: Versioned<Catalogue>
    let policy: Versioned<Policy>
    let facts: [Fact]
    let messages: [ConformanceMessage]
    let questions: [ConformanceQuestion]

    init(_ node: JSONNode, in shared: ConformanceSetting) throws(ConformanceFault) {
        let object = try ConformanceObject(node, allowing: Self.members)
        _ = try (object.text("name"), object.text("source"))
        let setting = try shared.changed(by: object)
        catalogue = setting.catalogue
        policy = setting.policy
        facts = try Self.facts(object, setting)
        messages = try Self.messages(object, setting, after: facts.count)
        var questions: [ConformanceQuestion] = []
        for expectation in try object.list("expect") {
            questions += try ConformanceQuestion.all(in: expectation, setting)
        }
        guard !questions.isEmpty else { throw ConformanceFault(.empty("expect"), at: node) }
        self.questions = questions
    }

    private static let members =
        ["name", "source", "note", "facts", "notifications", "expect"] + ConformanceSetting.members

    private static func facts(
        _ object: ConformanceObject,
        _ setting: ConformanceSetting
    ) throws(ConformanceFault) -> [Fact] {
        guard let list = object["facts"] else { return [] }
        var facts: [Fact] = []
        for node in try setting.facts(in: list, of: "facts") {
            let evidence = EvidenceID(conformance: facts.count)
            facts.append(try Fact(conformance: node, in: setting, evidence: evidence))
        }
        return facts
    }

    private static func messages(
        _ object: ConformanceObject,
        _ setting: ConformanceSetting,
        after count: Int
    ) throws(ConformanceFault) -> [ConformanceMessage] {
        guard object["notifications"] != nil else { return [] }
        var messages: [ConformanceMessage] = []
        for node in try object.list("notifications") {
            let evidence = EvidenceID(conformance: count + messages.count)
            messages.append(try ConformanceMessage(node, in: setting, evidence: evidence))
        }
        return messages
    }
}

extension EvidenceID {
    /// That of the fact or message at a position in its case: of two words of one date the later in
    /// the list is the newer.
    fileprivate init(conformance position: Int) {
        let digits = String(position)
        self.init(hex: String(repeating: "0", count: max(0, 8 - digits.count)) + digits)
    }
}

/// What a store sent or answered, as a table holds it: decoded, with what is usual filled in.
public struct ConformanceMessage: Sendable {
    /// The member it stands under, such as `appStore`.
    public let store: String
    /// What it holds; times may be RFC 3339 texts wherever the store writes something else.
    public let content: JSONObject
    /// When we heard; nil for when the store said it.
    public let learnedAt: Instant?
    /// The evidence its facts name.
    public let evidence: EvidenceID
    let line: Int

    init(
        _ node: JSONNode,
        in setting: ConformanceSetting,
        evidence: EvidenceID
    ) throws(ConformanceFault) {
        let object = try ConformanceObject(
            node,
            allowing: Store.allCases.map(\.rawValue) + ["learnedAt"]
        )
        guard let part = node.members.first(where: { $0.key != "learnedAt" }) else {
            throw ConformanceFault(.missing(Store.appStore.rawValue), at: node)
        }
        store = part.key
        let usual = setting.usual[part.key]?.object ?? JSONObject()
        let merged = JSONValue.object(try part.value.merged(over: usual)).withWholeTimes
        content = merged.object ?? JSONObject()
        learnedAt = try object.instant("learnedAt")
        self.evidence = evidence
        line = node.position.line
    }
}

/// Turns a store's message of a table into the facts it states; it throws what it is refused for.
public typealias ConformanceTranslation = @Sendable (ConformanceMessage) throws -> [Fact]

/// A message of a store that nobody translates here.
public struct ConformanceUntranslated: Error, Hashable, Sendable {
    public let store: String

    public init(store: String) {
        self.store = store
    }
}
