import Testing
import TideoverJSON

struct RelaxedSyntaxTests {
    @Test func `a configuration with comments and trailing commas is read`() throws {
        let text = """
            // what we listen on
            {
              server: { listen: '127.0.0.1:8080', }, /* one
              comment over lines */
              "storage": "sqlite:tideover.db", // the file
              apps: [
                { id: "cards", $kind_2: 'it\\'s "quoted"', },
              ],
              null: null, /**/ _x: -1.5e3,
            }
            // the end
            """
        let expected: JSONValue = [
            "server": ["listen": "127.0.0.1:8080"],
            "storage": "sqlite:tideover.db",
            "apps": [["id": "cards", "$kind_2": "it's \"quoted\""]],
            "null": nil, "_x": -1500.0,
        ]
        #expect(try value(of: text, syntax: .relaxed) == expected)
    }

    @Test(arguments: [
        ("{a:1,\n a:2}", "line 2, column 2: the key \"a\" is used twice, first on line 1"),
        ("{a:1,\n 'a':2}", "line 2, column 2: the key \"a\" is used twice, first on line 1"),
        (
            "{a:1,\n \"\\u0061\":2}",
            "line 2, column 2: the key \"a\" is used twice, first on line 1"
        ),
        ("{a:1\n b:2}", "line 2, column 2: a comma or } is expected here"),
        ("[1\n 2]", "line 2, column 2: a comma or ] is expected here"),
        ("{a-b:1}", "line 1, column 3: a colon is expected after the key"),
        (
            "{a:yes}",
            "line 1, column 4: \"yes\" is not a value; quote text, or write true, false or null"
        ),
        ("[1,,]", "line 1, column 4: a value is expected here"),
        ("[,]", "line 1, column 2: a value is expected here"),
        ("{,}", "line 1, column 2: a key is expected here"),
        ("{a:1}}", "line 1, column 6: the document is complete, but more follows"),
        ("{\n /* open", "line 2, column 2: this comment is never closed"),
        ("[1] /*/", "line 1, column 5: this comment is never closed"),
        ("[1] / 2", "line 1, column 5: a value is expected here"),
        ("// nothing", "line 1, column 1: the document is empty"),
        (
            "{a:'x\n'}",
            "line 1, column 6: a string cannot contain a line break; check its closing quote"
        ),
        (
            "{a:\"x\n\"}",
            "line 1, column 6: a string cannot contain a line break; check its closing quote"
        ),
        ("{a:'x", "line 1, column 4: this string has no closing quote"),
        ("{a:1,", "line 1, column 6: the document ends before it is complete"),
        ("{a:'\\d'}", "line 1, column 5: this backslash starts no known escape"),
        ("{a:007}", "line 1, column 4: a number cannot start with 0 before other digits"),
    ])
    func `a syntax error has its position`(text: String, words: String) {
        #expect(refusal(of: text, syntax: .relaxed)?.description == words)
    }

    @Test(arguments: ["+1", ".5", "0x1F", "1.", "Infinity", "NaN", "'a\\\nb'", "{é:1}", "\u{A0}1"])
    func `other JSON5 syntax is refused`(text: String) {
        #expect(refusal(of: text, syntax: .relaxed) != nil)
    }

    @Test func `the other quote character is plain text within a string`() throws {
        #expect(try value(of: "'a\"b'", syntax: .relaxed) == "a\"b")
        #expect(try value(of: "\"a'b\"", syntax: .relaxed) == "a'b")
        #expect(try value(of: "\"\\'\"", syntax: .relaxed) == "'")
    }

    @Test func `the limits apply to relaxed syntax too`() {
        #expect(refusal(of: nested(33), syntax: .relaxed)?.reason == .tooDeep(limit: 32))
        let comments = String(repeating: "/**/", count: 65_536)
        #expect(
            refusal(of: comments + "1", syntax: .relaxed)?.reason == .tooLarge(limit: 262_144)
        )
    }
}
