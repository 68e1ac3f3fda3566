import Testing
import TideoverJSON

/// Texts as the writer writes them are read without a document, and all others are left to one.
@Suite struct WrittenJSONTests {
    private func number(_ text: String) -> Int64? {
        WrittenJSON.read(Array(text.utf8)) { json throws(WrittenJSON.Mismatch) in try json.int64() }
    }

    private func string(_ text: String) -> String? {
        WrittenJSON.read(Array(text.utf8)) { json throws(WrittenJSON.Mismatch) in
            try json.string()
        }
    }

    private func numbers(_ text: String) -> [Int64]? {
        WrittenJSON.read(Array(text.utf8)) { json throws(WrittenJSON.Mismatch) in
            try json.beginArray()
            var numbers: [Int64] = []
            while try !json.endsArray() { numbers.append(try json.int64()) }
            return numbers
        }
    }

    @Test(arguments: ["0", "7", "-1", "10", "999999999999999999", "-999999999999999999"])
    func `a number that the writer can write is read`(text: String) {
        #expect(number(text) == Int64(text))
    }

    @Test(
        arguments: [
            "", "-", "-0", "00", "01", "-01", "1.0", "1e3", "+1", " 1", "1 ", "1,", "0x1",
            "1000000000000000000", "9223372036854775808", "null", "\"1\"",
        ]
    )
    func `another number is left to a document`(text: String) { #expect(number(text) == nil) }

    @Test(arguments: ["", "a", "eight...", "more than eight bytes", "~ and /"])
    func `a string of plain ASCII is read`(text: String) { #expect(string("\"\(text)\"") == text) }

    @Test(
        arguments: [
            "", "\"", "a", "\"a", "a\"", "\"a\"b\"", "\"a\\n\"", "\"\u{9}\"", "\"\u{FC}\"",
            "\"\u{7F}\u{80}\"", "'a'", " \"a\"",
        ]
    )
    func `another string is left to a document`(text: String) { #expect(string(text) == nil) }

    @Test func `elements follow each other after one comma`() {
        #expect(numbers("[]") == [])
        #expect(numbers("[1]") == [1])
        #expect(numbers("[1,-2,3]") == [1, -2, 3])
        for text in ["", "[", "[1", "[1,", "[,1]", "[1,]", "[1,,2]", "[1 ,2]", "[1, 2]", "[1]]"] {
            #expect(numbers(text) == nil, "\(text)")
        }
    }

    @Test func `members are read by name in their order`() {
        func read(_ text: String) -> [String]? {
            WrittenJSON.read(Array(text.utf8)) { json throws(WrittenJSON.Mismatch) in
                try json.beginObject()
                var found: [String] = []
                for name in ["a", "b", "c"] where json.nextKey(is: name) {
                    found.append("\(name) \(try json.bool())")
                }
                try json.endObject()
                return found
            }
        }
        #expect(read("{}") == [])
        #expect(read(#"{"b":true}"#) == ["b true"])
        #expect(read(#"{"a":true,"c":false}"#) == ["a true", "c false"])
        let others = [
            "{", #"{"d":true}"#, #"{"b":true,"a":true}"#, #"{"a":true,"a":true}"#,
            #"{"a":true,}"#, #"{,"a":true}"#, #"{"a":true"b":true}"#, #"{"a" :true}"#,
            #"{"a": true}"#, #"{"a":truE}"#, #"{"a":null}"#, #"{"a":true}}"#, #"{"\u0061":true}"#,
        ]
        for text in others { #expect(read(text) == nil, "\(text)") }
    }

    @Test(arguments: 1..<20)
    func `a name with one other letter is another member`(length: Int) {
        let name = String(repeating: "x", count: length)
        let found = WrittenJSON.read(Array("{\"\(name)\":true}".utf8)) {
            json throws(WrittenJSON.Mismatch) in
            try json.beginObject()
            for place in 0..<length {
                let rest = String(repeating: "x", count: length - place - 1)
                let other = String(repeating: "x", count: place) + "y" + rest
                guard !json.nextKey(is: other) else { throw WrittenJSON.Mismatch() }
            }
            guard json.nextKey(is: name) else { throw WrittenJSON.Mismatch() }
            let value = try json.bool()
            try json.endObject()
            return value
        }
        #expect(found == true)
    }

    @Test func `a string of another length than expected is left`() {
        func read(_ text: String, count: Int) -> String? {
            WrittenJSON.read(Array(text.utf8)) { json throws(WrittenJSON.Mismatch) in
                guard let known = json.utf8(count: count) else { return try json.string() + "?" }
                return String(decoding: known, as: UTF8.self)
            }
        }
        #expect(read("\"abc\"", count: 3) == "abc")
        #expect(read("\"abc\"", count: 2) == "abc?")
        #expect(read("\"abc\"", count: 4) == "abc?")
        #expect(read("\"abc", count: 3) == nil)
        #expect(read("abc\"", count: 3) == nil)
    }

    private func scalar(_ text: String) -> JSONValue? {
        WrittenJSON.read(Array(text.utf8)) { json throws(WrittenJSON.Mismatch) in
            try json.scalar()
        }
    }

    @Test func `a scalar of any kind is read`() {
        #expect(scalar(#""a""#) == "a")
        #expect(scalar("-12") == -12)
        #expect(scalar("true") == true)
        #expect(scalar("false") == false)
        #expect(scalar("null") == .some(.null))
        for text in ["", "[]", "{}", "nul", "nullx", "1.5", #""\n""#, "x"] {
            #expect(scalar(text) == nil, "\(text)")
        }
    }

    /// Reads the member `a` of an object, and passes over all others.
    private func memberA(_ text: String) -> JSONValue? {
        WrittenJSON.read(Array(text.utf8)) { json throws(WrittenJSON.Mismatch) in
            try json.beginObject()
            while !json.nextKey(is: "a") { try json.skipMember() }
            let value = try json.scalar()
            while !json.endsObject() { try json.skipMember() }
            return value
        }
    }

    @Test(
        arguments: [
            #"{"a":1}"#, #"{"b":null,"a":1}"#, #"{"a":1,"b":[]}"#, #"{"b":{},"a":1,"c":{}}"#,
            #"{"b":["x",-1,true,{"a":2}],"c":{"a":3,"d":[[],[0]]},"a":1,"e":"a"}"#,
        ]
    )
    func `members that are not asked for are passed over`(text: String) {
        #expect(memberA(text) == 1)
    }

    @Test(
        arguments: [
            "{}", #"{"b":1}"#, #"{"b":{"a":1}}"#, #"{"a":1,}"#, #"{"a":1"b":2}"#, #"{,"a":1}"#,
            #"{"b":,"a":1}"#, #"{"b":1.5,"a":1}"#, #"{"b":"\n","a":1}"#, #"{"b":"é","a":1}"#,
            #"{"b":[,1],"a":1}"#, #"{"b":[1,],"a":1}"#, #"{"b":[1,"a":1}"#, #"{"b":{"c"},"a":1}"#,
            #"{"b":{"c":1,},"a":1}"#, #"{"b":nul,"a":1}"#, #"{"b" :1,"a":1}"#, #"{"a":1,"b":[}"#,
            #"{"a":1}}"#, #"{"a":1"#,
        ]
    )
    func `an object that the writer does not write is left to a document`(text: String) {
        #expect(memberA(text) == nil)
    }

    @Test func `deep values are left to a document`() {
        func text(_ depth: Int) -> String {
            let brackets = String(repeating: "[", count: depth)
            return #"{"b":\#(brackets)\#(String(repeating: "]", count: depth)),"a":1}"#
        }
        #expect(memberA(text(15)) == 1)
        #expect(memberA(text(16)) == 1)
        #expect(memberA(text(17)) == nil)
        #expect(memberA(text(100_000)) == nil)
    }

    @Test func `the rest of a text is read after a value`() {
        let text = Array(#"{"a":1,"b":2}"#.utf8)
        let rest = WrittenJSON.read(text, from: 6) { json throws(WrittenJSON.Mismatch) in
            guard json.nextKey(is: "b") else { throw WrittenJSON.Mismatch() }
            let number = try json.int64()
            try json.endObject()
            return number
        }
        #expect(rest == 2)
    }
}
