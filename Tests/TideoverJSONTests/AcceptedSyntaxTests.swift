import Testing
import TideoverJSON

/// Documents that RFC 8259 allows, written for each production of its grammar.
struct AcceptedSyntaxTests {
    static let documents: [(String, JSONValue)] = [
        // Section 2: each kind of value can be the whole document, within any white space.
        ("null", nil), ("true", true), ("false", false), ("7", 7), ("\"\"", ""), ("[]", []),
        ("{}", [:]), (" \t\r\nnull\n\r\t ", nil), ("\t[\n]\r", []), (" { } ", [:]),
        ("\n{ \"a\"\t:\r1 , \"b\" : [ 2 ,3 ] }\n", ["a": 1, "b": [2, 3]]),
        // Sections 4 and 5: members and elements.
        ("[null,true,false,0,\"\",[],{}]", [nil, true, false, 0, "", [], [:]]),
        ("[[[[1]],2],3]", [[[[1]], 2], 3]), ("[[],[[]],[[],[]]]", [[], [[]], [[], []]]),
        ("{\"\":0}", ["": 0]), ("{\"a\":{\"a\":{\"a\":{}}}}", ["a": ["a": ["a": [:]]]]),
        ("{\"a\":1,\"A\":2,\"a \":3}", ["a": 1, "A": 2, "a ": 3]),
        ("{\"null\":null,\"true\":true}", ["null": nil, "true": true]),
        (#"{"\u0000":1,"\"":2,"\\":3}"#, ["\u{0}": 1, "\"": 2, "\\": 3]),
        (#"{"b":[{"c":"]}"}],"a":"[{"}"#, ["a": "[{", "b": [["c": "]}"]]]),
        // Section 6: numbers.
        ("-0", 0), ("-1", -1), ("[10,100,-20]", [10, 100, -20]), ("0.0", 0.0), ("-0.5", -0.5),
        ("0e1", 0.0), ("0E+1", 0.0), ("0e-1", 0.0), ("1e2", 100.0), ("1E2", 100.0),
        ("1e+2", 100.0), ("1E-2", 0.01), ("1.25e1", 12.5), ("-3.5E+03", -3500.0),
        ("1e00", 1.0), ("0.000000001", 1e-9), ("1e-400", 0.0),
        ("[9007199254740993,-9223372036854775808]", [9_007_199_254_740_993, .integer(.min)]),
        ("18446744073709551616", .double(0x1p64)), ("-18446744073709551616", .double(-0x1p64)),
        // Section 7: strings.
        (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\\n""#, "\\n"), (#""\\\\""#, "\\\\"),
        ("\"/ ' // /* */ # $ {} [] , :\"", "/ ' // /* */ # $ {} [] , :"),
        (#""\u0061\u00E9\u20ac""#, "aé€"), (#""\u00411""#, "A1"), ("\"\u{7F}\"", "\u{7F}"),
        (#""\uD834\uDD1E\ud834\udd1e""#, "\u{1D11E}\u{1D11E}"), ("\"\u{1D11E}\"", "\u{1D11E}"),
        (#""\uDBFF\uDFFF \uD800\uDC00""#, "\u{10FFFF} \u{10000}"),
        (#""\uFFFF\uE000""#, "\u{FFFF}\u{E000}"),
        ("\"\u{2028}\u{2029}\u{FEFF}\u{85}\"", "\u{2028}\u{2029}\u{FEFF}\u{85}"),
        (#""\u2028\uFEFF""#, "\u{2028}\u{FEFF}"), (#""e\u0301""#, "e\u{301}"),
    ]

    @Test(arguments: documents)
    func `a document has its value in both syntaxes`(text: String, expected: JSONValue) throws {
        #expect(try value(of: text) == expected)
        #expect(try value(of: text, syntax: .relaxed) == expected)
    }

    @Test(arguments: documents, [false, true])
    func `a document passes the writer unchanged`(
        document: (String, JSONValue),
        pretty: Bool
    ) throws {
        let written = document.1.encoded(pretty: pretty)
        #expect(JSONValue(try JSONDocument(written).root) == document.1)
    }

    @Test(arguments: documents)
    func `a document cut short is refused, unless a number remains`(
        text: String,
        expected: JSONValue
    ) {
        let text = text.trimmingSuffix { $0.isWhitespace }
        for count in 0..<text.utf8.count {
            let cut = Array(text.utf8.prefix(count))
            let isAccepted = refusal(of: cut) == nil
            #expect(!isAccepted || expected.double != nil, "\(text.prefix(count))")
        }
    }
}

extension StringProtocol {
    fileprivate func trimmingSuffix(while isOmitted: (Character) -> Bool) -> SubSequence {
        var rest = self[...]
        while let last = rest.last, isOmitted(last) { rest.removeLast() }
        return rest
    }
}
