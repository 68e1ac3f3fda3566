import Testing
import TideoverJSON

struct ValueTests {
    @Test func `literals create values`() {
        let value: JSONValue = [
            "null": nil, "bool": true, "integer": -7, "double": 1.5, "string": "text",
            "array": [1, "two", []], "object": [:],
        ]
        #expect(value["null"]?.isNull == true)
        #expect(value["bool"]?.bool == true)
        #expect(value["integer"] == .integer(-7))
        #expect(value["double"] == .double(1.5))
        #expect(value["string"]?.string == "text")
        #expect(value["array"]?[1]?.string == "two")
        #expect(value["array"]?[2] == .array([]))
        #expect(value["array"]?[3] == nil)
        #expect(value["array"]?[-1] == nil)
        #expect(value["object"]?.object?.isEmpty == true)
        #expect(value["absent"] == nil)
        #expect(value[0] == nil)
        #expect(JSONValue.string("x")["x"] == nil)
        #expect("a\(1)b" as JSONValue == .string("a1b"))
    }

    @Test func `a number is an integer if it is written as one and fits`() throws {
        let list = try value(of: "[1, 1.0, 1e0, 9223372036854775807, 9223372036854775808, -0]")
        let expected: [JSONValue] = [
            .integer(1), .double(1), .double(1), .integer(.max), .double(0x1p63), .integer(0),
        ]
        #expect(list.array == expected)
        #expect(list[0] != list[1])
    }

    @Test func `an integral double is read as an integer on request`() {
        #expect(JSONValue.double(1_697_679_936_049).int64 == 1_697_679_936_049)
        #expect(JSONValue.double(-0.0).int64 == 0)
        #expect(JSONValue.double(-0x1p63).int64 == .min)
        for value in [1.5, 0x1p63, -0x1p64, .infinity, .nan, 0x1p-1074] {
            #expect(JSONValue.double(value).int64 == nil)
        }
        #expect(JSONValue.integer(3).double == 3)
        #expect(JSONValue.string("3").double == nil)
        #expect(JSONValue.string("3").int64 == nil)
    }

    @Test func `strings are equal only if their scalars are`() {
        #expect(JSONValue.string("\u{E9}") != .string("e\u{301}"))
        #expect(JSONValue.string("\u{E9}") == .string("\u{E9}"))
        #expect(["\u{E9}": 1] as JSONValue != ["e\u{301}": 1])
    }

    @Test func `members keep the order written, equality ignores it`() throws {
        let first = try value(of: #"{"b":1,"a":{"y":2,"x":[3]},"c":null}"#)
        let second = try value(of: #"{"a":{"x":[3],"y":2},"c":null,"b":1}"#)
        #expect(first.object?.map(\.key) == ["b", "a", "c"])
        #expect(first == second)
        #expect(first.hashValue == second.hashValue)
        #expect(Set([first, second]).count == 1)
        #expect(first != (try value(of: #"{"a":{"x":[3],"y":2},"c":null,"b":2}"#)))
        #expect(first != (try value(of: #"{"a":{"x":[3],"y":2},"c":null}"#)))
        #expect(first != (try value(of: #"{"a":{"x":[3],"y":2},"c":null,"d":1}"#)))
        #expect(try value(of: "[1,2]") != value(of: "[2,1]"))
    }

    @Test func `a member is set in its place, a new one comes last, nil removes`() {
        var object: JSONObject = ["a": 1, "b": 2]
        object["a"] = 3
        object["c"] = 4
        #expect(object.map(\.key) == ["a", "b", "c"])
        #expect(object["a"] == 3)
        object["b"] = nil
        object["absent"] = nil
        #expect(object == ["c": 4, "a": 3])
        #expect(object.count == 2)
        #expect(object.first?.key == "a")
        object["a"] = .some(.null)
        #expect(object["a"]?.isNull == true)
    }

    @Test func `large objects are compared in less than quadratic time`() throws {
        let keys = (0..<50_000).map { "\"k\($0)\":\($0)" }
        let forth = try value(of: "{" + keys.joined(separator: ",") + "}")
        let back = try value(of: "{" + keys.reversed().joined(separator: ",") + "}")
        #expect(forth == back)
        #expect(forth.hashValue == back.hashValue)
    }
}
