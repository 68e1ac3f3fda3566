import Foundation
import Testing
import TideoverJSON
import TideoverSignatures

/// Compares a key's table with the ordinary path, which is the reference.
@Suite(.serialized)
struct FixedKeyTableTests {
    /// The value of `TIDEOVER_SEED`, otherwise random; a failure prints it.
    private static let seed =
        ProcessInfo.processInfo.environment["TIDEOVER_SEED"].flatMap { UInt64($0) }
        ?? .random(in: 0...UInt64(Int64.max))

    @Test(arguments: 0..<4)
    func `both methods accept valid signatures and refuse damaged ones`(round: UInt64) throws {
        var random = SplitMix64(state: Self.seed &+ round)
        let key = P256PrivateKey.generate()
        let judged = try Judged(key.publicKey)
        for index in 0..<250 {
            let message = Array("message \(index)".utf8)
            let (signature, digest) = (key.sign(message), SHA256.hash(message))
            #expect(try judged.verdict(signature, digest))
            for _ in 0..<3 {
                var (damaged, otherDigest) = (signature, digest)
                damaged[Int.random(in: 0..<64, using: &random)] ^=
                    1 << UInt8.random(in: 0..<8, using: &random)
                otherDigest[Int.random(in: 0..<32, using: &random)] ^=
                    1 << UInt8.random(in: 0..<8, using: &random)
                #expect(try !judged.verdict(damaged, digest), "seed \(Self.seed)")
                #expect(try !judged.verdict(signature, otherDigest), "seed \(Self.seed)")
            }
            // ECDSA has two valid signatures for each digest.
            let opposite = signature.prefix(32) + Scalar.minus(Array(signature.suffix(32)))
            #expect(try judged.verdict(Array(opposite), digest))
        }
    }

    @Test func `both methods agree on numbers at and beyond their bounds`() throws {
        let (zero, one, two) = (Scalar.of(0), Scalar.of(1), Scalar.of(2))
        let outside = [zero, Scalar.order, Scalar.beyond(1), Scalar.beyond(2), Scalar.most]
        let inside = [one, two, Scalar.minus(one), Scalar.minus(two), Scalar.highBit]
        for key in try [1, 2, 7].map(privateKey) + [P256PrivateKey.generate()] {
            let judged = try Judged(key.publicKey)
            for digest in outside + inside {
                for r in outside + inside {
                    for s in outside + inside {
                        let isInside = inside.contains(r) && inside.contains(s)
                        let verdict = try judged.verdict(r + s, digest)
                        #expect(isInside || !verdict)
                    }
                }
            }
        }
    }

    /// With the nonce 1 the sum is G and r its x; then s is the sum of the digest and d times r.
    @Test(arguments: 1...12)
    func `both methods accept valid signatures by small keys`(d: Int) throws {
        let judged = try Judged(privateKey(d).publicKey)
        let r = Scalar.generatorX
        let product = Scalar.multiple(r, d)
        // One digest makes both summands the same point. The others make the first summand zero: 0,
        // and n, which is equivalent to 0.
        for digest in [product, Scalar.of(0), Scalar.order] {
            let s = Scalar.sum(digest == Scalar.order ? Scalar.of(0) : digest, product)
            #expect(try judged.verdict(r + s, digest))
            #expect(try judged.verdict(r + Scalar.minus(s), digest))
            #expect(try !judged.verdict(r + s, Scalar.sum(digest, Scalar.of(1))))
        }
    }

    /// The reverse of the test above: a digest for a small s, so that s plus the order fits in 32
    /// bytes.
    @Test(arguments: 1...12)
    func `both methods refuse a valid s with the order added`(d: Int) throws {
        let judged = try Judged(privateKey(d).publicKey)
        let r = Scalar.generatorX
        for s in 1...20 {
            let digest = Scalar.sum(Scalar.of(s), Scalar.minus(Scalar.multiple(r, d)))
            #expect(try judged.verdict(r + Scalar.of(s), digest))
            #expect(try !judged.verdict(r + Scalar.beyond(s), digest))
        }
    }

    /// The same nonce, with the digest that each s requires. So the inverse of any s is part of the
    /// verification of a valid signature.
    @Test func `both methods accept valid signatures with any s`() throws {
        var random = SplitMix64(state: Self.seed)
        let r = Scalar.generatorX
        for d in [1, 200] {
            let judged = try Judged(privateKey(d).publicKey)
            let opposite = Scalar.minus(Scalar.multiple(r, d))
            for s in Numbers.extreme(below: Scalar.order) + Numbers.random(100, using: &random)
            where Scalar.isInRange(s) {
                let digest = Scalar.sum(s, opposite)
                #expect(try judged.verdict(r + s, digest), "seed \(Self.seed)")
                #expect(try judged.verdict(r + Scalar.minus(s), digest), "seed \(Self.seed)")
                #expect(try !judged.verdict(s + r, digest) || s == r, "seed \(Self.seed)")
            }
        }
    }

    /// Most are invalid: it matters only that both methods agree, and that none of them traps.
    @Test func `both methods agree on extreme numbers that no key signed`() throws {
        var random = SplitMix64(state: Self.seed)
        let numbers = Numbers.extreme(below: Scalar.order)
        let keys = try [privateKey(1), P256PrivateKey.generate()]
        let judged = try keys.map { try Judged($0.publicKey) }
        for index in 0..<2_000 {
            let chosen = try (0..<3).map { _ in
                try #require(numbers.randomElement(using: &random))
            }
            _ = try judged[index % 2].verdict(chosen[0] + chosen[1], chosen[2])
        }
    }

    @Test(arguments: 1...12)
    func `both methods refuse a sum at infinity`(d: Int) throws {
        let judged = try Judged(privateKey(d).publicKey)
        for r in [Scalar.of(1), Scalar.of(2), Scalar.generatorX, Scalar.minus(Scalar.of(1))] {
            let digest = Scalar.minus(Scalar.multiple(r, d))
            for s in [Scalar.of(1), Scalar.of(3), Scalar.generatorX, Scalar.minus(Scalar.of(1))] {
                #expect(try !judged.verdict(r + s, digest))
            }
        }
    }

    /// A digest of zero and equal r and s make the sum the key's own point. So its x, modulo the
    /// order, is the only r that both methods may accept: small for an x at or above the order.
    @Test(
        arguments: [
            // The x is the order plus r.
            (3, true, "484f0c0fda434ef0a808458914f328715d7a545e198ac7eee31dffe861b5d23f"),
            (4, true, "d74a1a9b022e6411c4c2ee6437a4c1fe543a73cdd50fa10ebb4073157a998e30"),
            (16, true, "96eae5354a58328299d61baf57d508acaa34d4cf19af874cebff96cc4b782b04"),
            // The x is r itself.
            (5, false, "459243b9aa581806fe913bce99817ade11ca503c64d9a3c533415c083248fbcc"),
            (8, false, "b706288aca290db0d624d1d23f37f6a627249b16d631ff692242d085636041b3"),
        ]
    )
    func `both methods compare a small r with an x below the order and above it`(
        r: Int,
        isAbove: Bool,
        y: String
    ) throws {
        let x = isAbove ? Scalar.beyond(r) : Scalar.of(r)
        let judged = try Judged(P256PublicKey(x963: [0x04] + x + bytes(hex: y)))
        let zero = Scalar.of(0)
        #expect(try judged.verdict(Scalar.of(r) + Scalar.of(r), zero))
        #expect(try judged.verdict(Scalar.of(r) + Scalar.minus(Scalar.of(r)), zero))
        #expect(try !judged.verdict(Scalar.beyond(r) + Scalar.of(r), zero))
        #expect(try !judged.verdict(Scalar.of(r) + Scalar.beyond(r), zero))
        #expect(try !judged.verdict(Scalar.of(r + 1) + Scalar.of(r + 1), zero))
        #expect(try !judged.verdict(Scalar.of(r) + Scalar.of(r), Scalar.of(1)))
    }

    @Test func `a key gets its table with the thousandth accepted signature`() {
        let key = P256PrivateKey.generate()
        let (message, wrong) = (Array("high water".utf8), [UInt8](repeating: 7, count: 64))
        let signature = key.sign(message)
        for _ in 0..<999 {
            #expect(key.publicKey.verify(signature: signature, of: message))
        }
        for _ in 0..<10 {
            #expect(!key.publicKey.verify(signature: wrong, of: message))
        }
        #expect(!key.publicKey.hasTable)
        #expect(key.publicKey.verify(signature: signature, of: message))
        #expect(key.publicKey.hasTable)
        #expect(key.publicKey.verify(signature: signature, of: message))
        #expect(key.publicKey.verify(signature: key.sign(message), of: message))
        #expect(!key.publicKey.verify(signature: signature, of: message + [0]))
        #expect(!key.publicKey.verify(signature: wrong, of: message))
        #expect(!key.publicKey.verify(signature: Array(signature.dropLast()), of: message))
        #expect(!key.publicKey.verify(signature: signature + [0], of: message))
    }

    @Test func `the least recently used table is evicted, and its key still verifies`() {
        let message = Array("low water".utf8)
        let keys = (0..<9).map { _ in P256PrivateKey.generate() }
        for key in keys {
            let signature = key.sign(message)
            for _ in 0..<1_000 {
                #expect(key.publicKey.verify(signature: signature, of: message))
            }
            #expect(key.publicKey.hasTable)
        }
        // The tables are shared by the process: other tests can displace some more, oldest first.
        let present = keys.map(\.publicKey.hasTable)
        let evicted = present.prefix { !$0 }.count
        #expect((1...8).contains(evicted), "\(present)")
        #expect(present.dropFirst(evicted).allSatisfy { $0 }, "\(present)")
        #expect(keys[0].publicKey.verify(signature: keys[0].sign(message), of: message))
        #expect(!keys[0].publicKey.verify(signature: keys[1].sign(message), of: message))
        #expect(!keys[0].publicKey.hasTable)
    }

    @Test func `many threads can create and use a key's table`() async {
        let key = P256PrivateKey.generate()
        let message = Array("the tide comes in".utf8)
        let signature = key.sign(message)
        let accepted = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    (0..<80).count { index in
                        let text = index % 2 == 0 ? message : message + [1]
                        return key.publicKey.verify(signature: signature, of: text)
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(accepted == 1600)
        #expect(key.publicKey.hasTable)
    }

    /// Both paths of one key.
    private struct Judged {
        let key: P256PublicKey
        let table: FixedKeyTable

        init(_ key: P256PublicKey) throws {
            self.key = key
            table = try #require(FixedKeyTable(key))
        }

        func verdict(_ signature: [UInt8], _ digest: [UInt8]) throws -> Bool {
            let judgement = key.verifyOrdinarily(signature: signature, digest: digest)
            let found = table.verify(signature: signature, digest: digest)
            #expect(found == judgement, "\(key.x963), \(signature), \(digest)")
            return judgement
        }
    }

    /// Returns the key with this secret number.
    private func privateKey(_ d: Int) throws -> P256PrivateKey {
        let head = try bytes(
            hex: "3041020100301306072a8648ce3d020106082a8648ce3d030107042730250201010420"
        )
        return try P256PrivateKey(pkcs8: head + Scalar.of(d))
    }
}

/// 32-byte numbers modulo the order of P-256, with the operations these tests need.
private enum Scalar {
    static let order = constant("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
    /// The x of the generator, which is below the order.
    static let generatorX = constant(
        "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
    )
    static let most = [UInt8](repeating: 0xFF, count: 32)
    static let highBit = [0x80] + [UInt8](repeating: 0, count: 31)

    static func of(_ number: Int) -> [UInt8] {
        [UInt8](repeating: 0, count: 31) + [UInt8(number)]
    }

    /// Whether a number can be r or s of a signature.
    static func isInRange(_ number: [UInt8]) -> Bool {
        number != of(0) && number.lexicographicallyPrecedes(order)
    }

    /// Returns the order plus a small number, not reduced.
    static func beyond(_ number: Int) -> [UInt8] { added(order, of(number)).bytes }

    static func sum(_ one: [UInt8], _ other: [UInt8]) -> [UInt8] {
        let (sum, hasCarry) = added(one, other)
        // Both are below the order, so it is subtracted once at most.
        return hasCarry || !sum.lexicographicallyPrecedes(order)
            ? subtracted(order, from: sum) : sum
    }

    static func multiple(_ number: [UInt8], _ times: Int) -> [UInt8] {
        (0..<times).reduce(of(0)) { product, _ in sum(product, number) }
    }

    /// Returns the additive inverse of a number from 1 to below the order.
    static func minus(_ number: [UInt8]) -> [UInt8] { subtracted(number, from: order) }

    private static func added(
        _ one: [UInt8],
        _ other: [UInt8]
    ) -> (bytes: [UInt8], hasCarry: Bool) {
        var (bytes, carry) = (one, 0)
        for index in bytes.indices.reversed() {
            carry += Int(one[index]) + Int(other[index])
            bytes[index] = UInt8(carry & 0xFF)
            carry >>= 8
        }
        return (bytes, carry > 0)
    }

    private static func subtracted(_ one: [UInt8], from other: [UInt8]) -> [UInt8] {
        var (bytes, borrow) = (other, 0)
        for index in bytes.indices.reversed() {
            let digit = Int(other[index]) - Int(one[index]) - borrow
            borrow = digit < 0 ? 1 : 0
            bytes[index] = UInt8(digit & 0xFF)
        }
        return bytes
    }

    private static func constant(_ hex: String) -> [UInt8] {
        guard let bytes = try? bytes(hex: hex), bytes.count == 32 else {
            preconditionFailure("a number has 32 bytes")
        }
        return bytes
    }
}
