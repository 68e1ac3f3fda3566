import Testing
import TideoverPostgreSQL
import TideoverStorageConformance

@Suite(.onPostgreSQL) struct `PostgreSQL as a storage` {
    @Test(arguments: StorageLaw.all)
    func `satisfies every law of storage`(law: StorageLaw) async throws {
        try await law.check(at: TestDatabase())
    }
}
