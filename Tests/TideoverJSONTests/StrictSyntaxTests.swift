import Testing
import TideoverJSON

struct StrictSyntaxTests {
    struct Fault: CustomTestStringConvertible, Sendable {
        let text: [UInt8]
        let reason: JSONError.Reason
        let offset: Int
        var testDescription: String { String(decoding: text, as: UTF8.self) }

        init(_ text: String, _ reason: JSONError.Reason, at offset: Int) {
            self.init(Array(text.utf8), reason, at: offset)
        }

        init(_ text: [UInt8], _ reason: JSONError.Reason, at offset: Int) {
            (self.text, self.reason, self.offset) = (text, reason, offset)
        }
    }

    static let faults = [
        Fault("", .empty, at: 0),
        Fault(" \r\n\t", .empty, at: 0),
        Fault("\u{FEFF}{}", .byteOrderMark, at: 0),
        Fault("{}\u{FEFF}", .trailingContent, at: 2),
        Fault("\u{A0}1", .expectedValue, at: 0),
        Fault("1 2", .trailingContent, at: 2),
        Fault("[1]]", .trailingContent, at: 3),
        Fault("{}//", .trailingContent, at: 2),
        Fault("tru", .unknownWord("tru"), at: 0),
        Fault("[nullx]", .unknownWord("nullx"), at: 1),
        Fault("True", .unknownWord("True"), at: 0),
        Fault("NaN", .unknownWord("NaN"), at: 0),
        Fault("01", .leadingZero, at: 0),
        Fault("-01", .leadingZero, at: 0),
        Fault("+1", .expectedValue, at: 0),
        Fault(".5", .expectedValue, at: 0),
        Fault("[-]", .missingDigit, at: 2),
        Fault("[1.]", .missingDigit, at: 3),
        Fault("[1e]", .missingDigit, at: 3),
        Fault("[1e+]", .missingDigit, at: 4),
        Fault("-", .unexpectedEnd, at: 1),
        Fault("[0x1]", .expectedCommaOrBracket, at: 2),
        Fault("[1e400]", .numberOutOfRange, at: 1),
        Fault("-1.7976931348623159e308", .numberOutOfRange, at: 0),
        Fault("[1,]", .trailingComma, at: 2),
        Fault("{\"a\":1 , }", .trailingComma, at: 7),
        Fault("[,1]", .expectedValue, at: 1),
        Fault("[1 2]", .expectedCommaOrBracket, at: 3),
        Fault("[1}", .expectedCommaOrBracket, at: 2),
        Fault("{\"a\":1]", .expectedCommaOrBrace, at: 6),
        Fault("{\"a\":1 \"b\":2}", .expectedCommaOrBrace, at: 7),
        Fault("{\"a\" 1}", .expectedColon, at: 5),
        Fault("{\"a\":}", .expectedValue, at: 5),
        Fault("{a:1}", .expectedKey, at: 1),
        Fault("{'a':1}", .expectedKey, at: 1),
        Fault("{1:1}", .expectedKey, at: 1),
        Fault("['a']", .expectedValue, at: 1),
        Fault("[/**/]", .expectedValue, at: 1),
        Fault("[", .unexpectedEnd, at: 1),
        Fault("[1", .unexpectedEnd, at: 2),
        Fault("{\"a\"", .unexpectedEnd, at: 4),
        Fault("{\"a\":", .unexpectedEnd, at: 5),
        Fault("[\"abc", .unterminatedString, at: 1),
        Fault("[\"abc\\", .unterminatedString, at: 1),
        Fault("[\"abc\\\"]", .unterminatedString, at: 1),
        Fault("\"a\nb\"", .controlCharacter(0x0A), at: 2),
        Fault("\"12345678\t\"", .controlCharacter(0x09), at: 9),
        Fault("\"\u{0}\"", .controlCharacter(0), at: 1),
        Fault("\"a\\x\"", .invalidEscape, at: 2),
        Fault("\"\\'\"", .invalidEscape, at: 1),
        Fault("\"\\u12G4\"", .invalidEscape, at: 1),
        Fault("\"\\u12", .invalidEscape, at: 1),
        Fault("\"\\uD800\"", .loneSurrogate, at: 1),
        Fault("\"\\uDC00\"", .loneSurrogate, at: 1),
        Fault("\"\\uD800\\u0041\"", .loneSurrogate, at: 1),
        Fault("\"\\uD800\\uD800\"", .loneSurrogate, at: 1),
        Fault("\"\\uD800\\n\"", .loneSurrogate, at: 1),
        // The same rules at other places of the grammar.
        Fault("]", .expectedValue, at: 0),
        Fault("}", .expectedValue, at: 0),
        Fault(",", .expectedValue, at: 0),
        Fault(":", .expectedValue, at: 0),
        Fault("[:]", .expectedValue, at: 1),
        Fault("[1,,2]", .expectedValue, at: 3),
        Fault("[1:2]", .expectedCommaOrBracket, at: 2),
        Fault("[1;2]", .expectedCommaOrBracket, at: 2),
        Fault("[\"a\" \"b\"]", .expectedCommaOrBracket, at: 5),
        Fault("[1 true]", .expectedCommaOrBracket, at: 3),
        Fault("[[1]", .unexpectedEnd, at: 4),
        Fault("[1,", .unexpectedEnd, at: 3),
        Fault("[[],{}", .unexpectedEnd, at: 6),
        Fault("{", .unexpectedEnd, at: 1),
        Fault("{\"a\":1", .unexpectedEnd, at: 6),
        Fault("{\"a\":1,", .unexpectedEnd, at: 7),
        Fault("{,}", .expectedKey, at: 1),
        Fault("{:1}", .expectedKey, at: 1),
        Fault("{[]:1}", .expectedKey, at: 1),
        Fault("{null:1}", .expectedKey, at: 1),
        Fault("{\"a\":1,,\"b\":2}", .expectedKey, at: 7),
        Fault("{\"a\"}", .expectedColon, at: 4),
        Fault("{\"a\",1}", .expectedColon, at: 4),
        Fault("{\"a\"=1}", .expectedColon, at: 4),
        Fault("{\"a\"::1}", .expectedValue, at: 5),
        Fault("{\"a\":1:2}", .expectedCommaOrBrace, at: 6),
        Fault("{\"a\":\"b\" c}", .expectedCommaOrBrace, at: 9),
        Fault("{}}", .trailingContent, at: 2),
        Fault("null,", .trailingContent, at: 4),
        Fault("\"a\"\"b\"", .trailingContent, at: 3),
        Fault("1\u{0}", .trailingContent, at: 1),
        Fault("[\u{C}1]", .expectedValue, at: 1),
        Fault("[\u{2060}]", .expectedValue, at: 1),
        Fault("[\u{FF11}]", .expectedValue, at: 1),
        Fault("[\u{0}]", .expectedValue, at: 1),
        Fault("- 1", .missingDigit, at: 1),
        Fault("--1", .missingDigit, at: 1),
        Fault("-.5", .missingDigit, at: 1),
        Fault("1.e2", .missingDigit, at: 2),
        Fault("1e-x", .missingDigit, at: 3),
        Fault("[1e1.5]", .expectedCommaOrBracket, at: 4),
        Fault("[1.2.3]", .expectedCommaOrBracket, at: 4),
        Fault("[1_0]", .expectedCommaOrBracket, at: 2),
        Fault("[1-2]", .expectedCommaOrBracket, at: 2),
        Fault("00", .leadingZero, at: 0),
        Fault("[-1e400]", .numberOutOfRange, at: 1),
        Fault("9e99999999999999999999", .numberOutOfRange, at: 0),
        Fault("nul", .unknownWord("nul"), at: 0),
        Fault("[TRUE]", .unknownWord("TRUE"), at: 1),
        Fault("[-Infinity]", .missingDigit, at: 2),
        Fault("\"", .unterminatedString, at: 0),
        Fault("\"\\\"", .unterminatedString, at: 0),
        Fault("{\"a", .unterminatedString, at: 1),
        Fault("\"\u{1F}\"", .controlCharacter(0x1F), at: 1),
        Fault("{\"\t\":1}", .controlCharacter(0x09), at: 2),
        Fault("\"\\\u{0}\"", .invalidEscape, at: 1),
        Fault("\"\\é\"", .invalidEscape, at: 1),
        Fault("\"\\U0041\"", .invalidEscape, at: 1),
        Fault("\"\\u 041\"", .invalidEscape, at: 1),
        Fault("\"\\uD834\\uDD\"", .loneSurrogate, at: 1),
        Fault("{\"\\uDC00\":1}", .loneSurrogate, at: 2),
        Fault("\"\\uDD1E\\uD834\"", .loneSurrogate, at: 1),
        Fault("\"\\uD834 \\uDD1E\"", .loneSurrogate, at: 1),
        // UTF-16 in both orders, without and with its mark.
        Fault([0x5B, 0x00, 0x31, 0x00, 0x5D, 0x00], .expectedValue, at: 1),
        Fault([0x00, 0x5B, 0x00, 0x31, 0x00, 0x5D], .expectedValue, at: 0),
        Fault([0xFF, 0xFE, 0x5B, 0x00, 0x5D, 0x00], .invalidUTF8, at: 0),
        Fault([0xFE, 0xFF, 0x00, 0x5B, 0x00, 0x5D], .invalidUTF8, at: 0),
    ]

    @Test(arguments: faults)
    func `each syntax error has its reason and position`(fault: Fault) {
        let refused = refusal(of: fault.text)
        #expect(refused?.reason == fault.reason)
        #expect(refused?.offset == fault.offset)
    }

    static let brokenUTF8: [[UInt8]] = [
        [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x9F, 0xBF],
        [0xE2, 0x82], [0xE2, 0x28, 0xA1], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
        [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98], [0xF0, 0x9F, 0x28, 0x80],
        [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80],
        [0xFE], [0xFF],
    ]

    @Test(arguments: brokenUTF8, [0, 3, 7, 8, 9])
    func `broken UTF-8 is refused at every position of a string`(bytes: [UInt8], before: Int) {
        let text = [0x22] + [UInt8](repeating: 0x61, count: before) + bytes + [0x22]
        #expect(refusal(of: text)?.reason == .invalidUTF8)
        #expect(refusal(of: text)?.offset == before + 1)
    }

    @Test(arguments: brokenUTF8)
    func `broken UTF-8 is refused outside of strings too`(bytes: [UInt8]) {
        #expect(refusal(of: bytes)?.reason == .invalidUTF8)
        #expect(refusal(of: Array("[1".utf8) + bytes)?.reason == .invalidUTF8)
        let comment = Array("// ".utf8) + bytes + Array("\n1".utf8)
        #expect(refusal(of: comment, syntax: .relaxed)?.reason == .invalidUTF8)
    }

    @Test(arguments: [
        "\u{301}\u{327}\u{316}", "\\u0301\\u0327\\u0316", "\\u0301\u{327}\\u0316",
    ])
    func `more combining marks than any word has are refused`(three: String) {
        let most = "a" + String(repeating: three, count: 10)
        let more = most + three
        #expect(refusal(of: "[\"\(most)\",{\"\(most)b\(most)\":1}]") == nil)
        for (text, offset) in [
            ("[\"\(more)\"]", 1), ("{\"\(more)\":1}", 1), ("[\"\\n\(more)\"]", 1),
            ("[\"\(most)\",\"\(more)\"]", 4 + most.utf8.count),
        ] {
            #expect(refusal(of: text)?.reason == .tooManyMarks)
            #expect(refusal(of: text)?.offset == offset)
        }
    }

    @Test(arguments: [
        "สวัสดีที่นี่ค่ะ", "नमस्ते क्ष्म्य", "בְּרֵאשִׁ֖ית בָּרָ֣א", "👩🏽‍👩🏽‍👧🏽‍👦🏽🇫🇷☝️",
        "Tie\u{302}\u{301}ng Vie\u{323}\u{302}t", "བསྒྲུབས་", "ﷺ بِسْمِ ٱللَّٰهِ",
        "각\u{1100}\u{1161}\u{11A8}",
    ])
    func `long text of every script is accepted`(word: String) throws {
        let text = String(repeating: word, count: 50)
        #expect(try value(of: "\"\(text)\"") == .string(text))
    }

    @Test func `the first and last code points of each UTF-8 length are accepted`() throws {
        let edges = "\u{7F}\u{80}\u{7FF}\u{800}\u{D7FF}\u{E000}\u{FFFF}\u{10000}\u{10FFFF}"
        #expect(try value(of: "\"\(edges)\"") == .string(edges))
    }

    @Test(arguments: 0..<170)
    func `a string ends at its quote, whatever its length`(length: Int) throws {
        let text = String(repeating: "x", count: length)
        #expect(try value(of: "\"\(text)\"").string == text)
        #expect(
            try value(of: "[\"\(text)\\n\", \"\(text)é\"]") == [
                .string(text + "\n"), .string(text + "é"),
            ]
        )
        let broken = "\"\(text)\u{1}\(text)\""
        #expect(refusal(of: broken)?.offset == length + 1)
    }

    @Test func `escapes are decoded`() throws {
        let text = #""\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud83d\uDE00\u0000""#
        #expect(try value(of: text) == "\"\\/\u{8}\u{C}\n\r\tAé€😀\0")
    }

    @Test func `positions are counted in lines and scalars`() {
        let cases: [(String, Int, Int)] = [
            ("[1,\n  2,\n  é😀]", 3, 3), ("[\"é😀\", x]", 1, 8), ("[\r\n\r\n x]", 3, 2),
            ("[\r\r x]", 3, 2), ("[\n\r x]", 3, 2), ("x", 1, 1),
        ]
        for (text, line, column) in cases {
            let refused = refusal(of: text)
            #expect(refused?.line == line, "\(text)")
            #expect(refused?.column == column, "\(text)")
        }
    }

    @Test func `an error message is one line`() {
        #expect(
            refusal(of: "{\n  \"a\": 1,\n  \"a\": 2\n}")?.description
                == "line 3, column 3: the key \"a\" is used twice, first on line 2"
        )
        #expect(
            refusal(of: "[yes]")?.description
                == "line 1, column 2: \"yes\" is not a value; quote text, "
                + "or write true, false or null"
        )
        for fault in Self.faults {
            let words = refusal(of: fault.text)?.description ?? ""
            #expect(!words.contains { $0.isNewline })
            #expect(words.count < 140)
        }
    }

    @Test func `a control character in a key does not break the message's line`() {
        let key = "\u{1B}[2J\n\u{2028}\u{202E}" + String(repeating: "k", count: 5000)
        let written = String(decoding: JSONValue.string(key).encoded(), as: UTF8.self)
        let words = refusal(of: "{\(written):1,\(written):2}")?.description ?? ""
        #expect(words.contains("\u{FFFD}[2J\u{FFFD}\u{FFFD}\u{FFFD}kkk"))
        #expect(words.count < 140)
        #expect(refusal(of: String(repeating: "y", count: 5000))?.description.count ?? 999 < 160)
    }
}
