import TideoverCore

/// A parameter value.
///
/// Parameters travel apart from the text of a statement, with their types, so the server infers
/// nothing from their content.
package enum SQLValue: Sendable {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
    case texts([String])

    static func instant(_ instant: Instant?) -> SQLValue {
        instant.map { .integer($0.millisecondsSince1970) } ?? .null
    }

    static func optional(_ text: String?) -> SQLValue { text.map { .text($0) } ?? .null }

    static func optional(_ bytes: [UInt8]?) -> SQLValue { bytes.map { .bytes($0) } ?? .null }

    static func limit(_ count: Int) -> SQLValue { .integer(Int64(max(0, count))) }
}

/// The parameters of one statement in the form that libpq sends.
struct ParameterBlock {
    private(set) var types: [UInt32] = []
    private(set) var formats: [Int32] = []
    private(set) var lengths: [Int32] = []
    /// The positions of the values in `bytes`; nil for null.
    private var offsets: [Int?] = []
    private var bytes: [UInt8] = []

    /// The object identifiers of the types, which are the same in every PostgreSQL.
    private enum TypeID {
        static let unknown: UInt32 = 0
        static let bytea: UInt32 = 17
        static let bigint: UInt32 = 20
        static let text: UInt32 = 25
        static let texts: UInt32 = 1_009
    }

    private static let asText: Int32 = 0
    private static let asBinary: Int32 = 1

    init(_ values: [SQLValue]) {
        for value in values { add(value) }
    }

    private mutating func add(_ value: SQLValue) {
        switch value {
        case .null:
            types.append(TypeID.unknown)
            formats.append(Self.asText)
            lengths.append(0)
            offsets.append(nil)
        case .integer(let number):
            add(withUnsafeBytes(of: number.bigEndian, Array.init), TypeID.bigint, Self.asBinary)
        case .text(let text): add(StoredText.encode(text), TypeID.text, Self.asText)
        case .bytes(let bytes): add(bytes, TypeID.bytea, Self.asBinary)
        case .texts(let texts): add(Self.literal(texts), TypeID.texts, Self.asText)
        }
    }

    private mutating func add(_ value: [UInt8], _ type: UInt32, _ format: Int32) {
        types.append(type)
        formats.append(format)
        lengths.append(Int32(clamping: value.count))
        offsets.append(bytes.count)
        bytes += value
        // libpq reads a parameter in text format up to a NUL.
        bytes.append(0)
    }

    /// The text of an array: `{"a","b"}`.
    private static func literal(_ texts: [String]) -> [UInt8] {
        let (quote, escape) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
        let quoted = texts.map { text in
            let characters = StoredText.encode(text).flatMap {
                $0 == quote || $0 == escape ? [escape, $0] : [$0]
            }
            return [quote] + characters + [quote]
        }
        return Array("{".utf8) + quoted.joined(separator: ",".utf8) + Array("}".utf8)
    }

    /// Calls `body` with the addresses of the values.
    func withAddresses<Result>(_ body: ([UnsafePointer<CChar>?]) -> Result) -> Result {
        bytes.withUnsafeBytes { buffer in
            body(
                offsets.map { offset in
                    guard let offset, let base = buffer.baseAddress else { return nil }
                    return (base + offset).assumingMemoryBound(to: CChar.self)
                }
            )
        }
    }
}
