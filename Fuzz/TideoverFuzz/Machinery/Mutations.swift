import CTideoverFuzzing
import TideoverJSON

/// Derives an input from another, with a maximum length in bytes.
typealias Mutation = @Sendable (_ input: [UInt8], _ most: Int, _ dice: inout Dice) -> [UInt8]

/// Ways to change an input.
enum Mutations {
    /// libFuzzer's own mutation, which does not use the format of the bytes.
    @Sendable static func bytes(_ input: [UInt8], _ most: Int, _: inout Dice) -> [UInt8] {
        bytes(input, most: most)
    }

    static func bytes(_ input: [UInt8], most: Int) -> [UInt8] {
        let capacity = max(most, input.count)
        return [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            _ = buffer.update(fromContentsOf: input)
            count = LLVMFuzzerMutate(start, input.count, capacity)
        }
    }

    /// Changes the bytes or, in three cases out of four, the JSON value.
    @Sendable static func json(_ input: [UInt8], _ most: Int, _ dice: inout Dice) -> [UInt8] {
        guard !dice.one(in: 4), let document = try? JSONDocument(input, limits: .local) else {
            return bytes(input, most: most)
        }
        var change = JSONChange(dice)
        let changed = change.changed(JSONValue(document.root)).encoded()
        dice = change.dice
        return changed.count <= most ? changed : bytes(input, most: most)
    }
}

/// Changes one value inside a JSON value.
struct JSONChange {
    var dice: Dice

    init(_ dice: Dice) {
        self.dice = dice
    }

    mutating func changed(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let object) where object.count > 0 && !dice.one(in: 8):
            return .object(changed(object))
        case .array(let array) where !array.isEmpty && !dice.one(in: 8):
            return .array(changed(array))
        case .null, .bool, .integer, .double, .string, .array, .object:
            return dice.one(in: 4) ? other() : near(value)
        }
    }

    private mutating func changed(_ object: JSONObject) -> JSONObject {
        var object = object
        let (key, value) = object[dice.number(below: object.count)]
        switch dice.number(below: 12) {
        case 0: object[key] = nil
        case 1: object[key] = object[dice.number(below: object.count)].value
        case 2: object[dice.pick(Self.strangeKeys)] = value
        default: object[key] = changed(value)
        }
        return object
    }

    private mutating func changed(_ array: [JSONValue]) -> [JSONValue] {
        var array = array
        let place = dice.number(below: array.count)
        switch dice.number(below: 8) {
        case 0: array.remove(at: place)
        case 1: array.insert(array[place], at: 0)
        default: array[place] = changed(array[place])
        }
        return array
    }

    /// Returns a value of any kind.
    private mutating func other() -> JSONValue {
        dice.pick([
            nil, true, false, 0, 1, -1, 2, 3, 4, 5, 1.5, 1e300, .integer(.max), .integer(.min), "",
            "0", "null", [], [:], [nil], ["": nil], .integer(dice.integer()),
            .integer(253_402_300_799_999), .integer(253_402_300_800_000),
        ])
    }

    /// Returns a value of the same kind.
    private mutating func near(_ value: JSONValue) -> JSONValue {
        switch value {
        case .null: return other()
        case .bool(let flag): return .bool(!flag)
        case .integer(let number):
            let steps: [Int64] = [
                1, -1, 1000, -1000, 86_400_000, -86_400_000, 2_592_000_000, -2_592_000_000,
            ]
            return .integer(number &+ dice.pick(steps))
        case .double(let number): return .double(-number)
        case .string(let text):
            let changed = Mutations.bytes(Array(text.utf8), most: text.utf8.count + 16)
            return .string(String(decoding: changed, as: UTF8.self))
        case .array(let array): return .array(array + [other()])
        case .object(let object):
            var object = object
            object[dice.pick(Self.strangeKeys)] = other()
            return .object(object)
        }
    }

    private static let strangeKeys = ["", "a", "data", "__proto__", "e\u{301}", "\u{0}"]
}

/// The separator of the segments of a compact form.
let dot = UInt8(ascii: ".")
