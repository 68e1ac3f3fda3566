import Testing
import TideoverJSON

struct DuplicateKeyTests {
    @Test(arguments: [
        #"{"a":1,"a":1}"#, #"{"a":1,"\u0061":2}"#, #"{"\u0061":1,"a":2}"#,
        #"{"\u0061":1,"\u0061":2}"#, #"{"a":1,"b":{},"c":[{"d":1}],"a":2}"#,
        #"[{"x":{"a":1,"a":2}}]"#, #"{"":1,"":2}"#, #"{"😀":1,"\ud83d\ude00":2}"#,
        #"{"\/":1,"/":2}"#, #"{"a\u0000":1,"\u0061\u0000":2}"#,
    ])
    func `a duplicate key is refused, however it is written`(text: String) {
        guard case .duplicateKey = refusal(of: text)?.reason else {
            Issue.record("accepted or refused for another reason")
            return
        }
    }

    @Test(arguments: [
        #"{"a":1,"A":2}"#, #"{"a":{"a":{"a":1}}}"#, #"[{"a":1},{"a":2}]"#, #"{"a":1,"a ":2}"#,
        #"{"":1,"\u0000":2}"#, #"{"a\u0000":1,"a":2}"#, #"{"a":["a","a"]}"#, #"{"a":"b","b":"a"}"#,
    ])
    func `different keys are accepted`(text: String) {
        #expect(refusal(of: text) == nil)
    }

    @Test func `two spellings of one character are two keys`() throws {
        let text = "{\"\u{E9}\":1,\"e\u{301}\":2}"
        #expect(try value(of: text).object?.count == 2)
        #expect(try value(of: text)["\u{E9}"] == 1)
        #expect(try value(of: text)["e\u{301}"] == 2)
        #expect(try JSONDocument(text).root["e\u{301}"]?.int64 == 2)
    }

    @Test(arguments: [2, 3, 31, 32, 33, 34, 100, 1000])
    func `the first duplicate is found among few keys and many`(count: Int) throws {
        for (first, second) in [
            (0, 1), (0, count - 1), (count / 2, count - 1), (count - 2, count - 1),
        ]
        where first < second {
            var keys = (0..<count).map { "key\($0)" }
            keys[second] = keys[first]
            let text = "{" + keys.map { "\"\($0)\":0" }.joined(separator: ",\n") + "}"
            let refused = try #require(refusal(of: text))
            #expect(refused.reason == .duplicateKey(keys[first], firstLine: first + 1))
            #expect(refused.line == second + 1)
        }
    }

    @Test func `the earliest of several duplicates is reported`() {
        let keys = (0..<200).map { "k\($0)" } + ["k150", "k3", "k3", "k0"]
        let text = "{" + keys.map { "\"\($0)\":0" }.joined(separator: ",\n") + "}"
        #expect(refusal(of: text)?.reason == .duplicateKey("k150", firstLine: 151))
    }

    @Test func `one duplicate among a hundred thousand keys is found`() throws {
        let limits = JSONLimits.storeAnswer
        let members = (0..<100_000).map { "\"\($0)\":\($0)" }.joined(separator: ",")
        let document = try JSONDocument("{\(members)}", limits: limits)
        #expect(document.root.count == 100_000)
        #expect(document.root["99999"]?.int64 == 99_999)
        let refused = refusal(of: "{\(members),\"\\u0039\":1}", limits: limits)
        #expect(refused?.reason == .duplicateKey("9", firstLine: 1))
    }

    @Test func `keys with equal hashes are sorted, not compared pair by pair`() {
        let count = 100_000
        let texts = (0..<count).map { Array("\($0 * 7919 % count)".utf8) }
        var keys = (0..<UInt64(count)).map { 0xABCD_EF01 << 32 | $0 }
        var search = DuplicateKeys()
        let found = search.first(
            in: &keys,
            text: { texts[Int($0)] },
            same: { texts[Int($0)] == texts[Int($1)] }
        )
        #expect(found == nil)
        #expect(search.comparisons < 25 * count)
    }

    @Test func `a duplicate is found among keys with equal hashes`() {
        var texts = (0..<5000).map { Array("\($0)".utf8) }
        texts[4000] = texts[77]
        texts[4500] = texts[76]
        var keys = (0..<UInt64(texts.count)).map { $0 }
        var search = DuplicateKeys()
        let found = search.first(
            in: &keys,
            text: { texts[Int($0)] },
            same: { texts[Int($0)] == texts[Int($1)] }
        )
        #expect(found?.first == 77)
        #expect(found?.second == 4000)
    }

    /// Keys are hashed and compared in words of eight bytes; the last one may overlap others.
    @Test(arguments: 1..<26)
    func `a key of any length is found, with escapes too, and no similar one`(length: Int) throws {
        let key = String(repeating: "x", count: length)
        let escaped = "\\u0078" + key.dropFirst()
        for text in [key, escaped] {
            let root = try JSONDocument("{\"a\":1,\"\(text)\":2}").root
            #expect(root[key]?.int64 == 2)
            for place in 0..<length {
                let rest = String(repeating: "x", count: length - place - 1)
                let other = String(repeating: "x", count: place) + "y" + rest
                #expect(root[other] == nil)
                #expect(refusal(of: "{\"\(text)\":1,\"\(other)\":2}") == nil)
            }
            let refused = refusal(of: "{\"\(key)\":1,\"\(text)\":2}")
            #expect(refused?.reason == .duplicateKey(key, firstLine: 1))
        }
    }

    @Test func `keys with a long common prefix are distinguished`() {
        let start = String(repeating: "x", count: 1000)
        let members = (0..<200).map { "\"\(start)\($0)\":0" }.joined(separator: ",")
        #expect(refusal(of: "{\(members)}") == nil)
        #expect(refusal(of: "{\(members),\"\(start)7\":0}")?.column == 1 + members.count + 2)
    }
}
