import TideoverJSON

/// Cases of the rules of standing as data: the stores' messages with the required answers.
///
/// `Conformance/README.md` describes the format.
public struct ConformanceTable: Sendable {
    /// The supported version of the format.
    public static let format = "tideover-conformance/1"
    /// The source of the expectations.
    public let source: String
    let entries: [Entry]

    /// The number of cases, malformed ones included.
    public var count: Int { entries.count }

    /// A case, or its fault.
    struct Entry: Sendable {
        let name: String
        let source: String
        let line: Int
        let content: Result<ConformanceCase, ConformanceFault>
    }

    /// The limits of a table. A value is written again before it is read, which can make it a few
    /// times longer. For a table of this size the result is far below ``JSONLimits/local``.
    private static let limits = JSONLimits(maxBytes: 64 << 20, maxDepth: JSONLimits.local.maxDepth)

    /// Reads a table. A malformed case does not prevent reading the others.
    ///
    /// - Throws: The fault of the table outside its cases.
    public init(_ bytes: [UInt8]) throws(ConformanceFault) {
        let document: JSONDocument
        do {
            document = try JSONDocument(bytes, limits: Self.limits)
        } catch {
            throw ConformanceFault(error)
        }
        let head = try ConformanceObject(document.root, allowing: Self.members)
        let format = try head.text("format")
        guard format == Self.format else {
            throw ConformanceFault(.otherFormat(format), at: document.root["format"] ?? head.node)
        }
        source = try head.text("source")
        let setting = try ConformanceSetting().changed(by: head)
        let cases = try head.list("cases")
        guard !cases.isEmpty else { throw ConformanceFault(.empty("cases"), at: head.node) }
        var names: Set<String> = []
        entries = cases.map { Entry($0, in: setting, besides: &names) }
    }

    private static let members =
        ["format", "source", "note", "cases"] + ConformanceSetting.members
}

extension ConformanceTable.Entry {
    fileprivate init(
        _ node: JSONNode,
        in setting: ConformanceSetting,
        besides names: inout Set<String>
    ) {
        name = node["name"]?.string ?? ""
        source = node["source"]?.string ?? ""
        line = node.position.line
        let isNew = names.insert(name).inserted
        do throws(ConformanceFault) {
            let found = try ConformanceCase(node, in: setting)
            guard isNew else { throw ConformanceFault(.repeatedName(name), at: node) }
            content = .success(found)
        } catch {
            content = .failure(error)
        }
    }
}

/// The settings that all cases of a table share by default.
struct ConformanceSetting: Sendable {
    var catalogue = Versioned(Catalogue())
    var policy = Versioned(Policy())
    /// The lineage of facts and questions.
    var base: JSONObject = [
        "store": "appStore", "environment": "production", "id": "1000", "ownership": "purchased",
    ]
    /// The default content of messages, by store.
    var usual = JSONObject()
    /// Lists of facts by name.
    var given: [String: [JSONNode]] = [:]

    static let members = ["catalogue", "policy", "base", "usual", "given"]

    func changed(by object: ConformanceObject) throws(ConformanceFault) -> ConformanceSetting {
        var setting = self
        if let node = object["catalogue"] {
            setting.catalogue = try node.catalogue()
        }
        if let node = object["policy"] {
            setting.policy = try node.policy()
        }
        if let node = object["base"] { setting.base = try node.merged(over: base) }
        if let node = object["usual"] { setting.usual = try node.merged(over: usual) }
        for (name, node) in object["given"]?.members.map({ $0 }) ?? [] {
            setting.given[name] = try setting.facts(in: node, of: name)
        }
        return setting
    }

    private static let mostFacts = 100_000

    /// Returns the facts of a list. A text in it is the name of an earlier list.
    func facts(in node: JSONNode, of member: String) throws(ConformanceFault) -> [JSONNode] {
        guard node.kind == .array else {
            throw ConformanceFault(.notA("list", member: member), at: node)
        }
        var facts: [JSONNode] = []
        for element in node.elements {
            guard let name = element.string else {
                facts.append(element)
                continue
            }
            guard let named = given[name] else {
                let closest = closestName(to: name, among: given.keys.sorted())
                throw ConformanceFault(.unknownSet(name, closest: closest), at: element)
            }
            // Lists that name each other twice would double again and again.
            guard facts.count + named.count <= Self.mostFacts else {
                let kind = "list of at most \(Self.mostFacts) facts"
                throw ConformanceFault(.notA(kind, member: member), at: element)
            }
            facts += named
        }
        return facts
    }

    /// Returns a lineage. Missing members come from `base`.
    func lineage(_ node: JSONNode?) throws(ConformanceFault) -> Lineage {
        guard let node else { return try lineage(of: base, for: nil) }
        if let id = node.string {
            var object = base
            object["id"] = .string(id)
            return try lineage(of: object, for: node)
        }
        return try lineage(of: node.merged(over: base), for: node)
    }

    private func lineage(
        of object: JSONObject,
        for node: JSONNode?
    ) throws(ConformanceFault) -> Lineage {
        let whole = JSONNode.whole(.object(object))
        do throws(FormError) {
            return try Lineage(json: whole)
        } catch {
            throw ConformanceFault(error, at: node ?? whole)
        }
    }
}

extension JSONNode {
    /// Reads one catalogue, or a list of versions of it.
    fileprivate func catalogue() throws(ConformanceFault) -> Versioned<Catalogue> {
        guard kind == .array else {
            return Versioned(try form(Catalogue.init(json:)) { $0.write(to: &$1) })
        }
        return try form(Versioned<Catalogue>.init(json:)) { $0.write(to: &$1) }
    }

    /// Reads one policy, or a list of versions of it.
    fileprivate func policy() throws(ConformanceFault) -> Versioned<Policy> {
        guard kind == .array else {
            return Versioned(try form(Policy.init(json:)) { $0.write(to: &$1) })
        }
        return try form(Versioned<Policy>.init(json:)) { $0.write(to: &$1) }
    }
}
