import TideoverJSON

/// Cases of the rules of standing as data: what the stores said, and what must be answered.
///
/// `Conformance/README.md` describes the format.
public struct ConformanceTable: Sendable {
    /// The version of the format that is read here.
    public static let format = "tideover-conformance/1"
    /// What the expectations are written from.
    public let source: String
    let entries: [Entry]

    /// How many cases there are, malformed ones included.
    public var count: Int { entries.count }

    /// A case, or what is wrong with it.
    struct Entry: Sendable {
        let name: String
        let source: String
        let line: Int
        let content: Result<ConformanceCase, ConformanceFault>
    }

    /// A value is written again before it is read, which can make it a few times longer: what is
    /// written of a table of this size is far below ``JSONLimits/local``.
    private static let limits = JSONLimits(maxBytes: 64 << 20, maxDepth: JSONLimits.local.maxDepth)

    /// Reads a table. A case that is malformed does not keep the others from being read.
    ///
    /// - Throws: what is wrong with the table around its cases.
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

/// What the cases of a table share unless they say otherwise.
struct ConformanceSetting: Sendable {
    var catalogue = Versioned(Catalogue())
    var policy = Versioned(Policy())
    /// The lineage that facts and questions are about.
    var base: JSONObject = [
        "store": "appStore", "environment": "production", "id": "1000", "ownership": "purchased",
    ]
    /// What a store's messages hold, by store.
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

    /// The facts of a list, whose texts are the names of lists given before.
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
            facts += named
        }
        return facts
    }

    /// A lineage, where what is not said is that of `base`.
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
    /// One catalogue, or a list of versions of it.
    fileprivate func catalogue() throws(ConformanceFault) -> Versioned<Catalogue> {
        guard kind == .array else {
            return Versioned(try form(Catalogue.init(json:)) { $0.write(to: &$1) })
        }
        return try form(Versioned<Catalogue>.init(json:)) { $0.write(to: &$1) }
    }

    /// One policy, or a list of versions of it.
    fileprivate func policy() throws(ConformanceFault) -> Versioned<Policy> {
        guard kind == .array else {
            return Versioned(try form(Policy.init(json:)) { $0.write(to: &$1) })
        }
        return try form(Versioned<Policy>.init(json:)) { $0.write(to: &$1) }
    }
}
