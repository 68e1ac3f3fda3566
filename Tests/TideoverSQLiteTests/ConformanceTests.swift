import Testing
import TideoverSQLite
import TideoverStorageConformance

@Suite struct `SQLite as a storage` {
    @Test(arguments: StorageLaw.all)
    func `satisfies every law of storage`(law: StorageLaw) async throws {
        try await law.check(at: TemporaryFolder())
    }
}
