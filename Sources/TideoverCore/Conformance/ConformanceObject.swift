package import TideoverJSON

/// An object of a table without unknown members.
struct ConformanceObject: Sendable {
    let node: JSONNode

    init(_ node: JSONNode, allowing members: [String]) throws(ConformanceFault) {
        guard node.kind == .object else {
            throw ConformanceFault(.notA("object", member: node.key?.string ?? "this"), at: node)
        }
        for (name, value) in node.members where !members.contains(name) {
            let closest = closestName(to: name, among: members)
            throw ConformanceFault(.unknownMember(name, closest: closest), at: value.key ?? value)
        }
        self.node = node
    }

    subscript(_ member: String) -> JSONNode? {
        node[member].flatMap { $0.isNull ? nil : $0 }
    }

    func text(_ member: String) throws(ConformanceFault) -> String {
        let value = try needed(member)
        guard let text = value.string, !text.isEmpty else {
            throw ConformanceFault(.notA("text", member: member), at: value)
        }
        return text
    }

    func list(_ member: String) throws(ConformanceFault) -> [JSONNode] {
        let value = try needed(member)
        guard value.kind == .array else {
            throw ConformanceFault(.notA("list", member: member), at: value)
        }
        return Array(value.elements)
    }

    func instant(_ member: String) throws(ConformanceFault) -> Instant? {
        guard let value = self[member] else { return nil }
        guard let instant = value.string.flatMap(Instant.init(conformance:)) else {
            throw ConformanceFault(.notA("time", member: member), at: value)
        }
        return instant
    }

    private func needed(_ member: String) throws(ConformanceFault) -> JSONNode {
        guard let value = self[member] else { throw ConformanceFault(.missing(member), at: node) }
        return value
    }
}

extension Instant {
    /// Reads an RFC 3339 time, or a date alone as its midnight in UTC.
    init?(conformance text: String) {
        self.init(rfc3339: text.utf8.count == 10 ? text + "T00:00:00Z" : text)
    }
}

extension JSONNode {
    /// Reads a value in one of our own forms, and rejects unknown members.
    func form<Value>(
        _ read: (JSONNode) throws(FormError) -> Value,
        _ write: (Value, inout JSONWriter) -> Void
    ) throws(ConformanceFault) -> Value {
        let said = JSONValue(self).withWholeTimes
        let value: Value
        do {
            value = try read(.whole(said))
        } catch {
            throw ConformanceFault(error, at: self)
        }
        if let name = said.unknownMember(beside: JSONValue { write(value, &$0) }) {
            throw ConformanceFault(.unknownMember(name, closest: nil), at: self)
        }
        return value
    }

    /// Returns this object merged over another.
    func merged(over usual: JSONObject) throws(ConformanceFault) -> JSONObject {
        guard case .object(let changes) = JSONValue(self) else {
            throw ConformanceFault(.notA("object", member: key?.string ?? "this"), at: self)
        }
        return changes.merged(over: usual)
    }

    /// Returns a value as the root of its own document.
    static func whole(_ value: JSONValue) -> JSONNode {
        do {
            return try JSONDocument(value.encoded(), limits: .local).root
        } catch {
            preconditionFailure("what the writer wrote is JSON: \(error)")
        }
    }
}

extension JSONObject {
    /// Returns these members merged over others. Objects merge member by member; null removes a
    /// member.
    func merged(over usual: JSONObject) -> JSONObject {
        reduce(into: usual) { merged, member in
            switch (merged[member.key], member.value) {
            case (_, .null): merged[member.key] = nil
            case (.object(let below)?, .object(let above)):
                merged[member.key] = .object(above.merged(over: below))
            case (_, .object(let above)):
                merged[member.key] = .object(above.merged(over: JSONObject()))
            case (_, let value): merged[member.key] = value
            }
        }
    }
}

extension JSONValue {
    /// Creates the value that a closure writes.
    package init(_ write: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        write(&writer)
        guard let document = try? JSONDocument(writer.bytes, limits: .local) else {
            preconditionFailure("what the writer wrote is JSON")
        }
        self.init(document.root)
    }

    /// The value with each text that is a date alone replaced by its midnight in UTC.
    var withWholeTimes: JSONValue {
        switch self {
        case .string(let text) where text.utf8.count == 10:
            Instant(conformance: text).map { .string($0.rfc3339) } ?? self
        case .array(let elements): .array(elements.map(\.withWholeTimes))
        case .object(let members):
            .object(members.reduce(into: JSONObject()) { $0[$1.key] = $1.value.withWholeTimes })
        case .null, .bool, .integer, .double, .string: self
        }
    }
}
