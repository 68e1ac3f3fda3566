import Foundation
import Testing
import TideoverSignatures

/// Compares the arithmetic of the table's verification with long multiplication and with libcrypto.
struct P256NumbersTests {
    /// The value of `TIDEOVER_SEED`, otherwise random; a failure prints it.
    private static let seed =
        ProcessInfo.processInfo.environment["TIDEOVER_SEED"].flatMap { UInt64($0) }
        ?? .random(in: 0...UInt64(Int64.max))

    private let field = P256Numbers.field
    private let order = P256Numbers.order

    @Test func `numbers survive their bytes and are ordered like them`() throws {
        var random = SplitMix64(state: Self.seed)
        let all =
            Numbers.extreme(below: order.modulus.bigEndian) + Numbers.random(100, using: &random)
        for (one, other) in zip(all, all.shuffled(using: &random)) {
            let (first, second) = try (number(one), number(other))
            #expect(first.bigEndian == one)
            #expect((first < second) == one.lexicographicallyPrecedes(other))
            #expect((first == second) == (one == other))
            #expect(first.isZero == one.allSatisfy { $0 == 0 })
        }
        #expect(UInt256(bigEndian: [UInt8](repeating: 1, count: 31)) == nil)
        #expect(UInt256(bigEndian: [UInt8](repeating: 1, count: 33)) == nil)
    }

    @Test func `products equal those of long multiplication`() throws {
        var random = SplitMix64(state: Self.seed)
        for modulus in [field, order] {
            let numbers = Numbers.extreme(below: modulus.modulus.bigEndian)
            for index in 0..<150 {
                let extreme = try (0..<2).map { _ in
                    try number(#require(numbers.randomElement(using: &random)))
                }
                let others = try Numbers.random(2, using: &random).map(number)
                let (a, b) =
                    index % 3 == 0 ? (others[0], others[1]) : (extreme[0], others[index % 2])
                try expectProduct(a, b, modulus)
                try expectProduct(extreme[0], extreme[1], modulus)
            }
        }
    }

    @Test func `inverses equal those of libcrypto`() throws {
        var random = SplitMix64(state: Self.seed)
        let method = ModularInverse(modulus: order.modulus)
        let numbers = Numbers.extreme(below: order.modulus.bigEndian)
        for bytes in numbers + Numbers.random(1_500, using: &random) {
            let number = try number(bytes)
            guard !number.isZero, number < order.modulus else { continue }
            let inverse = method.inverse(of: number)
            #expect(inverse == P256Numbers.libcryptoInverse(of: number), "\(bytes)")
            let scaled = order.product(inverse, order.radixSquared)
            #expect(P256Numbers.montgomeryInverse(of: number) == scaled, "\(bytes)")
        }
    }

    @Test func `any odd modulus has inverses, and no number traps`() throws {
        var random = SplitMix64(state: Self.seed)
        let numbers = Numbers.extreme(below: field.modulus.bigEndian)
        for index in 0..<400 {
            var modulus = try #require(Numbers.random(1, using: &random).first)
            modulus[31] |= index % 10 == 0 ? 0 : 1
            let montgomery = try MontgomeryModulus(number(modulus))
            let value = try number(#require(numbers.randomElement(using: &random)))
            let inverse = try ModularInverse(modulus: number(modulus)).inverse(of: value)
            let product = montgomery.product(
                montgomery.product(value, inverse),
                montgomery.radixSquared
            )
            guard index % 10 > 0, value < montgomery.modulus, hasInverse(value, modulus) else {
                continue
            }
            #expect(product == UInt256(1), "seed \(Self.seed), \(value.bigEndian), \(modulus)")
        }
    }

    @Test func `numbers without an inverse and unusual moduli do not trap`() throws {
        let numbers = try Numbers.extreme(below: order.modulus.bigEndian).map(number)
        for modulus in numbers.enumerated().filter({ $0.offset % 8 == 0 }).map(\.element) {
            let (montgomery, method) = (
                MontgomeryModulus(modulus), ModularInverse(modulus: modulus)
            )
            for value in numbers.prefix(40) + numbers.suffix(40) {
                _ = montgomery.product(method.inverse(of: value), value)
            }
        }
        #expect(P256Numbers.libcryptoInverse(of: UInt256(0)) == nil)
        #expect(P256Numbers.montgomeryInverse(of: UInt256(0)) == nil)
    }

    @Test func `libcrypto replaces a wrong inverse`() throws {
        var random = SplitMix64(state: Self.seed)
        for bytes in Numbers.random(50, using: &random) {
            let number = try number(bytes)
            guard !number.isZero, number < order.modulus else { continue }
            let right = try #require(P256Numbers.montgomeryInverse(of: number))
            let wrong = [UInt256(0), UInt256(1), number, right, order.modulus, field.modulus]
            for inverse in wrong {
                let found = P256Numbers.montgomeryInverse(of: number, fastInverse: { _ in inverse })
                #expect(found == right, "seed \(Self.seed), \(bytes)")
            }
        }
    }

    /// With made-up points, which need not be on the curve, any scale z can be tried.
    /// `FixedKeyTableTests` has real ones.
    @Test func `a coordinate at or above the order matches the small r`() throws {
        var random = SplitMix64(state: Self.seed)
        let difference = try #require(Reference.difference(field.modulus, order.modulus))
        let smaller = try #require(Reference.difference(difference, UInt256(1)))
        for r in [UInt256(1), UInt256(2), UInt256(1 << 40), smaller] {
            let coordinate = try #require(Reference.sum(r, order.modulus))
            #expect(coordinate < field.modulus)
            for z in try scales(&random) {
                #expect(P256Numbers.matches(r, x: scaled(r, z), z: z))
                #expect(P256Numbers.matches(r, x: scaled(coordinate, z), z: z))
                for delta in [1, 2, 3] as [UInt64] {
                    let other = try #require(Reference.sum(r, UInt256(delta)))
                    #expect(!P256Numbers.matches(other, x: scaled(coordinate, z), z: z))
                    #expect(!P256Numbers.matches(other, x: scaled(r, z), z: z))
                }
            }
        }
    }

    @Test func `r plus the order matches no coordinate if it is not below p`() throws {
        var random = SplitMix64(state: Self.seed)
        let difference = try #require(Reference.difference(field.modulus, order.modulus))
        for excess in [0, 1, 5, 1 << 50] as [UInt64] {
            // r plus the order is equivalent to `excess` modulo p.
            let r = try #require(Reference.sum(difference, UInt256(excess)))
            for z in try scales(&random) {
                #expect(!P256Numbers.matches(r, x: scaled(UInt256(excess), z), z: z))
                #expect(P256Numbers.matches(r, x: scaled(r, z), z: z))
            }
        }
    }

    @Test func `no r matches the point at infinity or a number that is not reduced`() throws {
        let numbers = [UInt256(0), UInt256(1), UInt256(2), order.modulus, field.modulus]
        for r in numbers {
            for x in numbers {
                #expect(!P256Numbers.matches(r, x: x, z: UInt256(0)))
                #expect(!P256Numbers.matches(r, x: x, z: field.modulus))
            }
        }
        let beyond = try #require(Reference.sum(field.modulus, UInt256(7)))
        #expect(P256Numbers.matches(UInt256(7), x: UInt256(7), z: UInt256(1)))
        #expect(!P256Numbers.matches(UInt256(7), x: beyond, z: UInt256(1)))
    }

    private func scales(_ random: inout SplitMix64) throws -> [UInt256] {
        let random = try Numbers.random(20, using: &random).map(number)
        let largest = try #require(Reference.difference(field.modulus, UInt256(1)))
        return [UInt256(1), UInt256(2), largest]
            + random.filter { $0 < field.modulus && !$0.isZero }
    }

    /// Returns coordinate * z^2 modulo p.
    private func scaled(_ coordinate: UInt256, _ z: UInt256) -> UInt256 {
        let square = Reference.product(z, z, modulo: field.modulus)
        return Reference.product(coordinate, square, modulo: field.modulus)
    }

    private func expectProduct(_ a: UInt256, _ b: UInt256, _ modulus: MontgomeryModulus) throws {
        guard a < modulus.modulus || b < modulus.modulus else { return }
        let product = modulus.product(a, b)
        #expect(product < modulus.modulus)
        // R modulo N is R - N.
        let radix = try #require(
            Reference.sum(
                Reference.difference(UInt256(.max, .max, .max, .max), modulus.modulus)
                    ?? UInt256(0),
                UInt256(1)
            )
        )
        #expect(
            Reference.product(product, radix, modulo: modulus.modulus)
                == Reference.product(a, b, modulo: modulus.modulus),
            "seed \(Self.seed), \(a.bigEndian), \(b.bigEndian)"
        )
    }

    private func number(_ bytes: [UInt8]) throws -> UInt256 {
        try #require(UInt256(bigEndian: bytes))
    }

    /// Whether the greatest common divisor is 1, by halving and subtracting bytes.
    private func hasInverse(_ number: UInt256, _ modulus: [UInt8]) -> Bool {
        var (one, other) = (Reference.limbs(number.bigEndian), Reference.limbs(modulus))
        while one.contains(where: { $0 > 0 }) {
            while one[0] % 2 == 0 { one = Reference.halved(one) }
            if Reference.isLess(one, other) { (one, other) = (other, one) }
            Reference.subtract(other, from: &one)
        }
        return other[0] == 1 && other.dropFirst().allSatisfy { $0 == 0 }
    }
}

/// Long arithmetic in limbs of 32 bits, least significant first. It is slow and obvious.
private enum Reference {
    static func sum(_ a: UInt256, _ b: UInt256) -> UInt256? {
        var (limbs, carry) = (limbs(a.bigEndian), UInt64(0))
        for (index, limb) in Self.limbs(b.bigEndian).enumerated() {
            carry += limbs[index] + limb
            limbs[index] = carry & 0xFFFF_FFFF
            carry >>= 32
        }
        return carry == 0 ? UInt256(bigEndian: bytes(limbs)) : nil
    }

    static func difference(_ a: UInt256, _ b: UInt256) -> UInt256? {
        guard !(a < b) else { return nil }
        var limbs = limbs(a.bigEndian)
        subtract(Self.limbs(b.bigEndian), from: &limbs)
        return UInt256(bigEndian: bytes(limbs))
    }

    static func product(_ a: UInt256, _ b: UInt256, modulo modulus: UInt256) -> UInt256 {
        let (factor, modulus) = (limbs(b.bigEndian), limbs(modulus.bigEndian) + [0])
        var rest = [UInt64](repeating: 0, count: 9)
        for limb in product(limbs(a.bigEndian), factor).reversed() {
            for bit in (0..<32).reversed() {
                double(&rest, adding: limb >> UInt64(bit) & 1)
                if !isLess(rest, modulus) { subtract(modulus, from: &rest) }
            }
        }
        return UInt256(bigEndian: bytes(Array(rest.prefix(8)))) ?? UInt256(0)
    }

    private static func product(_ a: [UInt64], _ b: [UInt64]) -> [UInt64] {
        var product = [UInt64](repeating: 0, count: a.count + b.count)
        for (place, factor) in a.enumerated() {
            var carry: UInt64 = 0
            for (index, limb) in b.enumerated() {
                carry += product[place + index] + factor * limb
                product[place + index] = carry & 0xFFFF_FFFF
                carry >>= 32
            }
            product[place + b.count] = carry
        }
        return product
    }

    static func limbs(_ bytes: [UInt8]) -> [UInt64] {
        stride(from: 28, through: 0, by: -4).map { start in
            bytes[start..<start + 4].reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    static func bytes(_ limbs: [UInt64]) -> [UInt8] {
        limbs.reversed().flatMap { limb in
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: limb >> $0) }
        }
    }

    static func isLess(_ a: [UInt64], _ b: [UInt64]) -> Bool {
        var index = a.count - 1
        while index > 0, a[index] == b[index] { index -= 1 }
        return a[index] < b[index]
    }

    static func subtract(_ b: [UInt64], from a: inout [UInt64]) {
        var (index, borrow) = (0, UInt64(0))
        while index < a.count {
            let digit = a[index] &- b[index] &- borrow
            borrow = digit >> 63
            a[index] = digit & 0xFFFF_FFFF
            index += 1
        }
    }

    private static func double(_ limbs: inout [UInt64], adding bit: UInt64) {
        var (index, carry) = (0, bit)
        while index < limbs.count {
            let digit = limbs[index] << 1 | carry
            carry = digit >> 32
            limbs[index] = digit & 0xFFFF_FFFF
            index += 1
        }
    }

    static func halved(_ limbs: [UInt64]) -> [UInt64] {
        limbs.indices.map { index in
            limbs[index] >> 1 | (index + 1 < limbs.count ? (limbs[index + 1] & 1) << 31 : 0)
        }
    }
}
