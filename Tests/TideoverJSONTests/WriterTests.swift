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
