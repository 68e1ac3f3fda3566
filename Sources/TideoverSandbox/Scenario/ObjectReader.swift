import TideoverJSON

/// Reads an object of a scenario with known keys. An unknown key is rejected with a suggestion.
struct ObjectReader {
    let node: JSONNode
    private let name: String

    init(_ node: JSONNode, _ name: String, keys: [String]) throws(ScenarioError) {
        try checkKind(node, .object, name, .object)
        for (key, value) in node.members where !keys.contains(key) {
            let near = closestName(to: key, among: keys)
            throw fault(.unknownKey(key, in: name, suggestion: near), value.key ?? value)
        }
        self.node = node
        self.name = name
    }

    func member(_ key: String) throws(ScenarioError) -> JSONNode {
        guard let member = node[key] else { throw fault(.missingKey(key, in: name), node) }
        return member
    }

    func required<Value>(
        _ key: String,
        _ read: (JSONNode) throws(ScenarioError) -> Value
    ) throws(ScenarioError) -> Value {
        try read(try member(key))
    }

    func optional<Value>(
        _ key: String,
        _ read: (JSONNode) throws(ScenarioError) -> Value
    ) throws(ScenarioError) -> Value? {
        guard let member = node[key] else { return nil }
        return try read(member)
    }

    func flag(_ key: String) throws(ScenarioError) -> Bool? {
        try optional(key) { (node) throws(ScenarioError) -> Bool in
            guard let value = node.bool else { throw fault(.expected(.bool, for: key), node) }
            return value
        }
    }

    func wholeNumber(_ key: String) throws(ScenarioError) -> Int64? {
        guard let member = node[key] else { return nil }
        guard let number = member.int64, number >= 0 else {
            throw fault(.expected(.wholeNumber, for: key), member)
        }
        return number
    }
}

func fault(_ reason: ScenarioError.Reason, _ node: JSONNode) -> ScenarioError {
    let place = node.position
    return ScenarioError(reason: reason, line: place.line, column: place.column)
}

func checkKind(
    _ node: JSONNode,
    _ kind: JSONNode.Kind,
    _ key: String,
    _ expected: ScenarioError.Kind
) throws(ScenarioError) {
    guard node.kind == kind else { throw fault(.expected(expected, for: key), node) }
}

func readString(_ node: JSONNode) throws(ScenarioError) -> String {
    guard let text = node.string, !text.isEmpty else {
        throw fault(.expected(.string, for: node.key?.string ?? "this"), node)
    }
    return text
}

func readStrings(_ node: JSONNode) throws(ScenarioError) -> [String] {
    try checkKind(node, .array, node.key?.string ?? "this", .listOfStrings)
    var texts: [String] = []
    for element in node.elements { texts.append(try readString(element)) }
    return texts
}

func readInstant(_ node: JSONNode) throws(ScenarioError) -> Int64 {
    let text = try readString(node)
    guard let instant = InstantText.read(text) else { throw fault(.notAnInstant(text), node) }
    return instant
}

func readPrice(_ node: JSONNode) throws(ScenarioError) -> StorePrice {
    let text = try readString(node)
    guard let price = StorePrice(text) else { throw fault(.notAPrice(text), node) }
    return price
}

func readSpan(_ node: JSONNode) throws(ScenarioError) -> StorePeriod {
    let text = try readString(node)
    guard let span = StorePeriod(span: text) else { throw fault(.notASpan(text), node) }
    return span
}

/// Returns the value that a text names.
func named<Thing>(
    _ node: JSONNode,
    _ naming: ScenarioError.Naming,
    _ things: [Thing],
    _ name: (Thing) -> String
) throws(ScenarioError) -> Thing {
    try named(try readString(node), at: node, naming, things, name)
}

func named<Thing>(
    _ text: String,
    at node: JSONNode,
    _ naming: ScenarioError.Naming,
    _ things: [Thing],
    _ name: (Thing) -> String
) throws(ScenarioError) -> Thing {
    if let thing = things.first(where: { name($0) == text }) { return thing }
    let names = things.map(name)
    let near = closestName(to: text, among: names)
    throw fault(.unknown(text, naming, suggestion: near, allowed: names), node)
}
