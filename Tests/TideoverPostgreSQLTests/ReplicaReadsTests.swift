import Testing
import TideoverCore
import TideoverLocks
import TideoverPostgreSQL
import TideoverStorage

/// The age of what a replica has. The database is its own replica here;
/// `scripts/replica-test.sh` has a real one.
@Suite(.onPostgreSQL) struct `Reads from a replica` {
    private let uptime = Locked<Int64>(0)

    private func set(_ milliseconds: Int64) {
        uptime.withLock { $0 = milliseconds * 1_000_000 }
    }

    private func replica(of database: TestDatabase) throws -> ReplicaReads {
        let uptime = uptime
        return try ReplicaReads(
            address: database.address,
            server: "s",
            staleness: .seconds(5),
            uptime: { uptime.withLock(\.self) }
        )
    }

    private func announce(_ storage: PostgreSQLStorage) async throws -> Int64 {
        try await storage.announce(ServerRecord(id: "s", version: "1", configuration: "c"))
    }

    /// Announces until the replica's connections are there.
    private func connect(_ replica: ReplicaReads, _ storage: PostgreSQLStorage) async throws {
        for _ in 0..<500 {
            replica.announced(try await announce(storage), sentAt: uptime.withLock(\.self))
            guard replica.row(of: Work.key(0)) == nil else { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("the replica cannot be read")
    }

    @Test func `count while the latest announcement is recent enough`() async throws {
        let database = try TestDatabase()
        let storage = try PostgreSQLStorage(address: database.address)
        let replica = try replica(of: database)
        _ = try await storage.commit(Work.commit(0), derive: Work.derive)
        #expect(replica.row(of: Work.key(0)) == nil)
        try await connect(replica, storage)

        set(3_000)
        let found = try #require(replica.row(of: Work.key(0)))
        #expect(found.staleness == .seconds(3))
        #expect(found.row?.version == 1)
        #expect(try #require(replica.row(of: Work.key(1))).row == nil)

        set(5_001)
        #expect(replica.row(of: Work.key(0)) == nil)
        replica.announced(try await announce(storage), sentAt: 5_001_000_000)
        #expect(replica.row(of: Work.key(0))?.staleness == .zero)
        await storage.close()
    }

    @Test func `do not count an announcement that the replica lacks`() async throws {
        let database = try TestDatabase()
        let storage = try PostgreSQLStorage(address: database.address)
        let replica = try replica(of: database)
        try await connect(replica, storage)
        set(5_001)
        replica.announced(-1, sentAt: 5_001_000_000)
        #expect(replica.row(of: Work.key(0)) == nil)
        await storage.close()
    }

    @Test func `end without an error when there is no replica`() throws {
        let replica = try ReplicaReads(
            address: "postgres://tideover@127.0.0.1:1/none",
            server: "s",
            staleness: .seconds(5),
            uptime: { 0 }
        )
        replica.announced(1, sentAt: 0)
        #expect(replica.row(of: Work.key(0)) == nil)
    }
}
