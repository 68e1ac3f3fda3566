import TideoverJSON

/// Writes values as JSON for a saved state. Members are sorted by name, so that the same state
/// always gives the same bytes. Unsigned numbers are written by their bits.
enum StateEncoder {
    static func encode(_ value: some Encodable) throws -> JSONValue {
        let slot = StateSlot()
        try value.encode(to: SlotEncoder(slot: slot, codingPath: []))
        return slot.json
    }
}

/// A location for output.
private final class StateSlot {
    private enum Content {
        case single(JSONValue)
        case object([String: StateSlot])
        case array([StateSlot])
    }

    private var content: Content = .single(.null)

    var json: JSONValue {
        switch content {
        case .single(let value): return value
        case .array(let slots): return .array(slots.map(\.json))
        case .object(let members):
            var object: JSONObject = [:]
            for (name, slot) in members.sorted(by: { $0.key < $1.key }) { object[name] = slot.json }
            return .object(object)
        }
    }

    func set(_ value: JSONValue) { content = .single(value) }

    func becomeObject() {
        if case .object = content { return }
        content = .object([:])
    }

    func becomeArray() {
        if case .array = content { return }
        content = .array([])
    }

    var count: Int {
        if case .array(let slots) = content { slots.count } else { 0 }
    }

    func member(_ name: String) -> StateSlot {
        guard case .object(var members) = content else { preconditionFailure("this is an object") }
        let slot = StateSlot()
        members[name] = slot
        content = .object(members)
        return slot
    }

    func element() -> StateSlot {
        guard case .array(var slots) = content else { preconditionFailure("this is an array") }
        let slot = StateSlot()
        slots.append(slot)
        content = .array(slots)
        return slot
    }
}

private struct SlotEncoder: Encoder {
    let slot: StateSlot
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        slot.becomeObject()
        return KeyedEncodingContainer(Keyed<Key>(slot: slot, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        slot.becomeArray()
        return Unkeyed(slot: slot, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        Single(slot: slot, codingPath: codingPath)
    }
}

private struct Single: SingleValueEncodingContainer {
    let slot: StateSlot
    let codingPath: [any CodingKey]

    func encodeNil() { slot.set(.null) }
    func encode(_ value: Bool) { slot.set(.bool(value)) }
    func encode(_ value: String) { slot.set(.string(value)) }
    func encode(_ value: Double) { slot.set(.double(value)) }
    func encode(_ value: Float) { slot.set(.double(Double(value))) }
    func encode(_ value: Int) { slot.set(.integer(Int64(value))) }
    func encode(_ value: Int8) { slot.set(.integer(Int64(value))) }
    func encode(_ value: Int16) { slot.set(.integer(Int64(value))) }
    func encode(_ value: Int32) { slot.set(.integer(Int64(value))) }
    func encode(_ value: Int64) { slot.set(.integer(value)) }
    func encode(_ value: UInt) { slot.set(.integer(Int64(bitPattern: UInt64(value)))) }
    func encode(_ value: UInt8) { slot.set(.integer(Int64(value))) }
    func encode(_ value: UInt16) { slot.set(.integer(Int64(value))) }
    func encode(_ value: UInt32) { slot.set(.integer(Int64(value))) }
    func encode(_ value: UInt64) { slot.set(.integer(Int64(bitPattern: value))) }

    func encode(_ value: some Encodable) throws {
        try value.encode(to: SlotEncoder(slot: slot, codingPath: codingPath))
    }
}

private struct Unkeyed: UnkeyedEncodingContainer {
    let slot: StateSlot
    let codingPath: [any CodingKey]
    var count: Int { slot.count }

    func encodeNil() { slot.element().set(.null) }

    func encode(_ value: some Encodable) throws {
        try value.encode(to: SlotEncoder(slot: slot.element(), codingPath: codingPath))
    }

    func nestedContainer<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        SlotEncoder(slot: slot.element(), codingPath: codingPath).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        SlotEncoder(slot: slot.element(), codingPath: codingPath).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        SlotEncoder(slot: slot.element(), codingPath: codingPath)
    }
}

private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let slot: StateSlot
    let codingPath: [any CodingKey]

    private func encoder(_ key: any CodingKey) -> SlotEncoder {
        SlotEncoder(slot: slot.member(key.stringValue), codingPath: codingPath + [key])
    }

    func encodeNil(forKey key: Key) { slot.member(key.stringValue).set(.null) }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        try value.encode(to: encoder(key))
    }

    func nestedContainer<Nested>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        encoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        SlotEncoder(slot: slot.member("super"), codingPath: codingPath)
    }

    func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }
}
