import TideoverASN1

/// A second, recursive parser of BER, which shares no code with the project's.
indirect enum PlainBER {
    case plain(UInt8, [UInt8])
    case made(UInt8, [PlainBER])

    /// Parses one value; nil if the bytes are invalid, or nested too deep.
    init?(_ bytes: [UInt8]) {
        var rest = bytes[...]
        guard let value = Self.take(&rest, depth: 1), rest.isEmpty else { return nil }
        self = value
    }

    private static func take(_ rest: inout ArraySlice<UInt8>, depth: Int) -> PlainBER? {
        guard depth <= BERReader.maximumDepth, let tag = rest.popFirst(), tag & 31 != 31, tag != 0,
            let first = rest.popFirst()
        else { return nil }
        let isMade = tag & 32 != 0
        if first == 128 { return isMade ? takeUntilMark(tag, &rest, depth) : nil }
        guard let length = length(first, &rest), length <= rest.count else { return nil }
        var contents = rest.prefix(length)
        rest = rest.dropFirst(length)
        guard isMade else { return .plain(tag, Array(contents)) }
        var values: [PlainBER] = []
        while !contents.isEmpty {
            guard let value = take(&contents, depth: depth + 1) else { return nil }
            values.append(value)
        }
        return .made(tag, values)
    }

    private static func takeUntilMark(
        _ tag: UInt8,
        _ rest: inout ArraySlice<UInt8>,
        _ depth: Int
    ) -> PlainBER? {
        var values: [PlainBER] = []
        while !rest.starts(with: [0, 0]) {
            guard let value = take(&rest, depth: depth + 1) else { return nil }
            values.append(value)
        }
        rest = rest.dropFirst(2)
        return .made(tag, values)
    }

    private static func length(_ first: UInt8, _ rest: inout ArraySlice<UInt8>) -> Int? {
        guard first > 127 else { return Int(first) }
        let count = Int(first) - 128
        guard count <= 4, count <= rest.count else { return nil }
        let digits = rest.prefix(count)
        rest = rest.dropFirst(count)
        return digits.reduce(0) { $0 * 256 + Int($1) }
    }

    // MARK: Writing

    /// The nesting depth of the value, including itself.
    var depth: Int {
        switch self {
        case .plain: 1
        case .made(_, let values): 1 + (values.map(\.depth).max() ?? 0)
        }
    }

    /// The value with definite lengths everywhere.
    var withLengths: [UInt8] {
        switch self {
        case .plain(let tag, let contents): Self.written(tag, contents)
        case .made(let tag, let values): Self.written(tag, values.flatMap(\.withLengths))
        }
    }

    /// The value with indefinite lengths wherever possible, and with strings in two pieces.
    var withMarks: [UInt8] {
        switch self {
        case .plain(4, let contents) where contents.count > 1:
            let half = contents.count / 2
            return [0x24, 0x80] + Self.written(4, Array(contents[..<half]))
                + Self.written(4, Array(contents[half...])) + [0, 0]
        case .plain(let tag, let contents): return Self.written(tag, contents)
        case .made(let tag, let values): return [tag, 0x80] + values.flatMap(\.withMarks) + [0, 0]
        }
    }

    private static func written(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        let count = contents.count
        guard count > 127 else { return [tag, UInt8(count)] + contents }
        return [tag, 0x83, UInt8(count >> 16 & 255), UInt8(count >> 8 & 255), UInt8(count & 255)]
            + contents
    }

    // MARK: Changing

    /// Returns the value with one inner value changed, removed, repeated or moved in place of
    /// another.
    func changed(_ dice: inout Dice) -> PlainBER {
        switch self {
        case .plain(let tag, let contents):
            if dice.one(in: 8) { return .plain(dice.pick([2, 4, 6, 12, 22, 5]), contents) }
            return .plain(tag, Mutations.bytes(contents, most: contents.count + 8))
        case .made(let tag, var values):
            guard !values.isEmpty else { return .made(tag, [.plain(5, [])]) }
            let place = dice.number(below: values.count)
            switch dice.number(below: 12) {
            case 0: values.remove(at: place)
            case 1: values.append(values[place])
            case 2: values.swapAt(place, dice.number(below: values.count))
            case 3: return .made(dice.pick([0x30, 0x31, 0xA0, 0x24]), values)
            default: values[place] = values[place].changed(&dice)
            }
            return .made(tag, values)
        }
    }
}
