public import TideoverJSON

/// One case: the facts and messages, with the required answers.
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
    /// Creates the ID of the fact or message at a position in its case. Of two observations with
    /// one date, the later one in the list is newer.
    fileprivate init(conformance position: Int) {
        let digits = String(position)
        self.init(hex: String(repeating: "0", count: max(0, 8 - digits.count)) + digits)
    }
}

/// A store's message or response in a table: decoded, with the defaults filled in.
public struct ConformanceMessage: Sendable {
    /// The name of its member, such as `appStore`.
    public let store: String
    /// Its content. Times may be RFC 3339 texts where the store uses another format.
    public let content: JSONObject
    /// When the server learned of it; nil for when the store sent it.
    public let learnedAt: Instant?
    /// The evidence ID of its facts.
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

/// Turns a store's message of a table into its facts. Throws the reason for a rejection.
public typealias ConformanceTranslation = @Sendable (ConformanceMessage) throws -> [Fact]

/// The error for a message of a store without a translation.
public struct ConformanceUntranslated: Error, Hashable, Sendable {
    public let store: String

    public init(store: String) {
        self.store = store
    }
}
