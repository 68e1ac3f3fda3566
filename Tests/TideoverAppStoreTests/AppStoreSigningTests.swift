import Foundation
import Testing
import TideoverAppStore
import TideoverCore
import TideoverJSON

@Suite struct AppStoreSigningTests {
    @Test func `the built-in root equals the certificate that Apple publishes`() {
        let digest = sha256(AppStoreSigning.appleRoot).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        #expect(
            digest.joined() == "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179"
        )
    }

    @Test(.enabled(if: Vectors.present, "vectors are not beside the project"))
    func `the built-in root equals the root of the vectors`() throws {
        #expect(
            try AppStoreSigning.appleRoot == Vectors.bytes("apple/real-chain/REAL_APPLE_ROOT.der")
        )
    }

    @Test func `the digest function of these tests is SHA-256`() {
        #expect(sha256(Array("abc".utf8)).prefix(4) == [0xBA, 0x78, 0x16, 0xBF])
        #expect(sha256(Array(repeating: 0x61, count: 119)).prefix(4) == [0x31, 0xEB, 0xA5, 0x1C])
    }

    @Test(
        arguments: [
            (#"{"signedDate":1681314324000}"#, 1_681_314_324_000),
            (#"{"signedDate":1681314324000.75}"#, 1_681_314_324_000),
            (#"{"receiptCreationDate":1697680122257.447}"#, 1_697_680_122_257),
            (#"{"signedDate":"1681314324000"}"#, nil), (#"{"signedDate":1e300}"#, nil),
            ("{}", nil), ("[]", nil), ("3", nil),
        ] as [(String, Int64?)]
    )
    func `a payload contains its signing date`(text: String, milliseconds: Int64?) throws {
        let date = AppStoreSigning.signedDate(of: try JSONDocument(text))
        #expect(date?.millisecondsSince1970 == milliseconds)
    }
}

/// SHA-256 (FIPS 180-4), implemented here because this target must not import cryptography.
private func sha256(_ message: [UInt8]) -> [UInt8] {
    let primes = (2...311).filter { n in !(2..<n).contains { n % $0 == 0 } }
    let constants = primes.map { fraction(of: cbrt(Double($0))) }
    var hash = primes.prefix(8).map { fraction(of: Double($0).squareRoot()) }
    var padded = message + [0x80]
    while padded.count % 64 != 56 { padded.append(0) }
    let bits = UInt64(message.count) * 8
    padded += (0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(56 - 8 * $0)) }
    for block in stride(from: 0, to: padded.count, by: 64) {
        compress(padded[block..<block + 64], into: &hash, constants)
    }
    return hash.flatMap { word in
        (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) }
    }
}

/// The first 32 bits of the fraction of a root.
private func fraction(of root: Double) -> UInt32 {
    UInt32((root - root.rounded(.down)) * 0x1p32)
}

private func compress(_ block: ArraySlice<UInt8>, into hash: inout [UInt32], _ k: [UInt32]) {
    func turn(_ x: UInt32, _ n: UInt32) -> UInt32 { x >> n | x << (32 - n) }
    var w = stride(from: block.startIndex, to: block.endIndex, by: 4).map { i in
        block[i..<i + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }
    for i in 16..<64 {
        let a = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3
        let b = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10
        w.append(w[i - 16] &+ a &+ w[i - 7] &+ b)
    }
    var s = hash
    for i in 0..<64 {
        let choice = s[4] & s[5] ^ ~s[4] & s[6]
        let e = turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25)
        let first = s[7] &+ e &+ choice &+ k[i] &+ w[i]
        let majority = s[0] & s[1] ^ s[0] & s[2] ^ s[1] & s[2]
        let second = (turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22)) &+ majority
        s = [first &+ second, s[0], s[1], s[2], s[3] &+ first, s[4], s[5], s[6]]
    }
    for i in 0..<8 { hash[i] &+= s[i] }
}
