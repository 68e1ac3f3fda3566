import Testing
import TideoverSandbox
import TideoverSignatures

/// A life in which much goes wrong follows from its seed to the byte, before anything is signed.
@Suite struct LivedStoreTests {
    @Test func `a life in the App Store is the same after the same seed, and no other`()
        async throws
    {
        let digest = try await digest(LivedAppStore.self, seed: 7)
        #expect(try await self.digest(LivedAppStore.self, seed: 7) == digest)
        #expect(try await self.digest(LivedAppStore.self, seed: 8) != digest)
    }

    @Test func `a life in Google Play is the same after the same seed, and no other`() async throws
    {
        let digest = try await digest(LivedGooglePlay.self, seed: 7)
        #expect(try await self.digest(LivedGooglePlay.self, seed: 7) == digest)
        #expect(try await self.digest(LivedGooglePlay.self, seed: 8) != digest)
    }

    private func digest<Store: LivedStore>(_: Store.Type, seed: UInt64) async throws -> [UInt8] {
        var store = try await Store(seed: seed)
        var (digest, heard): ([UInt8], Int) = ([], 0)
        for _ in 0..<200 {
            for line in try await store.live() {
                digest = SHA256.hash(digest + Array(line.utf8))
                heard += 1
            }
        }
        #expect(heard > 100)
        return digest
    }
}
