import CTideoverPostgreSQL
import Glibc
import Testing
import TideoverCore
import TideoverLocks
import TideoverPostgreSQL
import TideoverStorage

/// What the storage does when the database refuses, waits or goes away.
@Suite(.onPostgreSQL) struct `A storage whose database` {
    private func withStorage(
        _ database: TestDatabase,
        _ options: PostgreSQLOptions = PostgreSQLOptions(),
        _ body: (PostgreSQLStorage) async throws -> Void
    ) async throws {
        let storage = try PostgreSQLStorage(address: database.address, options: options)
        do {
            try await body(storage)
        } catch {
            await storage.close()
            throw error
        }
        await storage.close()
    }

    /// Makes the database end the next transactions that add a fact, in favour of none.
    private func failNext(_ count: Int, in database: TestDatabase) throws {
        // A sequence is not rolled back.
        try database.run("CREATE SEQUENCE failures")
        try database.run(
            """
            CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF nextval('failures') <= \(count) THEN
                    RAISE EXCEPTION 'in the way' USING ERRCODE = '40001';
                END IF;
                RETURN new;
            END $$
            """
        )
        try database.run(
            "CREATE TRIGGER fail BEFORE INSERT ON fact FOR EACH ROW EXECUTE FUNCTION fail()"
        )
    }

    @Test func `ends a transaction in favour of others repeats it, and counts that`() async throws {
        let database = try TestDatabase()
        try await withStorage(database) { storage in
            try failNext(3, in: database)
            let outcome = try await storage.commit(Work.commit(0), derive: Work.derive)
            #expect(outcome.rows.map(\.version) == [1])
            #expect(storage.repetitionCount == 3)
        }
    }

    @Test func `always ends a transaction is busy, after a bounded number of attempts`()
        async throws
    {
        let database = try TestDatabase()
        var options = PostgreSQLOptions()
        options.maximumAttempts = 4
        try await withStorage(database, options) { storage in
            try failNext(1_000, in: database)
            let error = await #expect(throws: StorageError.self) {
                try await storage.commit(Work.commit(0), derive: Work.derive)
            }
            #expect(error?.reason == .busy)
            #expect(storage.repetitionCount == 3)
            #expect(try storage.row(of: Work.key(0)) == nil)
        }
    }

    @Test func `ends all connections goes on, and what was acknowledged is there once`()
        async throws
    {
        let database = try TestDatabase()
        try await withStorage(database) { storage in
            var acknowledged = 0
            for number in 0..<60 {
                if number % 7 == 3 { try database.endOtherConnections() }
                // A failed commit may have been stored: a repetition then finds a duplicate.
                while true {
                    do throws(StorageError) {
                        _ = try await storage.commit(Work.commit(number), derive: Work.derive)
                        acknowledged += 1
                        break
                    } catch {
                        #expect(error.reason == .unavailable)
                    }
                }
                #expect(try storage.row(of: Work.key(0))?.version == Int64(acknowledged))
            }
            let events = try storage.outbox(app: Work.app, after: nil, limit: 100)
            #expect(events.map(\.version) == Array(1...60))
        }
    }

    @Test func `is locked by others ends reads and writes in time`() async throws {
        let database = try TestDatabase()
        var options = PostgreSQLOptions()
        // The commits without a lock in their way must also end within this time.
        options.readTimeout = 2_000
        options.writeTimeout = 2_000
        try await withStorage(database, options) { storage in
            _ = try await storage.commit(Work.commit(0), derive: Work.derive)
            let lock = try database.hold("LOCK TABLE customer IN ACCESS EXCLUSIVE MODE")
            let read = #expect(throws: StorageError.self) { try storage.row(of: Work.key(0)) }
            #expect(read?.reason == .busy)
            let write = await #expect(throws: StorageError.self) {
                try await storage.commit(Work.commit(1), derive: Work.derive)
            }
            #expect(write?.reason == .busy)
            lock.release()
            _ = try await storage.commit(Work.commit(1), derive: Work.derive)
            #expect(try storage.row(of: Work.key(0))?.version == 2)
        }
    }

    @Test func `has a server that stopped in a transaction ends it, and others go on`()
        async throws
    {
        let database = try TestDatabase()
        var options = PostgreSQLOptions()
        options.idleTimeout = 1_500
        try await withStorage(database, options) { stopped in
            let isStopped = Locked(false)
            let isOver = Locked(false)
            let late = Task {
                try await stopped.commit(Work.commit(0)) { lineages in
                    isStopped.withLock { $0 = true }
                    while !isOver.withLock({ $0 }) { usleep(10_000) }
                    return Work.derive(lineages)
                }
            }
            while !isStopped.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
            do {
                defer { isOver.withLock { $0 = true } }
                // It would wait for the lock until its own limit, and be busy.
                try await withStorage(database) { other in
                    _ = try await other.commit(Work.commit(1, of: 1), derive: Work.derive)
                }
            }
            // Its commit was sent too, so it is not repeated here but by who sent it.
            let error = await #expect(throws: StorageError.self) { try await late.value }
            #expect(error?.reason == .unavailable)
            let again = try await stopped.commit(Work.commit(0), derive: Work.derive)
            #expect(again.rows.map(\.version) == [1])
        }
    }

    @Test func `opened for reading refuses every write`() async throws {
        let database = try TestDatabase()
        try await withStorage(database) { storage in
            _ = try await storage.commit(Work.commit(0), derive: Work.derive)
        }
        let reading = try PostgreSQLStorage(reading: database.address)
        #expect(try reading.row(of: Work.key(0))?.version == 1)
        let error = await #expect(throws: StorageError.self) {
            try await reading.commit(Work.commit(1), derive: Work.derive)
        }
        #expect(error?.reason == .readOnly)
        await reading.close()
    }

    @Test func `gets a group of commits answers them in few round trips`() async throws {
        let database = try TestDatabase()
        try await withStorage(database) { storage in
            _ = try await storage.commit(Work.commit(1_000, of: 1_000), derive: Work.derive)
            let lock = try database.hold("SELECT app FROM app_lock FOR UPDATE")
            let begun = Locked(0)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        begun.withLock { $0 += 1 }
                        let commit = Work.commit(number, of: number)
                        _ = try await storage.commit(commit, derive: Work.derive)
                    }
                }
                while begun.withLock({ $0 }) < 100 { try await Task.sleep(for: .milliseconds(5)) }
                try await Task.sleep(for: .milliseconds(300))
                let before = storage.roundTripCount
                lock.release()
                try await group.waitForAll()
                // The first commit waits alone for the lock, and the others for it.
                #expect(storage.roundTripCount - before <= 25)
            }
        }
    }
}
