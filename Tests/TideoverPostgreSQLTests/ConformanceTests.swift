import Testing
import TideoverPostgreSQL
import TideoverStorageConformance

// One after another: each storage has several connections.
@Suite(.onPostgreSQL, .serialized) struct `PostgreSQL as a storage` {
    @Test(arguments: StorageLaw.all)
    func `satisfies every law of storage`(law: StorageLaw) async throws {
        try await law.check(at: TestDatabase())
    }
}
