package import TideoverJSON

/// Why a JSON text is not a valid form of one of our values.
public enum FormError: Error, Hashable, Sendable {
    case missing(field: String)
    case wrongType(field: String)
    case unknownWord(field: String, value: String)
}

// MARK: - Lists of fields

/// The target of a form's fields (``JSONWriter``) or their source (``FormReader``, and for what was
/// written and stored ``WrittenJSON``).
///
/// One function names each member of a form, in the order in which they are written:
///
///     static func form<Fields: FormFields>(
///         _ fields: inout Fields,
///         _ money: Money?
///     ) throws(Fields.Failure) -> Money {
///         Money(
///             milliunits: try fields.required("milliunits", money?.milliunits),
///             currency: try fields.required("currency", money?.currency)
///         )
///     }
///
/// A writer is given the value, writes its members and returns it. A reader is given nil and returns
/// what it reads.
package protocol FormFields {
    associatedtype Failure: Error

    /// A member that is always there.
    mutating func required<Value: FormValue>(
        _ name: String,
        _ value: Value?
    ) throws(Failure) -> Value

    /// A member that is not written for nil. A null is read as nil.
    mutating func optional<Value: FormValue>(
        _ name: String,
        _ value: Value?
    ) throws(Failure) -> Value?

    /// A member that is not written for nil. A null is read as a value, as its type does.
    mutating func present<Value: FormValue>(
        _ name: String,
        _ value: Value?
    ) throws(Failure) -> Value?

    /// A member that follows from others: it is not written for nil, and never read.
    mutating func derived<Value: FormValue>(_ name: String, _ value: Value?)

    /// The one member of an enumeration with content.
    mutating func variant<Value: FormVariant>(_ value: Value?) throws(Failure) -> Value
}

extension FormFields {
    /// A member that is not written if it has its usual value.
    package mutating func optional<Value: FormValue & Equatable>(
        _ name: String,
        _ value: Value?,
        else usual: Value
    ) throws(Failure) -> Value {
        try optional(name, value == usual ? nil : value) ?? usual
    }

    /// A member that is always written, with null for nil.
    package mutating func nullable<Value: FormValue>(
        _ name: String,
        _ value: Value??
    ) throws(Failure) -> Value? {
        try present(name, value) ?? nil
    }
}

extension JSONWriter: FormFields {
    package typealias Failure = Never

    package mutating func required<Value: FormValue>(_ name: String, _ value: Value?) -> Value {
        let value = given(value)
        key(name)
        value.write(to: &self)
        return value
    }

    package mutating func optional<Value: FormValue>(_ name: String, _ value: Value?) -> Value? {
        present(name, value)
    }

    package mutating func present<Value: FormValue>(_ name: String, _ value: Value?) -> Value? {
        guard let value else { return nil }
        return required(name, value)
    }

    package mutating func derived<Value: FormValue>(_ name: String, _ value: Value?) {
        _ = present(name, value)
    }

    package mutating func variant<Value: FormVariant>(_ value: Value?) -> Value {
        let value = given(value)
        key(value.word)
        value.write(to: &self)
        return value
    }

    private func given<Value>(_ value: Value?) -> Value {
        guard let value else { preconditionFailure("a form is written from its value") }
        return value
    }
}

/// Reads the members of an object, fastest in the order in which they were written.
package struct FormReader: FormFields {
    private let object: JSONNode
    private var cursor = JSONNode.MemberCursor()

    package init(_ object: JSONNode) {
        self.object = object
    }

    package mutating func required<Value: FormValue>(
        _ name: String,
        _ value: Value?
    ) throws(FormError) -> Value {
        guard let value = try optional(name, value) else { throw .missing(field: name) }
        return value
    }

    package mutating func optional<Value: FormValue>(
        _ name: String,
        _: Value?
    ) throws(FormError) -> Value? {
        guard let node = object.member(name, at: &cursor), !node.isNull else { return nil }
        return try Value(form: node, name)
    }

    package mutating func present<Value: FormValue>(
        _ name: String,
        _: Value?
    ) throws(FormError) -> Value? {
        guard let node = object.member(name, at: &cursor) else { return nil }
        return try Value(form: node, name)
    }

    package mutating func derived<Value: FormValue>(_: String, _: Value?) {}

    package mutating func variant<Value: FormVariant>(_: Value?) throws(FormError) -> Value {
        if var next = object.nextMember(at: &cursor),
            let value = try Value(word: next.key, &next.value)
        {
            return value
        }
        for var member in object.members {
            if let value = try Value(word: member.key, &member.value) { return value }
        }
        throw .missing(field: Value.reportedMember)
    }
}

extension WrittenJSON: FormFields {
    package typealias Failure = Mismatch

    package mutating func required<Value: FormValue>(
        _ name: String,
        _ value: Value?
    ) throws(Mismatch) -> Value {
        guard nextKey(is: name) else { throw Mismatch() }
        return try Value(written: &self)
    }

    package mutating func optional<Value: FormValue>(
        _ name: String,
        _ value: Value?
    ) throws(Mismatch) -> Value? {
        try present(name, value)
    }

    package mutating func present<Value: FormValue>(
        _ name: String,
        _: Value?
    ) throws(Mismatch) -> Value? {
        nextKey(is: name) ? try Value(written: &self) : nil
    }

    /// A member that follows is not read, so the text differs at its end.
    package mutating func derived<Value: FormValue>(_: String, _: Value?) {}

    package mutating func variant<Value: FormVariant>(_: Value?) throws(Mismatch) -> Value {
        guard let value = try Value(word: try nextKey(), &self) else { throw Mismatch() }
        return value
    }
}

// MARK: - Values

/// A value of a form's member.
package protocol FormValue {
    /// Reads the value; `field` names it in errors.
    init(form node: JSONNode, _ field: String) throws(FormError)

    /// Reads the value as `write` wrote it.
    init(written json: inout WrittenJSON) throws(WrittenJSON.Mismatch)

    func write(to writer: inout JSONWriter)
}

extension FormValue {
    /// Most values are read seldom, and from a document.
    package init(written json: inout WrittenJSON) throws(WrittenJSON.Mismatch) {
        throw WrittenJSON.Mismatch()
    }
}

/// A value that is written as an object.
package protocol FormObject: FormValue {
    static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ value: Self?
    ) throws(Fields.Failure) -> Self
}

extension FormObject {
    package init(form node: JSONNode, _ field: String) throws(FormError) {
        guard node.kind == .object else { throw .wrongType(field: field) }
        var fields = FormReader(node)
        self = try Self.form(&fields, nil)
    }

    package init(written json: inout WrittenJSON) throws(WrittenJSON.Mismatch) {
        try json.beginObject()
        self = try Self.form(&json, nil)
        try json.endObject()
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writeFields(to: &$0) }
    }

    /// Writes the members of the object, which the caller has opened.
    package func writeFields(to writer: inout JSONWriter) {
        _ = Self.form(&writer, self)
    }
}

/// An enumeration that is written as one member: its name is the case, its value the content.
package protocol FormVariant {
    /// The member that the error names if there is none.
    static var reportedMember: String { get }

    var word: String { get }

    /// Reads the value of a member; nil if no case has this name.
    init?<Input: FormInput>(word: String, _ input: inout Input) throws(Input.Failure)

    /// Writes the value of its member.
    func write(to writer: inout JSONWriter)
}

/// What one value is read from.
package protocol FormInput {
    associatedtype Failure: Error

    /// Reads the value; `field` names it in errors.
    mutating func value<Value: FormValue>(_ field: String) throws(Failure) -> Value
}

extension JSONNode: FormInput {
    package func value<Value: FormValue>(_ field: String) throws(FormError) -> Value {
        try Value(form: self, field)
    }
}

extension WrittenJSON: FormInput {
    package mutating func value<Value: FormValue>(_: String) throws(Mismatch) -> Value {
        try Value(written: &self)
    }
}

/// A value that is written as text.
package protocol FormText: FormValue {
    init?(formText: String)

    var formText: String { get }
}

extension FormText {
    package init(form node: JSONNode, _ field: String) throws(FormError) {
        let text = try String(form: node, field)
        guard let value = Self(formText: text) else {
            throw .unknownWord(field: field, value: text)
        }
        self = value
    }

    package init(written json: inout WrittenJSON) throws(WrittenJSON.Mismatch) {
        guard let value = Self(formText: try json.string()) else { throw WrittenJSON.Mismatch() }
        self = value
    }

    package func write(to writer: inout JSONWriter) { writer.value(formText) }
}

/// An enumeration that is written as its raw value.
package protocol FormWord: FormText, RawRepresentable<String> {}

extension FormWord {
    package init?(formText: String) { self.init(rawValue: formText) }

    package var formText: String { rawValue }
}

extension FormWord where Self: CaseIterable {
    package init(written json: inout WrittenJSON) throws(WrittenJSON.Mismatch) {
        let text = try json.utf8()
        for value in Self.allCases where value.rawValue.isWritten(as: text) {
            self = value
            return
        }
        throw WrittenJSON.Mismatch()
    }
}

extension String {
    /// Whether these bytes are the text. Creates no string from them.
    func isWritten(as bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard utf8.count == bytes.count else { return false }
        var text = self
        return text.withUTF8 { text in
            var place = 0
            while place < text.count, text[place] == bytes[place] { place += 1 }
            return place == text.count
        }
    }
}

extension String: FormValue {
    package init(form node: JSONNode, _ field: String) throws(FormError) {
        guard let text = node.string else { throw .wrongType(field: field) }
        self = text
    }

    package init(written json: inout WrittenJSON) throws(WrittenJSON.Mismatch) {
        self = try json.string()
    }

    package func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension Bool: FormValue {
    package init(form node: JSONNode, _ field: String) throws(FormError) {
        guard let flag = node.bool else { throw .wrongType(field: field) }
        self = flag
    }

    package init(written json: inout WrittenJSON) throws(WrittenJSON.Mismatch) {
        self = try json.bool()
    }

    package func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension Int64: FormValue {
    package init(form node: JSONNode, _ field: String) throws(FormError) {
        guard let number = node.int64 else { throw .wrongType(field: field) }
        self = number
    }

    package init(written json: inout WrittenJSON) throws(WrittenJSON.Mismatch) {
        self = try json.int64()
    }

    package func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension Int: FormValue {
    package init(form node: JSONNode, _ field: String) throws(FormError) {
        self = Int(try Int64(form: node, field))
    }

    package func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension Double: FormValue {
    package init(form node: JSONNode, _ field: String) throws(FormError) {
        guard let number = node.double else { throw .wrongType(field: field) }
        self = number
    }

    package func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension Instant: FormValue {
    package init(form node: JSONNode, _ field: String) throws(FormError) {
        // Reads in place, because most of a stored fact is instants.
        guard let text = node.utf8 else { throw .wrongType(field: field) }
        guard let instant = Instant(rfc3339: text) else {
            throw .unknownWord(field: field, value: String(decoding: text, as: UTF8.self))
        }
        self = instant
    }

    package init(written json: inout WrittenJSON) throws(WrittenJSON.Mismatch) {
        let text =
            if let text = json.utf8(count: Instant.writtenCount) { text } else { try json.utf8() }
        guard let instant = Instant(rfc3339: text) else { throw WrittenJSON.Mismatch() }
        self = instant
    }

    package func write(to writer: inout JSONWriter) {
        withRFC3339 { writer.value(unescaped: $0) }
    }
}

extension Array: FormValue where Element: FormValue {
    package init(form node: JSONNode, _ field: String) throws(FormError) {
        guard node.kind == .array else { throw .wrongType(field: field) }
        self = []
        for element in node.elements { append(try Element(form: element, field)) }
    }

    package init(written json: inout WrittenJSON) throws(WrittenJSON.Mismatch) {
        try json.beginArray()
        self = []
        while try !json.endsArray() { append(try Element(written: &json)) }
    }

    package func write(to writer: inout JSONWriter) {
        writer.array { writer in for element in self { element.write(to: &writer) } }
    }
}

/// A value as its JSON text, of whatever kind it is.
package struct FormSource: FormValue {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package init(form node: JSONNode, _: String) {
        bytes = Array(node.source)
    }

    package func write(to writer: inout JSONWriter) { writer.raw(bytes) }
}

/// Nil is null.
extension Optional: FormValue where Wrapped: FormValue {
    package init(form node: JSONNode, _ field: String) throws(FormError) {
        self = node.isNull ? nil : try Wrapped(form: node, field)
    }

    package func write(to writer: inout JSONWriter) {
        if let self { self.write(to: &writer) } else { writer.null() }
    }
}

extension Period: FormText {
    package init?(formText: String) { self.init(iso8601: formText) }

    package var formText: String { iso8601 }
}

extension Milliseconds: FormText {
    package init?(formText: String) { self.init(text: formText) }

    package var formText: String { text }
}

extension CustomerID: FormText {
    package init?(formText: String) { self.init(formText) }

    package var formText: String { text }
}

// MARK: - Writing without reading

extension JSONWriter {
    mutating func field(_ key: String, _ instant: Instant?) {
        self.key(key)
        if let instant { instant.write(to: &self) } else { null() }
    }

    /// Writes a field; writes nothing for nil, because stored forms omit missing values.
    mutating func said(_ key: String, _ text: String?) {
        if let text { field(key, text) }
    }

    mutating func said(_ key: String, _ instant: Instant?) {
        derived(key, instant)
    }

    mutating func said(_ key: String, _ flag: Bool?) {
        if let flag { field(key, flag) }
    }

    mutating func said(_ key: String, _ number: Int64?) {
        if let number { field(key, number) }
    }

    mutating func said(_ key: String, _ money: Money?) {
        derived(key, money)
    }
}
