import Foundation
import Testing
import TideoverJSON
import TideoverSignatures

struct MutationTests {
    /// The value of `TIDEOVER_SEED`, otherwise random; a failure prints it.
    private static let seed =
        ProcessInfo.processInfo.environment["TIDEOVER_SEED"].flatMap { UInt64($0) }
        ?? .random(in: 0...UInt64(Int64.max))

    @Test func `a document with any bit flipped is never accepted`() async throws {
        var random = SplitMix64(state: Self.seed)
        let chain = try TestChain()
        let compact = try chain.compact()
        let verifier = try chain.verifier()
        try verifier.verify(JWS(compact), at: TestChain.instant).isExpected()
        var codes: [String: Int] = [:]
        for round in 0..<3000 {
            await Task.yield()
            var altered = compact
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                let index = Int.random(in: 0..<altered.count, using: &random)
                altered[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            guard altered != compact else { continue }
            let found = try refusal {
                _ = try verifier.verify(JWS(altered), at: TestChain.instant)
            }
            #expect(found != nil, "seed \(Self.seed), round \(round)")
            codes[found?.code ?? "", default: 0] += 1
        }
        #expect(verifier.cachedChainCount == 1)
        print("mutations, seed \(Self.seed): \(codes.sorted { $0.key < $1.key })")
    }

    /// Flips bits one level down, where base64 cannot detect it: in certificates, payload,
    /// signature.
    @Test func `a chain with any bit of a certificate flipped verifies nothing`() async throws {
        var random = SplitMix64(state: Self.seed)
        let chain = try TestChain {
            $0.rootKey = .generate(.p256)
            $0.intermediateKey = .generate(.p256)
        }
        let verifier = try chain.verifier()
        var codes: [String: Int] = [:]
        for round in 0..<3000 {
            await Task.yield()
            var certificates = chain.certificates
            let which = Int.random(in: 0..<2, using: &random)
            for _ in 0...Int.random(in: 0..<2, using: &random) {
                let index = Int.random(in: 0..<certificates[which].count, using: &random)
                certificates[which][index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            guard certificates != chain.certificates else { continue }
            let found = try refusal {
                _ = try verifier.verifyChain(der: certificates, at: TestChain.instant)
            }
            #expect(found != nil, "seed \(Self.seed), round \(round)")
            codes[found?.code ?? "", default: 0] += 1
        }
        print("certificate mutations, seed \(Self.seed): \(codes.sorted { $0.key < $1.key })")
    }

    @Test func `a document cut or padded anywhere is never accepted`() throws {
        let chain = try TestChain()
        let compact = try chain.compact()
        let verifier = try chain.verifier()
        for count in stride(from: 0, to: compact.count, by: 7) {
            for altered in [Array(compact.prefix(count)), Array(compact.suffix(count))] {
                #expect(throws: SignatureRefusal.self) {
                    try verifier.verify(JWS(altered), at: TestChain.instant)
                }
            }
        }
        for extra in ["\n", " ", "=", "A", ".", "\0"] {
            for altered in [compact + Array(extra.utf8), Array(extra.utf8) + compact] {
                #expect(throws: SignatureRefusal.self) {
                    try verifier.verify(JWS(altered), at: TestChain.instant)
                }
            }
        }
    }
}

/// A small random generator with its seed as the whole state (Steele, Lea, Flood 2014).
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
