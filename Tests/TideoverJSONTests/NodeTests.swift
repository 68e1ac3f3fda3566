import Testing
import TideoverJSON

struct NodeTests {
    static let document = """
        {
          "name": "caf\\u00e9 au lait", "plain": "tea",
          "k\\u0065y": [1, "two", [3, {"four": 4}], {}, null],
          "on": true, "off": false, "nothing": null, "object": {"a": {"b": 1.50}}
        }
        """

    let root: JSONNode

    init() throws { root = try JSONDocument(Self.document).root }

    @Test func `members are found by key, escaped or not`() {
        #expect(root["name"]?.string == "café au lait")
        #expect(root["plain"]?.string == "tea")
        #expect(root["key"]?.count == 5)
        #expect(root["object"]?["a"]?["b"]?.double == 1.5)
        #expect(root["on"]?.bool == true)
        #expect(root["off"]?.bool == false)
        #expect(root["nothing"]?.isNull == true)
        #expect(root["absent"] == nil)
        #expect(root["name"]?["name"] == nil)
    }

    @Test func `members are found in any order from a cursor`() throws {
        let names = ["name", "plain", "key", "on", "off", "nothing", "object"]
        let orders = [
            names, names.reversed(), names + names, ["absent"] + names, ["off", "absent", "on"],
        ]
        for order in orders {
            var cursor = JSONNode.MemberCursor()
            for name in order {
                let found = root.member(name, at: &cursor)
                #expect(found?.offset == root[name]?.offset, "\(name) of \(order)")
            }
        }
        var cursor = JSONNode.MemberCursor()
        var keys: [String] = []
        while let member = root.nextMember(at: &cursor) { keys.append(member.key) }
        #expect(keys == names)
        #expect(root.nextMember(at: &cursor) == nil)
        var none = JSONNode.MemberCursor()
        #expect(try JSONDocument("[1]").root.member("name", at: &none) == nil)
    }

    @Test func `kinds differ, and each accessor reads only its kind`() throws {
        let list = try JSONDocument("[null, true, 1, \"1\", [], {}]").root
        #expect(list.elements.map(\.kind) == [.null, .bool, .number, .string, .array, .object])
        #expect(list.elements.map(\.isNull) == [true, false, false, false, false, false])
        #expect(list.elements.map(\.bool) == [nil, true, nil, nil, nil, nil])
        #expect(list.elements.map(\.int64) == [nil, nil, 1, nil, nil, nil])
        #expect(list.elements.map(\.double) == [nil, nil, 1, nil, nil, nil])
        #expect(list.elements.map(\.string) == [nil, nil, nil, "1", nil, nil])
        #expect(list.elements.map(\.count) == [0, 0, 0, 0, 0, 0])
        #expect(list.elements.map { Array($0.members).count } == [0, 0, 0, 0, 0, 0])
    }

    @Test func `elements are iterated in order, nested ones skipped`() throws {
        let list = try #require(root["key"])
        #expect(
            list.elements.map { String(decoding: $0.source, as: UTF8.self) }
                == ["1", "\"two\"", "[3, {\"four\": 4}]", "{}", "null"]
        )
        #expect(list[2]?[1]?["four"]?.int64 == 4)
        #expect(list[4]?.isNull == true)
        #expect(list[5] == nil)
        #expect(list[-1] == nil)
        #expect(root[0] == nil)
        #expect(Array(root.elements).isEmpty)
        #expect(Array(list.members).isEmpty)
    }

    @Test func `members are iterated in the order written`() {
        #expect(
            root.members.map(\.key)
                == ["name", "plain", "key", "on", "off", "nothing", "object"]
        )
        #expect(root.count == 7)
        #expect(
            root.members.map(\.value.kind)
                == [.string, .string, .array, .bool, .bool, .null, .object]
        )
    }

    @Test func `a value has its source text, position and key`() throws {
        let name = try #require(root["name"])
        #expect(String(decoding: name.source, as: UTF8.self) == "\"caf\\u00e9 au lait\"")
        #expect(name.position == (2, 11))
        #expect(name.key?.string == "name")
        #expect(try #require(name.key).position == (2, 3))
        #expect(root.key == nil)
        #expect(root["key"]?[1]?.key == nil)
        #expect(root["key"]?.key?.string == "key")
        #expect(root.source.count == Self.document.utf8.count)
        let bare = try #require(try JSONDocument("{ab:'c'}", syntax: .relaxed).root["ab"])
        #expect(bare.key.map { String(decoding: $0.source, as: UTF8.self) } == "ab")
        #expect(try #require(bare.key).position == (1, 2))
        #expect(String(decoding: bare.source, as: UTF8.self) == "'c'")
        #expect(bare.offset == 4)
    }

    @Test func `the bytes of a string are returned without quotes and escapes`() {
        #expect(root["plain"]?.utf8.map { Array($0) } == Array("tea".utf8))
        #expect(root["name"]?.utf8.map { Array($0) } == Array("café au lait".utf8))
        #expect(root["on"]?.utf8 == nil)
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("0.0", 0), ("0e5", 0), ("-0e-5", 0),
            ("0e999999999999999999999", 0),
            ("7", 7), ("-7", -7), ("1.0", 1), ("1e3", 1000), ("1E+3", 1000), ("100e-2", 1),
            ("1697679936049.0", 1_697_679_936_049), ("1697679936049", 1_697_679_936_049),
            ("1.697679936049e12", 1_697_679_936_049), ("1.20", nil), ("1.5", nil), ("1e-1", nil),
            ("15e-1", nil), ("150e-1", 15), ("0.00001e5", 1), ("0.000012e5", nil), ("12.50e1", 125),
            ("9223372036854775807", .max), ("9223372036854775808", nil),
            ("-9223372036854775808", .min), ("-9223372036854775809", nil),
            ("9.223372036854775807e18", .max), ("9223372036854775807.0", .max),
            ("9223372036854775807.5", nil), ("922337203685477580700e-2", .max),
            ("1e18", 1_000_000_000_000_000_000),
            ("1e19", nil), ("9007199254740993", 9_007_199_254_740_993),
            ("1e-999999999999999999999", nil), ("10000000000000000000000000000000e-31", 1),
        ] as [(String, Int64?)]
    )
    func `an integer is exact however it is written`(text: String, expected: Int64?) throws {
        #expect(try JSONDocument(text).root.int64 == expected)
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", -0.0), ("-0.0e7", -0.0), ("0.1", 0.1), ("1e23", 1e23),
            ("9007199254740993", 9007199254740992),
            ("1.7976931348623157e308", .greatestFiniteMagnitude),
            ("17976931348623157e292", .greatestFiniteMagnitude), ("5e-324", .leastNonzeroMagnitude),
            ("2.4703282292062328e-324", .leastNonzeroMagnitude), ("2.4703282292062327e-324", 0),
            ("1e-400", 0), ("-1e-999999999999999999999", -0.0),
            ("2.2250738585072011e-308", .leastNormalMagnitude.nextDown),
            ("123456789012345678901234567890", 1.2345678901234568e29),
            ("0.500000000000000166533453693773481063544750213623046875", 0.5000000000000002),
        ] as [(String, Double)]
    )
    func `a double is the nearest representable one`(text: String, expected: Double) throws {
        let double = try #require(try JSONDocument(text).root.double)
        #expect(double.bitPattern == expected.bitPattern)
    }

    @Test func `a number of a hundred thousand digits is read`() throws {
        let digits = String(repeating: "7", count: 100_000)
        #expect(refusal(of: digits)?.reason == .numberOutOfRange)
        let number = try JSONDocument("0.\(digits)").root
        #expect(number.double == 0.7777777777777778)
        #expect(try JSONDocument("\(digits)e-100000").root.double == 0.7777777777777778)
        let zeros = String(repeating: "0", count: 100_000)
        #expect(try JSONDocument("12\(zeros)e-100000").root.int64 == 12)
        #expect(try JSONDocument("0.\(zeros)12e100002").root.int64 == 12)
    }

    @Test func `a node retains its document`() throws {
        func node() throws -> JSONNode? { try JSONDocument("{\"a\":[\"b\"]}").root["a"]?[0] }
        #expect(try node()?.string == "b")
    }

    @Test func `a document returns its bytes`() throws {
        #expect(try JSONDocument(" [1 ] ").bytes == Array(" [1 ] ".utf8))
        #expect(try JSONDocument(" [1 ] ").root.source == Array("[1 ]".utf8)[...])
    }
}
