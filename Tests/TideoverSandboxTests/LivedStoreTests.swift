import Testing
import TideoverSandbox
import TideoverSignatures

/// A random life with many faults is determined by its seed to the byte, before anything is signed.
@Suite struct LivedStoreTests {
    @Test func `equal seeds give equal App Store lives, different seeds different ones`()
        async throws
    {
        let digest = try await digest(LivedAppStore.self, seed: 7)
        #expect(try await self.digest(LivedAppStore.self, seed: 7) == digest)
        #expect(try await self.digest(LivedAppStore.self, seed: 8) != digest)
    }

    @Test func `equal seeds give equal Google Play lives, different seeds different ones`()
        async throws
    {
        let digest = try await digest(LivedGooglePlay.self, seed: 7)
        #expect(try await self.digest(LivedGooglePlay.self, seed: 7) == digest)
        #expect(try await self.digest(LivedGooglePlay.self, seed: 8) != digest)
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `an App Store saved and restored at every event continues unchanged`(seed: UInt64)
        async throws
    {
        try await interrupt(LivedAppStore.self, seed: seed)
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `a Google Play saved and restored at every event continues unchanged`(seed: UInt64)
        async throws
    {
        try await interrupt(LivedGooglePlay.self, seed: seed)
    }

    private func interrupt<Store: LivedStore>(_: Store.Type, seed: UInt64) async throws {
        var whole = try await Store(seed: seed)
        var interrupted = try await Store(seed: seed)
        for _ in 0..<80 {
            try await interrupted.takeUpAgain()
            #expect(try await interrupted.live() == whole.live())
        }
        #expect(await interrupted.now == whole.now)
        #expect(await interrupted.saved == whole.saved)
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
