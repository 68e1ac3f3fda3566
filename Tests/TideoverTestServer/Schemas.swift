import TideoverCore
import TideoverJSON

/// The part of JSON Schema that the document uses; a member without a schema is a fault.
struct Schemas: Sendable {
    private let document: JSONDocument

    init(_ document: JSONDocument) {
        self.document = document
    }

    func target(of reference: String) -> JSONNode? {
        guard reference.hasPrefix("#/") else { return nil }
        return reference.split(separator: "/").dropFirst().reduce(document.root) { node, name in
            node?[String(name)]
        }
    }

    func faults(of value: JSONNode, named name: String) -> [String] {
        guard let schema = target(of: "#/components/schemas/\(name)") else { return ["no \(name)"] }
        return faults(of: value, by: schema)
    }

    func faults(of value: JSONNode, by schema: JSONNode, at place: String = "$") -> [String] {
        if let reference = schema["$ref"]?.string {
            guard let target = target(of: reference) else { return ["\(place): no \(reference)"] }
            return faults(of: value, by: target, at: place)
        }
        if let discriminator = schema["discriminator"] {
            let name = discriminator["propertyName"]?.string.flatMap { value[$0]?.string } ?? ""
            guard let reference = discriminator["mapping"]?[name]?.string,
                let target = target(of: reference)
            else { return ["\(place): the kind `\(name)` is not mapped"] }
            return faults(of: value, by: target, at: place)
        }
        if let choices = schema["oneOf"] {
            let fits = choices.elements.filter { faults(of: value, by: $0).isEmpty }.count
            return fits == 1 ? [] : ["\(place): fits \(fits) of the choices"]
        }
        return typeFaults(value, schema, place) + wordFaults(value, schema, place)
            + memberFaults(value, schema, place)
    }

    private func typeFaults(_ value: JSONNode, _ schema: JSONNode, _ place: String) -> [String] {
        guard let type = schema["type"] else { return ["\(place): the schema has no type"] }
        let allowed = type.string.map { [$0] } ?? type.elements.compactMap(\.string)
        let name = name(of: value)
        let isNumber = name == "integer" && allowed.contains("number")
        return isNumber || allowed.contains(name) ? [] : ["\(place): is \(name)"]
    }

    private func name(of value: JSONNode) -> String {
        switch value.kind {
        case .null: "null"
        case .bool: "boolean"
        case .number: value.int64 == nil ? "number" : "integer"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }

    private func wordFaults(_ value: JSONNode, _ schema: JSONNode, _ place: String) -> [String] {
        let isDate = schema["format"]?.string == "date-time"
        if isDate, value.string.flatMap(Instant.init(rfc3339:)) == nil {
            return ["\(place): no time"]
        }
        guard let words = schema["enum"]?.elements.compactMap(\.string) else { return [] }
        return words.contains(value.string ?? "") ? [] : ["\(place): not a word of the list"]
    }

    private func memberFaults(_ value: JSONNode, _ schema: JSONNode, _ place: String) -> [String] {
        let needed = schema["required"]?.elements.compactMap(\.string) ?? []
        let missing = needed.filter { value[$0] == nil }.map { "\(place).\($0): missing" }
        guard schema["properties"] != nil || schema["additionalProperties"] != nil else {
            return missing
        }
        let others = schema["additionalProperties"]
        return missing
            + value.members.flatMap { name, member in
                let place = "\(place).\(name)"
                if let own = schema["properties"]?[name] {
                    return faults(of: member, by: own, at: place)
                }
                if let others, others.kind == .object {
                    return faults(of: member, by: others, at: place)
                }
                return others?.bool == true ? [] : ["\(place): the schema does not name it"]
            }
    }
}
