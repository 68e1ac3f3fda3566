/// 32-byte numbers for tests, most significant byte first.
enum Numbers {
    /// Returns random numbers, many of them with long runs of equal bits.
    static func random(_ count: Int, using generator: inout SplitMix64) -> [[UInt8]] {
        (0..<count).map { index in
            let bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
            guard index % 2 == 1 else { return bytes }
            let (start, end) = (Int.random(in: 0..<32, using: &generator), 32)
            let fill: UInt8 = index % 4 == 1 ? 0 : 0xFF
            let stop = Int.random(in: start..<end, using: &generator)
            return bytes.indices.map { (start...stop).contains($0) ? fill : bytes[$0] }
        }
    }

    /// Returns zero, small numbers, powers of two, runs of ones, words of only zeros or ones, and
    /// numbers beside the modulus and the largest number.
    static func extreme(below modulus: [UInt8]) -> [[UInt8]] {
        let small = (0..<20).map { number(word: $0, at: 0) }
        let powers = (0..<256).map(power)
        let runs = (1...256).map { ones(below: $0) }
        let high = (0..<256).map { zip(ones(below: 256), ones(below: $0)).map { $0 ^ $1 } }
        let words = (0..<16).map { pattern in
            (0..<32).map { UInt8(pattern >> ($0 / 8) & 1 == 1 ? 0xFF : 0) }
        }
        let beside = (0..<20).map { minus(modulus, $0) } + (1..<20).map { plus(modulus, $0) }
        return small + powers + runs + high + words + beside
    }

    private static func number(word: Int, at bit: Int) -> [UInt8] {
        [UInt8](repeating: 0, count: 31) + [UInt8(word)]
    }

    private static func power(_ bit: Int) -> [UInt8] {
        (0..<32).map { 31 - $0 == bit / 8 ? 1 << (bit % 8) : 0 }
    }

    private static func ones(below bit: Int) -> [UInt8] {
        (0..<32).map { index in
            let bits = min(8, max(0, bit - 8 * (31 - index)))
            return UInt8((1 << bits) - 1)
        }
    }

    private static func minus(_ number: [UInt8], _ small: Int) -> [UInt8] {
        var (bytes, borrow) = (number, small)
        for index in bytes.indices.reversed() {
            let digit = Int(bytes[index]) - borrow
            bytes[index] = UInt8(truncatingIfNeeded: digit)
            borrow = digit < 0 ? 1 : 0
        }
        return bytes
    }

    private static func plus(_ number: [UInt8], _ small: Int) -> [UInt8] {
        var (bytes, carry) = (number, small)
        for index in bytes.indices.reversed() {
            carry += Int(bytes[index])
            bytes[index] = UInt8(truncatingIfNeeded: carry)
            carry >>= 8
        }
        return bytes
    }
}
