import TideoverJSON

extension JSONValue {
    /// Returns the path of a member that is lost when the value is read and written again. Detects
    /// mistyped names. `isRead` reports a member that is read but not written.
    func unknownMember(
        beside written: JSONValue,
        at path: [String] = [],
        isRead: ([String]) -> Bool = { _ in false }
    ) -> String? {
        for (name, value) in parts where !value.isNull {
            let place = path + [name]
            guard let found = written.part(name) else {
                if isRead(place) { continue }
                return place.joined(separator: ".")
            }
            if let name = value.unknownMember(beside: found, at: place, isRead: isRead) {
                return name
            }
        }
        return nil
    }

    /// The members of an object by name, the elements of an array by position.
    private var parts: [(String, JSONValue)] {
        switch self {
        case .object(let members): members.map { ($0.key, $0.value) }
        case .array(let elements): elements.enumerated().map { (String($0), $1) }
        case .null, .bool, .integer, .double, .string: []
        }
    }

    private func part(_ name: String) -> JSONValue? {
        switch self {
        case .object(let members): members[name]
        case .array(let elements):
            Int(name).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
        case .null, .bool, .integer, .double, .string: nil
        }
    }

    /// Returns a copy with another value at a path.
    func setting(_ path: ArraySlice<String>, to value: JSONValue) -> JSONValue {
        guard let name = path.first else { return value }
        let changed = parts.map { key, part in
            (key, key == name ? part.setting(path.dropFirst(), to: value) : part)
        }
        if case .array = self { return .array(changed.map(\.1)) }
        return .object(changed.reduce(into: JSONObject()) { $0[$1.0] = $1.1 })
    }
}
