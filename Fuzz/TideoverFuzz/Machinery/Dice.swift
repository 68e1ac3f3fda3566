import TideoverSandbox

/// Random choices that follow from libFuzzer's seed.
struct Dice {
    private var random: SeededRandom

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    /// Returns a number from 0 to `count` - 1; `count` must be positive.
    mutating func number(below count: Int) -> Int {
        Int(random.number(in: 0...Int64(count - 1)))
    }

    /// Returns true with a probability of one in `sides`.
    mutating func one(in sides: Int) -> Bool { number(below: sides) == 0 }

    /// Returns one of several elements; the array must not be empty.
    mutating func pick<Element>(_ some: [Element]) -> Element { some[number(below: some.count)] }

    /// Returns any 64-bit number.
    mutating func integer() -> Int64 { random.number(in: .min ... .max) }
}
