/// A value in a document; a cheap reference that keeps the document alive.
public struct JSONNode: Sendable {
    /// The kinds of values.
    public enum Kind: Hashable, Sendable {
        /// The literal `null`.
        case null
        /// `true` or `false`.
        case bool
        /// A number, integral or not.
        case number
        /// A text.
        case string
        /// Elements in order.
        case array
        /// Members, each with a key.
        case object
    }

    let storage: JSONStorage
    let index: Int

    var token: JSONToken { storage.tape[index] }

    /// The kind of the value.
    public var kind: Kind {
        switch token.kind {
        case JSONToken.null: .null
        case JSONToken.bool: .bool
        case JSONToken.number: .number
        case JSONToken.string: .string
        case JSONToken.array: .array
        default: .object
        }
    }

    /// Whether the value is null.
    public var isNull: Bool { token.kind == JSONToken.null }

    /// The value of a bool; nil for any other kind.
    public var bool: Bool? {
        token.kind == JSONToken.bool ? token.has(JSONToken.isTrue) : nil
    }

    /// The exact value of an integral number, including 1.0 and 1e3; nil for any other value, or
    /// one out of range.
    public var int64: Int64? {
        let token = token
        guard token.kind == JSONToken.number else { return nil }
        return storage.withText(token) { JSONNumber($0).int64 }
    }

    /// The nearest double of a number; nil for any other kind.
    public var double: Double? {
        let token = token
        guard token.kind == JSONToken.number else { return nil }
        return storage.withText(token) { JSONNumber($0).double }
    }

    /// The unescaped value of a string; nil for any other kind.
    public var string: String? {
        let token = token
        guard token.kind == JSONToken.string else { return nil }
        return storage.withText(token) { text in
            guard token.has(JSONToken.isEscaped) else {
                return String(decoding: text, as: UTF8.self)
            }
            return String(unsafeUninitializedCapacity: text.count) { target in
                target.baseAddress.map { JSONText.unescape(text, into: $0) } ?? 0
            }
        }
    }

    /// The unescaped UTF-8 of a string, copied only if it has escapes; nil for any other kind.
    public var utf8: ArraySlice<UInt8>? {
        let token = token
        guard token.kind == JSONToken.string else { return nil }
        guard token.has(JSONToken.isEscaped) else { return storage.bytes[token.text] }
        return storage.withText(token) { JSONText.unescaped($0)[...] }
    }

    /// The text of the value in the document, including quotes and brackets.
    public var source: ArraySlice<UInt8> { storage.bytes[sourceRange] }

    private var sourceRange: Range<Int> {
        let token = token
        guard token.kind == JSONToken.string, !token.has(JSONToken.isBare) else {
            return token.text
        }
        return token.text.lowerBound - 1..<token.text.upperBound + 1
    }

    /// The position of the value, in bytes from the start of the document.
    public var offset: Int { sourceRange.lowerBound }

    /// The line of the value, and its column in Unicode scalars, both from 1.
    public var position: (line: Int, column: Int) {
        storage.bytes.withUnsafeBufferPointer { TideoverJSON.position(of: offset, in: $0) }
    }
}

extension JSONNode {
    /// The number of elements or members; 0 if the value is neither array nor object.
    public var count: Int { token.kind >= JSONToken.array ? token.count : 0 }

    /// The value of a member; nil if it is absent or this is not an object.
    public subscript(_ key: String) -> JSONNode? {
        let object = token
        guard object.kind == JSONToken.object, object.count > 0 else { return nil }
        var key = key
        return key.withUTF8 { member($0, of: object) }.map { JSONNode(storage: storage, index: $0) }
    }

    private func member(_ key: UnsafeBufferPointer<UInt8>, of object: JSONToken) -> Int? {
        let hash = JSONText.hash(key)
        return storage.tape.withUnsafeBufferPointer { tape in
            var index = self.index + 1
            while index < Int(object.link) {
                if tape[index].link == hash, says(tape[index], key) { return index + 1 }
                index = Int(tape[index + 1].link)
            }
            return nil
        }
    }

    /// A position among the members of an object.
    package struct MemberCursor: Sendable {
        fileprivate var index = 0

        /// Creates the position before the first member.
        package init() {}
    }

    /// Returns the value of a member, like the subscript. The member after the one found last is
    /// compared first, so that members in their order need no search.
    package func member(_ key: String, at cursor: inout MemberCursor) -> JSONNode? {
        let object = token
        guard object.kind == JSONToken.object, object.count > 0 else { return nil }
        let expected = max(cursor.index, index + 1)
        var key = key
        let found = key.withUTF8 { key -> Int? in
            if expected < Int(object.link), says(storage.tape[expected], key) {
                return expected + 1
            }
            return member(key, of: object)
        }
        guard let found else { return nil }
        let value = JSONNode(storage: storage, index: found)
        cursor.index = Int(value.token.link)
        return value
    }

    /// The member after the one found last; nil after the last member.
    package func nextMember(at cursor: inout MemberCursor) -> (key: String, value: JSONNode)? {
        var iterator = ElementIterator(self, of: JSONToken.object)
        iterator.skip(to: cursor.index)
        guard let member = iterator.nextMember() else { return nil }
        cursor.index = Int(member.value.token.link)
        return member
    }

    private func says(_ token: JSONToken, _ key: UnsafeBufferPointer<UInt8>) -> Bool {
        storage.withText(token) { text in
            guard token.has(JSONToken.isEscaped) else { return JSONText.same(text, key) }
            return JSONText.unescaped(text).elementsEqual(key)
        }
    }

    /// The element of an array at a position from 0; nil if there is none or this is not an array.
    ///
    /// This walks over the elements before it: to visit all, iterate `elements`.
    public subscript(_ index: Int) -> JSONNode? {
        guard token.kind == JSONToken.array, index >= 0, index < token.count else { return nil }
        var iterator = elements.makeIterator()
        for _ in 0..<index { _ = iterator.next() }
        return iterator.next()
    }

    /// The elements of an array; empty for any other kind.
    public var elements: Elements { Elements(node: self) }

    /// The members of an object in document order; empty for any other kind.
    public var members: Members { Members(node: self) }

    /// The key of the value; nil if it is not a member of an object.
    public var key: JSONNode? {
        guard index > 0 else { return nil }
        let key = JSONNode(storage: storage, index: index - 1)
        return key.token.kind == JSONToken.string && key.token.has(JSONToken.isKey) ? key : nil
    }

    /// The elements of an array.
    public struct Elements: Sequence, Sendable {
        let node: JSONNode

        /// Starts at the first element.
        public func makeIterator() -> ElementIterator { ElementIterator(node, of: JSONToken.array) }

        /// The number of elements.
        public var underestimatedCount: Int { node.token.kind == JSONToken.array ? node.count : 0 }
    }

    /// The members of an object.
    public struct Members: Sequence, Sendable {
        let node: JSONNode

        /// Starts at the first member.
        public func makeIterator() -> MemberIterator {
            MemberIterator(base: ElementIterator(node, of: JSONToken.object))
        }

        /// The number of members.
        public var underestimatedCount: Int { node.token.kind == JSONToken.object ? node.count : 0 }
    }

    /// An iterator over the elements of an array.
    public struct ElementIterator: IteratorProtocol, Sendable {
        private let storage: JSONStorage
        private var index: Int
        private let end: Int

        init(_ node: JSONNode, of kind: UInt32) {
            storage = node.storage
            index = node.index + 1
            end = node.token.kind == kind ? Int(node.token.link) : 0
        }

        /// The next element; nil after the last.
        public mutating func next() -> JSONNode? {
            guard index < end else { return nil }
            defer { index = Int(storage.tape[index].link) }
            return JSONNode(storage: storage, index: index)
        }

        fileprivate mutating func skip(to position: Int) { index = max(index, position) }

        fileprivate mutating func nextMember() -> (key: String, value: JSONNode)? {
            guard index < end else { return nil }
            let key = JSONNode(storage: storage, index: index)
            let value = JSONNode(storage: storage, index: index + 1)
            index = Int(value.token.link)
            return (key.string ?? "", value)
        }
    }

    /// An iterator over the members of an object.
    public struct MemberIterator: IteratorProtocol, Sendable {
        fileprivate var base: ElementIterator

        /// The next member; nil after the last.
        public mutating func next() -> (key: String, value: JSONNode)? { base.nextMember() }
    }
}
