import TideoverSandbox

/// Throws that follow from the seed that libFuzzer gives.
struct Dice {
    private var random: SeededRandom

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    /// A number from 0 up to and without `count`, which is more than 0.
    mutating func number(below count: Int) -> Int {
        Int(random.number(in: 0...Int64(count - 1)))
    }

    /// Whether one throw in `sides` came true.
    mutating func one(in sides: Int) -> Bool { number(below: sides) == 0 }

    /// One of several; there must be some.
    mutating func pick<Element>(_ some: [Element]) -> Element { some[number(below: some.count)] }

    /// A number as large or small as numbers can be.
    mutating func integer() -> Int64 { random.number(in: .min ... .max) }
}
