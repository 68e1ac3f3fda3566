import Testing
import TideoverJSON

struct WriterTests {
    private func text(
        pretty: Bool = false,
        _ body: (inout JSONWriter) throws -> Void
    ) rethrows -> String {
        var writer = JSONWriter(pretty: pretty)
        try body(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func story(_ writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("text", "a\"b")
            writer.field("integer", 42)
            writer.field("wide", Int64.min)
            writer.field("double", 0.1)
            writer.field("flag", false)
            writer.field("none", nil as String?)
            writer.field("value", ["x": [1, nil]])
            writer.field("object", object: { $0.field("inner", true) })
            writer.field(
                "list",
                array: { list in
                    list.value("one")
                    list.value(2)
                    list.value(2.5)
                    list.value(true)
                    list.null()
                    list.raw("{\"raw\":1}".utf8)
                    list.array { _ in }
                    list.object { _ in }
                }
            )
            writer.key("last")
            writer.value(JSONValue.object([:]))
        }
    }

    @Test func `what needs an escape is found at each position`() throws {
        let escaped = (0..<0x20).map { Character(UnicodeScalar($0)) } + ["\"", "\\"]
        for neighbour in ["x", "é", "\u{7F}", "\u{10FFFF}"] {
            for length in [0..<20, 28..<33, 60..<66].joined() {
                for character in escaped {
                    let around = String(repeating: neighbour, count: length)
                    let value = around + String(character) + around
                    let written = text { $0.value(value) }
                    #expect(try JSONDocument(written).root.string == value)
                    #expect(written.utf8.allSatisfy { $0 >= 0x20 })
                }
                let plain = String(repeating: neighbour, count: length)
                #expect(text { $0.value(plain) } == "\"\(plain)\"")
            }
        }
    }

    /// The writer looks at several bytes at once, at the end again at some of those before.
    @Test func `each byte of a text is written as it is or escaped, at each position`() {
        func written(_ byte: Int) -> String {
            switch byte {
            case 0x08: #"\b"#
            case 0x09: #"\t"#
            case 0x0A: #"\n"#
            case 0x0C: #"\f"#
            case 0x0D: #"\r"#
            case 0x22: #"\""#
            case 0x5C: #"\\"#
            case 0..<0x10: #"\u000"# + String(byte, radix: 16)
            case 0..<0x20: #"\u00"# + String(byte, radix: 16)
            default: String(UnicodeScalar(UInt8(byte)))
            }
        }
        for length in [1..<19, 31..<34, 47..<50].joined() {
            for place in 0..<length {
                let before = String(repeating: "!", count: place)
                let after = String(repeating: "]", count: length - place - 1)
                for byte in 0..<0x80 {
                    let value = before + String(UnicodeScalar(UInt8(byte))) + after
                    let expected = "\"\(before)\(written(byte))\(after)\""
                    guard text({ $0.value(value) }) != expected else { continue }
                    Issue.record("\(byte) at \(place) of \(length)")
                }
            }
        }
    }

    /// Each sequence of UTF-8 passes the ends of the blocks.
    @Test(
        arguments: [
            "\u{80}", "\u{9F}", "\u{A2}", "\u{DC}", "\u{7FF}", "\u{2028}", "\u{2029}", "\u{FEFF}",
            "\u{D7FF}", "\u{E000}", "\u{FFFD}", "\u{FFFF}", "\u{10000}", "\u{1F600}", "\u{10FFFF}",
        ]
    )
    func `beyond ASCII everything is written as it is`(character: String) {
        for length in 0..<70 {
            let around = String(repeating: "~", count: length)
            for value in [around + character, character + around, around + character + around] {
                #expect(text { $0.value(value) } == "\"\(value)\"")
                #expect(text { $0.value(value + "\\") } == "\"\(value)\\\\\"")
                #expect(
                    text { $0.object { $0.field(value, true) } } == "{\"\(value)\":true}"
                )
            }
        }
    }

    @Test func `a part of a text is written too, from any address`() {
        let large = String(repeating: "0123456789abcdef", count: 20)
        for start in 0..<17 {
            for length in 0..<50 {
                let part = large.utf8.dropFirst(start).prefix(length)
                let value = String(Substring(part))
                #expect(text { $0.value(value) } == "\"\(value)\"")
                #expect(text { $0.raw(part) } == value)
                #expect(text { $0.raw(part.lazy.map { $0 }) } == value)
            }
        }
    }

    @Test func `a copy of a writer goes on by itself`() {
        var writer = JSONWriter()
        writer.array { list in
            list.value("a")
            var copy = list
            for _ in 0..<300 { copy.value("b") }
            list.value("c")
            #expect(copy.bytes.count == 4 + 300 * 4)
        }
        #expect(writer.bytes == Array(#"["a","c"]"#.utf8))
    }

    @Test func `a document of any length is whole`() {
        for length in [0..<4, 470..<490, 950..<970, 1_900..<1_930, 9_999..<10_001].joined() {
            let long = String(repeating: "x", count: length)
            #expect(text { $0.value(long) } == "\"\(long)\"")
            #expect(text { $0.value(long + "\n") } == "\"\(long)\\n\"")
            let items = Array(repeating: "1", count: length)
            #expect(
                text { writer in writer.array { list in for _ in items { list.value(1) } } }
                    == "[\(items.joined(separator: ","))]"
            )
            let rest = text { writer in
                writer.object { writer in
                    writer.key(long)
                    writer.raw(items.joined().utf8)
                    writer.field("b", ["a": nil])
                }
            }
            #expect(rest == "{\"\(long)\":\(items.joined()),\"b\":{\"a\":null}}")
        }
    }

    @Test func `what is written so far stays when more is written`() {
        var writer = JSONWriter()
        writer.array { list in
            list.value("a")
            let before = list.bytes
            for _ in 0..<500 { list.value("b") }
            #expect(before == Array("[\"a\"".utf8))
        }
        #expect(writer.bytes.count == 5 + 500 * 4)
    }

    @Test func `a compact document is one line`() {
        #expect(
            text(story)
                == #"{"text":"a\"b","integer":42,"wide":-9223372036854775808,"double":0.1,"#
                + #""flag":false,"none":null,"value":{"x":[1,null]},"object":{"inner":true},"#
                + #""list":["one",2,2.5,true,null,{"raw":1},[],{}],"last":{}}"#
        )
    }

    @Test func `a pretty document is indented`() {
        #expect(
            text(pretty: true, story) == #"""
                {
                  "text": "a\"b",
                  "integer": 42,
                  "wide": -9223372036854775808,
                  "double": 0.1,
                  "flag": false,
                  "none": null,
                  "value": {
                    "x": [
                      1,
                      null
                    ]
                  },
                  "object": {
                    "inner": true
                  },
                  "list": [
                    "one",
                    2,
                    2.5,
                    true,
                    null,
                    {"raw":1},
                    [],
                    {}
                  ],
                  "last": {}
                }
                """#
        )
    }

    @Test func `only the required characters are escaped`() {
        let controls = String(
            String.UnicodeScalarView((0..<0x20).compactMap { Unicode.Scalar($0) })
        )
        #expect(
            text { $0.value(controls) }
                == #""\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\b\t\n\u000b\f\r\u000e\u000f"#
                + #"\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001a\u001b"#
                + #"\u001c\u001d\u001e\u001f""#
        )
        #expect(text { $0.value("\"\\/") } == #""\"\\/""#)
        let plain = "\u{7F}é\u{2028}\u{2029}😀'<>&"
        #expect(text { $0.value(plain) } == "\"\(plain)\"")
        #expect(text { $0.object { $0.field("a\nb", "") } } == #"{"a\nb":""}"#)
    }

    @Test func `a double survives writing and reading`() throws {
        let doubles = [
            0, -0.0, 1, 0.1, 1e15, 1e16, 1e21, 1e22, 1e23, 0x1p-1074, 2.2250738585072014e-308,
            Double.greatestFiniteMagnitude, 123456.789, 1e-7, .pi,
        ]
        for double in doubles {
            let read = try JSONDocument(text { $0.value(double) }).root.double
            #expect(read?.bitPattern == double.bitPattern)
        }
    }

    @Test func `each kind of value can be the root`() {
        #expect(text { $0.value("x") } == "\"x\"")
        #expect(text { $0.value(-5) } == "-5")
        #expect(text { $0.value(1.0) } == "1.0")
        #expect(text { $0.null() } == "null")
        #expect(text(pretty: true) { $0.object { _ in } } == "{}")
        #expect(text(pretty: true) { $0.array { _ in } } == "[]")
    }

    @Test func `an error of the closure reaches the caller with its type`() {
        struct Stopped: Error {}
        var writer = JSONWriter()
        #expect(throws: Stopped.self) {
            try writer.object { writer throws(Stopped) in
                writer.field("a", 1)
                throw Stopped()
            }
        }
    }

    @Test func `invalid calls of the writer stop the process`() async {
        await #expect(processExitsWith: .failure) {
            var writer = JSONWriter()
            writer.value(Double.nan)
        }
        await #expect(processExitsWith: .failure) {
            var writer = JSONWriter()
            writer.value(1)
            writer.value(2)
        }
        await #expect(processExitsWith: .failure) {
            var writer = JSONWriter()
            writer.object { $0.value(1) }
        }
        await #expect(processExitsWith: .failure) {
            var writer = JSONWriter()
            writer.object { $0.key("a") }
        }
        await #expect(processExitsWith: .failure) {
            var writer = JSONWriter()
            writer.array { $0.key("a") }
        }
    }
}
