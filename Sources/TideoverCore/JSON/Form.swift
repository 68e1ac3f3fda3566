import TideoverJSON

/// Why a JSON text is not a valid form of one of our values.
public enum FormError: Error, Hashable, Sendable {
    case missing(field: String)
    case wrongType(field: String)
    case unknownWord(field: String, value: String)
}

// MARK: - Reading

extension JSONNode {
    func required<Value>(
        _ field: String,
        _ read: (JSONNode, String) throws(FormError) -> Value
    ) throws(FormError) -> Value {
        guard let node = self[field], !node.isNull else { throw .missing(field: field) }
        return try read(node, field)
    }

    func optional<Value>(
        _ field: String,
        _ read: (JSONNode, String) throws(FormError) -> Value
    ) throws(FormError) -> Value? {
        guard let node = self[field], !node.isNull else { return nil }
        return try read(node, field)
    }
}

/// Readers for the fields of a form.
enum Field {
    static func text(_ node: JSONNode, _ field: String) throws(FormError) -> String {
        guard let text = node.string else { throw .wrongType(field: field) }
        return text
    }

    static func flag(_ node: JSONNode, _ field: String) throws(FormError) -> Bool {
        guard let flag = node.bool else { throw .wrongType(field: field) }
        return flag
    }

    static func integer(_ node: JSONNode, _ field: String) throws(FormError) -> Int64 {
        guard let number = node.int64 else { throw .wrongType(field: field) }
        return number
    }

    static func instant(_ node: JSONNode, _ field: String) throws(FormError) -> Instant {
        // Reads in place, because most of a stored fact is instants.
        guard let text = node.utf8 else { throw .wrongType(field: field) }
        guard let instant = Instant(rfc3339: text) else {
            throw .unknownWord(field: field, value: String(decoding: text, as: UTF8.self))
        }
        return instant
    }

    static func period(_ node: JSONNode, _ field: String) throws(FormError) -> Period {
        try parsed(node, field) { Period(iso8601: $0) }
    }

    static func length(_ node: JSONNode, _ field: String) throws(FormError) -> Milliseconds {
        try parsed(node, field) { Milliseconds(text: $0) }
    }

    static func price(_ node: JSONNode, _ field: String) throws(FormError) -> Money {
        try parsed(node, field) { Money(text: $0) }
    }

    static func billingRetry(
        _ node: JSONNode,
        _ field: String
    ) throws(FormError) -> Policy.BillingRetry {
        try parsed(node, field) { Policy.BillingRetry(text: $0) }
    }

    static func transfer(
        _ node: JSONNode,
        _ field: String
    ) throws(FormError) -> Policy.Transfer {
        try parsed(node, field) { Policy.Transfer(text: $0) }
    }

    static func texts(_ node: JSONNode, _ field: String) throws(FormError) -> [String] {
        guard node.kind == .array else { throw .wrongType(field: field) }
        var texts: [String] = []
        for element in node.elements { texts.append(try text(element, field)) }
        return texts
    }

    static func customer(_ node: JSONNode, _ field: String) throws(FormError) -> CustomerID {
        try parsed(node, field) { CustomerID($0) }
    }

    static func customers(
        _ node: JSONNode,
        _ field: String
    ) throws(FormError) -> [CustomerID] {
        guard node.kind == .array else { throw .wrongType(field: field) }
        var customers: [CustomerID] = []
        for element in node.elements { customers.append(try customer(element, field)) }
        return customers
    }

    static func termKey(_ node: JSONNode, _ field: String) throws(FormError) -> TermKey {
        TermKey(try text(node, field))
    }

    static func open<Observation: NamedOpenEnum>(
        _ node: JSONNode,
        _ field: String
    ) throws(FormError) -> Observation {
        try parsed(node, field) { Observation(word: $0) }
    }

    static func word<Observation: RawRepresentable<String>>(
        _ node: JSONNode,
        _ field: String
    ) throws(FormError) -> Observation {
        try parsed(node, field) { Observation(rawValue: $0) }
    }

    private static func parsed<Value>(
        _ node: JSONNode,
        _ field: String,
        _ parse: (String) -> Value?
    ) throws(FormError) -> Value {
        let text = try text(node, field)
        guard let value = parse(text) else { throw .unknownWord(field: field, value: text) }
        return value
    }
}

// MARK: - Writing

extension JSONWriter {
    mutating func field(_ key: String, _ instant: Instant?) {
        field(key, instant?.rfc3339)
    }

    /// Writes a field; writes nothing for nil, because stored forms omit missing values.
    mutating func said(_ key: String, _ text: String?) {
        if let text { field(key, text) }
    }

    mutating func said(_ key: String, _ instant: Instant?) {
        if let instant { field(key, instant.rfc3339) }
    }

    mutating func said(_ key: String, _ flag: Bool?) {
        if let flag { field(key, flag) }
    }

    mutating func said(_ key: String, _ number: Int64?) {
        if let number { field(key, number) }
    }

    mutating func said(_ key: String, _ money: Money?) {
        guard let money else { return }
        field(
            key,
            object: { writer in
                writer.field("milliunits", money.milliunits)
                writer.field("currency", money.currency)
            }
        )
    }

    mutating func said(_ key: String, _ offer: Offer?) {
        guard let offer else { return }
        field(
            key,
            object: { writer in
                writer.field("kind", offer.kind.word)
                writer.said("discount", offer.discount?.word)
                writer.said("identifier", offer.identifier)
                writer.said("period", offer.period?.iso8601)
            }
        )
    }
}
