import TideoverJSON

extension Fuzzer {
    static let strictJSON = Fuzzer(
        "json",
        promise: """
            a document is accepted if and only if a second reader accepts it, both read the same, \
            Foundation reads it alike, and what is written of it reads as it
            """,
        maximumByteCount: 4096,
        seeds: { JSONSeeds.strict.map { Array($0.utf8) } },
        words: JSONSeeds.words,
        mutate: Mutations.json,
        check: JSONChecks.strict
    )

    static let relaxedJSON = Fuzzer(
        "relaxed-json",
        promise: """
            what is strict JSON reads alike in the relaxed mode of configuration files, and whatever \
            that mode accepts is strict JSON once written
            """,
        maximumByteCount: 4096,
        seeds: { (JSONSeeds.strict + JSONSeeds.relaxed).map { Array($0.utf8) } },
        words: JSONSeeds.words + ["//", "/*", "*/", "'", "\\'", ",]", ",}", "$a"],
        check: JSONChecks.relaxed
    )
}

private enum JSONChecks {
    @Sendable static func strict(_ input: [UInt8]) {
        let limits = JSONLimits.inbound
        let plain = PlainJSON.read(input, depth: limits.maxDepth)
        let document: JSONDocument
        do {
            document = try JSONDocument(input)
        } catch {
            expect(plain == nil, "refused, but the second reader accepts it: \(error)")
            expect(error.offset <= input.count, "a fault past the end: \(error)")
            return
        }
        guard let plain else { Failure.stop("accepted, but the second reader refuses it") }
        expect(Agreement.holds(document.root, plain), "the second reader reads something else")
        let other = unfailing("Foundation refuses it") { try Agreement.foundation(input) }
        expect(
            Agreement.holds(document.root, foundation: other),
            "Foundation reads something else"
        )
        written(JSONValue(document.root))
    }

    @Sendable static func relaxed(_ input: [UInt8]) {
        let strict = try? JSONDocument(input, limits: .local)
        let document: JSONDocument
        do {
            document = try JSONDocument(input, syntax: .relaxed, limits: .local)
        } catch {
            expect(strict == nil, "only the strict mode accepts it: \(error)")
            expect(error.offset <= input.count, "a fault past the end: \(error)")
            return
        }
        let value = JSONValue(document.root)
        if let strict {
            expect(JSONValue(strict.root) == value, "the relaxed mode reads something else")
        }
        for node in [document.root] + Array(document.root.elements) {
            let place = node.position
            expect(place.line >= 1 && place.column >= 1, "a value before the first line")
        }
        written(value)
    }

    /// The written text of a value must parse to the same value, and be written identically again.
    private static func written(_ value: JSONValue) {
        for pretty in [false, true] {
            let text = value.encoded(pretty: pretty)
            let again = unfailing("what was written is refused") {
                JSONValue(try JSONDocument(text, limits: .local).root)
            }
            expect(again == value, "what was written reads as something else")
            expect(again.encoded(pretty: pretty) == text, "it is written in two ways")
        }
    }
}

enum JSONSeeds {
    static let strict = [
        "null", " true ", "-0.5e-3", "[]", "{}", #""a\u00e9\ud83d\ude00\n""#,
        #"{"a":[1,2.5,{"b":null}],"c":"\\\"\/"}"#, "[9223372036854775807,-9223372036854775808]",
        "1e308", "[1E+2,0,-0]", "\"é😀\"", #"{"":{"":{"":[]}}}"#,
        String(repeating: "[", count: 32) + String(repeating: "]", count: 32),
    ]

    static let relaxed = [
        "// a comment\n{apps: [{id: 'cards', names: [\"a\", 'b',], },], /* more */ $x_1: -1,}",
        "{\"a\": 'it''s', b: \"'\"}",
    ]

    static let words = [
        "null", "true", "false", "{\"a\":", "[[", "]]", "\\u0000", "\\ud800", "\\udc00",
        "\\ud83d\\ude00",
        "e+1", "E-9", "1e308", "1.7976931348623159e308", "-0", ".0", "9223372036854775808",
        "\u{FEFF}", "\u{2028}", "\r\n", "\u{0}",
    ]
}
