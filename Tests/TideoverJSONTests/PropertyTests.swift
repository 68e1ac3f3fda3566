import Foundation
import Testing
import TideoverJSON

/// A random generator that is fully determined by its seed.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

/// Random documents, and random damage to them.
struct RandomDocuments {
    var generator: SplitMix

    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }

    mutating func value(depth: Int = 0) -> JSONValue {
        switch below(depth < 6 ? 9 : 6) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &generator))
        case 2: return .integer(Int64(bitPattern: generator.next() >> below(64)))
        case 3: return .double(double())
        case 4, 5: return .string(string())
        case 6: return .array((0..<below(6)).map { _ in value(depth: depth + 1) })
        default: return .object(object(depth: depth))
        }
    }

    private mutating func object(depth: Int) -> JSONObject {
        var object = JSONObject()
        for _ in 0..<below(below(20) == 0 ? 60 : 6) { object[string()] = value(depth: depth + 1) }
        return object
    }

    private mutating func double() -> Double {
        let double = Double(bitPattern: generator.next())
        if double.isFinite { return double }
        return Double(below(1000)) / 8
    }

    private mutating func string() -> String {
        var text = ""
        for _ in 0..<below(below(8) == 0 ? 40 : 8) { text.unicodeScalars.append(scalar()) }
        return text
    }

    private mutating func scalar() -> Unicode.Scalar {
        let bound: UInt32 = [0x20, 0x80, 0x80, 0x80, 0x800, 0x3000, 0x11_0000][below(7)]
        let code = UInt32.random(in: 0..<bound, using: &generator)
        return Unicode.Scalar(code) ?? "\u{FFFD}"
    }

    private static let pieces = [
        "\"", "\\", "\\u", "\\ud83d\\ude00", "\\ud800", "{", "}", "[", "]", ",", ":", "0", "-",
        "1e5", "e", ".", "true", "null", " ", "\n", "\u{0}", "'", "//", "/*", "*/", "é", "😀",
        "\"a\":1,", "a:1,", "[[[[[[[[", "1e400",
    ].map { Array($0.utf8) }

    mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0...below(4) {
            let place = below(bytes.count + 1)
            switch below(5) {
            case 0: bytes.removeSubrange(place..<min(place + 1 + below(4), bytes.count))
            case 1: bytes.removeSubrange(place...)
            case 2: bytes.insert(contentsOf: Self.pieces[below(Self.pieces.count)], at: place)
            case 3: bytes.insert(UInt8(below(256)), at: place)
            default: bytes.insert(contentsOf: bytes[below(place + 1)..<place].prefix(50), at: place)
            }
        }
        return bytes
    }
}

/// Properties of all documents; `TIDEOVER_SEED` repeats a run.
struct PropertyTests {
    let seed: UInt64
    var documents: RandomDocuments

    init() {
        let given = ProcessInfo.processInfo.environment["TIDEOVER_SEED"].flatMap { UInt64($0) }
        seed = given ?? UInt64.random(in: 0..<1_000_000)
        documents = RandomDocuments(generator: SplitMix(seed: seed))
        print("TIDEOVER_SEED=\(seed)")
    }

    @Test mutating func `a value survives writing and reading`() throws {
        for _ in 0..<400 {
            let value = documents.value()
            for pretty in [false, true] {
                let bytes = value.encoded(pretty: pretty)
                let document = try JSONDocument(bytes, limits: .local)
                #expect(JSONValue(document.root) == value, "seed \(seed)")
                #expect(JSONValue(document.root).encoded(pretty: pretty) == bytes, "seed \(seed)")
            }
        }
    }

    @Test mutating func `a damaged document is refused or read as another valid document`() {
        for _ in 0..<4000 {
            let bytes = documents.damaged(documents.value().encoded())
            for syntax in [JSONDocument.Syntax.strict, .relaxed] {
                guard let document = try? JSONDocument(bytes, syntax: syntax) else { continue }
                let value = JSONValue(document.root)
                let again = try? JSONDocument(value.encoded())
                #expect(again.map { JSONValue($0.root) } == value, "seed \(seed)")
                visit(document.root)
            }
        }
    }

    @Test mutating func `a refusal has a position within the document`() async {
        for _ in 0..<2000 {
            await Task.yield()
            let bytes = documents.damaged(documents.value().encoded(pretty: true))
            guard let refused = refusal(of: bytes, syntax: .relaxed) else { continue }
            #expect((0...bytes.count).contains(refused.offset), "seed \(seed)")
            let before = bytes[..<refused.offset]
            let lines = before.split(separator: 0x0A, omittingEmptySubsequences: false)
            if !before.contains(0x0D) { #expect(refused.line == lines.count, "seed \(seed)") }
        }
    }

    @Test mutating func `an integer is exact wherever its decimal point is`() async throws {
        for _ in 0..<2000 {
            await Task.yield()
            let integer = Int64(bitPattern: documents.generator.next() >> documents.below(64))
            let digits = String(integer.magnitude)
            let sign = integer < 0 ? "-" : ""
            let zeros = String(repeating: "0", count: integer == 0 ? 0 : documents.below(5))
            let cut = documents.below(digits.count) + 1
            let fraction = digits.dropFirst(cut) + zeros + "0"
            let exponent = digits.count - cut
            let text = "\(sign)\(digits.prefix(cut)).\(fraction)e\(exponent)"
            #expect(try JSONDocument(text).root.int64 == integer, "seed \(seed): \(text)")
            let shifted = "\(sign)\(digits)\(zeros)e-\(zeros.count)"
            #expect(try JSONDocument(shifted).root.int64 == integer, "seed \(seed): \(shifted)")
        }
    }

    @Test mutating func `damaged base64 is refused or decodes to other bytes`() {
        for _ in 0..<4000 {
            let bytes = (0..<documents.below(40)).map { _ in UInt8(documents.below(256)) }
            for alphabet in [Base64.Alphabet.standard, .urlSafe] {
                let text = documents.damaged(Base64.encode(bytes, alphabet))
                guard let decoded = Base64.decode(text, alphabet) else { continue }
                #expect(Base64.encode(decoded, alphabet) == text, "seed \(seed)")
            }
        }
    }

    /// Reads all properties of a node and its contents.
    private func visit(_ node: JSONNode) {
        _ = (node.string, node.utf8, node.int64, node.double, node.bool, node.source, node.key)
        #expect(node.position.line > 0)
        for element in node.elements { visit(element) }
        for member in node.members {
            #expect(node[member.key]?.offset == member.value.offset, "seed \(seed)")
            visit(member.value)
        }
    }
}
