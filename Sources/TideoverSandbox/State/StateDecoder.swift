import TideoverJSON

/// Reads the output of `StateEncoder`.
enum StateDecoder {
    static func decode<Value: Decodable>(_ type: Value.Type, from json: JSONValue) throws -> Value {
        try Value(from: ValueDecoder(json: json, codingPath: []))
    }
}

private struct ValueDecoder: Decoder {
    let json: JSONValue
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard let object = json.object else { throw mismatch(JSONObject.self, "an object") }
        return KeyedDecodingContainer(Keyed<Key>(object: object, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let array = json.array else { throw mismatch([JSONValue].self, "a list") }
        return Unkeyed(array: array, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        Single(json: json, codingPath: codingPath)
    }

    private func mismatch(_ type: any Any.Type, _ words: String) -> DecodingError {
        let context = DecodingError.Context(
            codingPath: codingPath,
            debugDescription: "this is not \(words)"
        )
        return .typeMismatch(type, context)
    }
}

private struct Single: SingleValueDecodingContainer {
    let json: JSONValue
    let codingPath: [any CodingKey]

    func decodeNil() -> Bool { json.isNull }
    func decode(_ type: Bool.Type) throws -> Bool { try wanted(json.bool) }
    func decode(_ type: String.Type) throws -> String { try wanted(json.string) }
    func decode(_ type: Double.Type) throws -> Double { try wanted(json.double) }
    func decode(_ type: Float.Type) throws -> Float { Float(try wanted(json.double)) }
    func decode(_ type: Int.Type) throws -> Int { try number() }
    func decode(_ type: Int8.Type) throws -> Int8 { try number() }
    func decode(_ type: Int16.Type) throws -> Int16 { try number() }
    func decode(_ type: Int32.Type) throws -> Int32 { try number() }
    func decode(_ type: Int64.Type) throws -> Int64 { try number() }
    func decode(_ type: UInt.Type) throws -> UInt { UInt(try decode(UInt64.self)) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try number() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try number() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try number() }

    func decode(_ type: UInt64.Type) throws -> UInt64 {
        UInt64(bitPattern: try wanted(json.int64))
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try Value(from: ValueDecoder(json: json, codingPath: codingPath))
    }

    private func number<Number: FixedWidthInteger>() throws -> Number {
        try wanted(json.int64.flatMap { Number(exactly: $0) })
    }

    private func wanted<Value>(_ value: Value?) throws -> Value {
        if let value { return value }
        let context = DecodingError.Context(
            codingPath: codingPath,
            debugDescription: "this is no \(Value.self)"
        )
        throw DecodingError.typeMismatch(Value.self, context)
    }
}

private struct Unkeyed: UnkeyedDecodingContainer {
    let array: [JSONValue]
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0

    init(array: [JSONValue], codingPath: [any CodingKey]) {
        self.array = array
        self.codingPath = codingPath
    }

    var count: Int? { array.count }
    var isAtEnd: Bool { currentIndex >= array.count }

    private mutating func next() throws -> ValueDecoder {
        guard !isAtEnd else {
            let context = DecodingError.Context(
                codingPath: codingPath,
                debugDescription: "the list is over"
            )
            throw DecodingError.valueNotFound(JSONValue.self, context)
        }
        defer { currentIndex += 1 }
        return ValueDecoder(json: array[currentIndex], codingPath: codingPath)
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, array[currentIndex].isNull else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try Value(from: try next())
    }

    mutating func nestedContainer<Key>(
        keyedBy type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
        try next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { try next() }
}

private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let object: JSONObject
    let codingPath: [any CodingKey]

    var allKeys: [Key] { object.compactMap { Key(stringValue: $0.key) } }

    func contains(_ key: Key) -> Bool { object[key.stringValue] != nil }

    private func decoder(_ key: any CodingKey) throws -> ValueDecoder {
        guard let json = object[key.stringValue] else {
            let context = DecodingError.Context(
                codingPath: codingPath,
                debugDescription: "\(key.stringValue) is missing"
            )
            throw DecodingError.keyNotFound(key, context)
        }
        return ValueDecoder(json: json, codingPath: codingPath + [key])
    }

    func decodeNil(forKey key: Key) throws -> Bool { try decoder(key).json.isNull }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try Value(from: try decoder(key))
    }

    func nestedContainer<Nested>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try decoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        ValueDecoder(json: .object(object), codingPath: codingPath)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }
}
