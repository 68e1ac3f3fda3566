import Glibc

/// A second, slow parser of strict JSON: RFC 8259 rule by rule, no repeated key in an object, and
/// at most 30 combining marks after each other. It shares no code with the project's scanner.
indirect enum PlainJSON {
    case null
    case bool(Bool)
    /// As written.
    case number(String)
    case string([Unicode.Scalar])
    case array([PlainJSON])
    case object([(key: [Unicode.Scalar], value: PlainJSON)])

    /// Parses a document. Returns nil if it is invalid, or if more than `depth` arrays and objects
    /// are nested.
    static func read(_ bytes: [UInt8], depth: Int) -> PlainJSON? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        var reader = PlainReader(text: Array(text.unicodeScalars), depth: depth)
        return try? reader.document()
    }
}

private struct PlainReader {
    struct Refusal: Error {}

    let text: [Unicode.Scalar]
    /// How many further arrays and objects may be opened.
    var depth: Int
    var place = 0

    var next: Unicode.Scalar? { place < text.count ? text[place] : nil }

    mutating func document() throws -> PlainJSON {
        let value = try element()
        guard next == nil else { throw Refusal() }
        return value
    }

    private mutating func element() throws -> PlainJSON {
        space()
        let value = try value()
        space()
        return value
    }

    private mutating func space() {
        while let scalar = next, " \t\n\r".unicodeScalars.contains(scalar) { place += 1 }
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        place += 1
        return true
    }

    private mutating func value() throws -> PlainJSON {
        switch next {
        case "{": return try opened { try $0.object() }
        case "[": return try opened { try $0.array() }
        case "\"": return .string(try string())
        case "t": return try word("true", .bool(true))
        case "f": return try word("false", .bool(false))
        case "n": return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func opened(
        _ body: (inout PlainReader) throws -> PlainJSON
    ) throws -> PlainJSON {
        guard depth > 0 else { throw Refusal() }
        depth -= 1
        place += 1
        let value = try body(&self)
        depth += 1
        return value
    }

    private mutating func word(_ word: String, _ value: PlainJSON) throws -> PlainJSON {
        for scalar in word.unicodeScalars {
            guard take(scalar) else { throw Refusal() }
        }
        return value
    }

    private mutating func object() throws -> PlainJSON {
        var members: [(key: [Unicode.Scalar], value: PlainJSON)] = []
        var keys: Set<[Unicode.Scalar]> = []
        space()
        if take("}") { return .object([]) }
        repeat {
            space()
            guard next == "\"" else { throw Refusal() }
            let key = try string()
            guard keys.insert(key).inserted else { throw Refusal() }
            space()
            guard take(":") else { throw Refusal() }
            members.append((key, try element()))
        } while take(",")
        guard take("}") else { throw Refusal() }
        return .object(members)
    }

    private mutating func array() throws -> PlainJSON {
        var elements: [PlainJSON] = []
        space()
        if take("]") { return .array([]) }
        repeat { elements.append(try element()) } while take(",")
        guard take("]") else { throw Refusal() }
        return .array(elements)
    }

    private mutating func string() throws -> [Unicode.Scalar] {
        var scalars: [Unicode.Scalar] = []
        place += 1
        while let scalar = next {
            place += 1
            switch scalar {
            case "\"":
                let isMark = scalars.map { $0.properties.canonicalCombiningClass.rawValue > 0 }
                guard isMark.split(separator: false).allSatisfy({ $0.count <= 30 }) else {
                    throw Refusal()
                }
                return scalars
            case "\\": scalars.append(try escape())
            case "\u{0}"..."\u{1F}": throw Refusal()
            default: scalars.append(scalar)
            }
        }
        throw Refusal()
    }

    private mutating func escape() throws -> Unicode.Scalar {
        guard let scalar = next else { throw Refusal() }
        place += 1
        let plain: [Unicode.Scalar: Unicode.Scalar] = [
            "\"": "\"", "\\": "\\", "/": "/", "b": "\u{8}", "f": "\u{C}", "n": "\n", "r": "\r",
            "t": "\t",
        ]
        if let meant = plain[scalar] { return meant }
        guard scalar == "u" else { throw Refusal() }
        let first = try unit()
        guard (0xD800...0xDBFF).contains(first) else { return try Self.scalar(first) }
        guard take("\\"), take("u") else { throw Refusal() }
        let second = try unit()
        guard (0xDC00...0xDFFF).contains(second) else { throw Refusal() }
        return try Self.scalar(0x10000 + (first - 0xD800) * 0x400 + second - 0xDC00)
    }

    private static func scalar(_ code: UInt32) throws -> Unicode.Scalar {
        guard let scalar = Unicode.Scalar(code) else { throw Refusal() }
        return scalar
    }

    private mutating func unit() throws -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = next, digit.isASCII,
                let value = Character(digit).hexDigitValue
            else { throw Refusal() }
            place += 1
            code = code * 16 + UInt32(value)
        }
        return code
    }

    private mutating func number() throws -> String {
        let start = place
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if next == "e" || next == "E" {
            place += 1
            if !take("+") { _ = take("-") }
            try digits()
        }
        let written = String(String.UnicodeScalarView(text[start..<place]))
        // A number beyond the greatest double is rejected.
        guard strtod(written, nil).isFinite else { throw Refusal() }
        return written
    }

    private mutating func digits() throws {
        let start = place
        while let scalar = next, ("0"..."9").contains(scalar) { place += 1 }
        guard place > start else { throw Refusal() }
    }
}
