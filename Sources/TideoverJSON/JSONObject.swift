/// A JSON object as a value: members in order, each key once.
///
/// Keys are equal if their Unicode scalars are; unlike `String`, no normalization is applied.
public struct JSONObject: Sendable {
    private var members: [(key: String, value: JSONValue)] = []

    /// Creates an object without members.
    public init() {}

    /// Creates an object with these members; the caller ensures that the keys differ.
    init(unlike members: [(key: String, value: JSONValue)]) {
        self.members = members
    }

    /// The value of a member; nil if it is absent. Setting nil removes it; a new member is
    /// appended.
    public subscript(_ key: String) -> JSONValue? {
        get { place(of: key).map { members[$0].value } }
        set {
            switch (place(of: key), newValue) {
            case (let place?, let value?): members[place].value = value
            case (let place?, nil): members.remove(at: place)
            case (nil, let value?): members.append((key, value))
            case (nil, nil): break
            }
        }
    }

    private func place(of key: String) -> Int? {
        members.firstIndex { $0.key.isSame(as: key) }
    }
}

extension JSONObject: RandomAccessCollection {
    /// The position of the first member.
    public var startIndex: Int { 0 }
    /// The position past the last member.
    public var endIndex: Int { members.count }
    /// The member at a position.
    public subscript(_ position: Int) -> (key: String, value: JSONValue) { members[position] }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// Creates an object from a literal, which must not repeat a key.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        for (key, value) in elements {
            precondition(self[key] == nil, "an object has each key once")
            members.append((key, value))
        }
    }
}

extension JSONObject: Hashable {
    /// Whether two objects have the same members, in any order.
    public static func == (a: JSONObject, b: JSONObject) -> Bool {
        guard a.count == b.count else { return false }
        if haveSame(a.members, b.members) { return true }
        return haveSame(a.sorted(), b.sorted())
    }

    private static func haveSame(
        _ a: [(key: String, value: JSONValue)],
        _ b: [(key: String, value: JSONValue)]
    ) -> Bool {
        zip(a, b).allSatisfy { $0.key.isSame(as: $1.key) && $0.value == $1.value }
    }

    private func sorted() -> [(key: String, value: JSONValue)] {
        members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    /// Adds the compared content to a hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        var sum = 0
        for member in members {
            var each = Hasher()
            each.combine(member.key)
            each.combine(member.value)
            sum &+= each.finalize()
        }
        hasher.combine(sum)
    }
}

extension String {
    /// Whether two texts have the same scalars; `==` also accepts other spellings of a character.
    func isSame(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }
}
