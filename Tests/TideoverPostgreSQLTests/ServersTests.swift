import Glibc
import Testing
import TideoverCore
import TideoverLocks
import TideoverPostgreSQL
import TideoverStorage

/// Several servers on one database: nothing may rest on being the only one.
@Suite(.onPostgreSQL) struct `Several servers on one database` {
    private static let serverCount = 3

    /// Opens the database as several servers would, and closes it afterwards.
    private func withServers(
        _ database: TestDatabase,
        _ body: ([PostgreSQLStorage]) async throws -> Void
    ) async throws {
        var servers: [PostgreSQLStorage] = []
        for _ in 0..<Self.serverCount {
            servers.append(try PostgreSQLStorage(address: database.address))
        }
        do {
            try await body(servers)
        } catch {
            for server in servers { await server.close() }
            throw error
        }
        for server in servers { await server.close() }
    }

    @Test func `lose no update of one purchase`() async throws {
        try await withServers(TestDatabase()) { servers in
            let rows = try await withThrowingTaskGroup(of: CommitOutcome.self) { group in
                for number in 0..<90 {
                    let server = servers[number % servers.count]
                    group.addTask {
                        try await server.commit(Work.commit(number), derive: Work.derive)
                    }
                }
                return try await group.reduce(into: []) { $0 += $1.rows }
            }
            #expect(Set(rows.map(\.version)) == Set(1...90))
            for server in servers {
                let events = try server.outbox(app: Work.app, after: nil, limit: 1_000)
                #expect(events.map(\.version) == Array(1...90))
            }
        }
    }

    @Test func `commit a message once, whoever receives it`() async throws {
        try await withServers(TestDatabase()) { servers in
            let outcomes = try await withThrowingTaskGroup(of: CommitOutcome.self) { group in
                for number in 0..<60 {
                    let server = servers[number % servers.count]
                    group.addTask {
                        try await server.commit(Work.commit(7), derive: Work.derive)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count { $0 != .duplicate } == 1)
            #expect(try servers[0].row(of: Work.key(0))?.version == 1)
        }
    }

    @Test func `add no event before one that was read`() async throws {
        try await withServers(TestDatabase()) { servers in
            try await withThrowingTaskGroup(of: [EventID].self) { group in
                group.addTask { try await Work.follow(servers[0], upTo: 120) }
                for (index, server) in servers.enumerated() {
                    group.addTask {
                        for number in 0..<40 {
                            // Each commit is about another customer.
                            let own = index * 40 + number
                            let commit = Work.commit(own, of: own)
                            _ = try await server.commit(commit, derive: Work.derive)
                        }
                        return []
                    }
                }
                let followed = try await group.reduce(into: []) { $0 += $1 }
                let all = try servers[1].outbox(app: Work.app, after: nil, limit: 1_000)
                #expect(followed == all.map(\.id))
                #expect(all.count == 120)
            }
        }
    }

    @Test func `number events in the order of commits, whatever isolation the role prefers`()
        async throws
    {
        let database = try TestDatabase()
        let address = database.address(
            setting: ["default_transaction_isolation=repeatable read"]
        )
        var (high, low) = (PostgreSQLOptions(), PostgreSQLOptions())
        high.random = { .max }
        low.random = { .min }
        let first = try PostgreSQLStorage(address: address, options: high)
        let second = try PostgreSQLStorage(address: address, options: low)
        _ = try await second.commit(Work.commit(0, of: 0), derive: Work.derive)
        _ = try await first.commit(Work.commit(1, of: 1), derive: Work.derive)
        let (isHeld, isOver) = (Locked(false), Locked(false))
        async let earlier = first.commit(Work.commit(2, of: 2)) { lineages in
            isHeld.withLock { $0 = true }
            while !isOver.withLock({ $0 }) { usleep(10_000) }
            return Work.derive(lineages)
        }
        while !isHeld.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
        // It waits for the lock of the app, which the first server has.
        async let later = second.commit(Work.commit(3, of: 3), derive: Work.derive)
        try await Task.sleep(for: .milliseconds(300))
        isOver.withLock { $0 = true }
        _ = try await (earlier, later)
        let events = try first.outbox(app: Work.app, after: nil, limit: 10)
        #expect(events.map(\.customer) == (0...3).map(Work.key))
        await first.close()
        await second.close()
    }

    @Test func `give each due customer to one of them`() async throws {
        try await withServers(TestDatabase()) { servers in
            for number in 0..<40 {
                _ = try await servers[0].commit(Work.commit(number, of: number)) { _ in
                    Derivation(answer: [], validUntil: Work.start, fingerprint: "p")
                }
            }
            let claims = try await withThrowingTaskGroup(of: [DueClaim].self) { group in
                for number in 0..<24 {
                    let server = servers[number % servers.count]
                    group.addTask { try await server.claimDue(Work.order(limit: 3)) }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(claims.count == 40)
            #expect(Set(claims.map(\.customer)).count == 40)
        }
    }

    /// Two servers claim a due customer, the second after the first one's claim ended. Returns
    /// whether each of them could store its derivation.
    private func storeClaims(in database: TestDatabase) async throws -> (late: Bool, valid: Bool) {
        var stored = (late: false, valid: false)
        try await withServers(database) { servers in
            _ = try await servers[0].commit(Work.commit(0)) { _ in
                Derivation(answer: [], validUntil: Work.start, fingerprint: "p")
            }
            let slow = try await servers[0].claimDue(Work.order(until: .seconds(1)))
            let quick = try await servers[1].claimDue(Work.order(now: .seconds(2)))
            #expect(slow.map(\.customer) == quick.map(\.customer))
            stored.late = try await !Work.take(slow, in: servers[0]).isEmpty
            let rows = try await Work.take(quick, in: servers[1])
            stored.valid = rows.map(\.key) == [Work.key(0)]
        }
        return stored
    }

    /// The same for a webhook.
    private func settleClaims(in database: TestDatabase) async throws -> (late: Bool, valid: Bool) {
        var settled = (late: false, valid: false)
        try await withServers(database) { servers in
            let key = WebhookKey(app: Work.app, id: "hooks")
            let position = EventID.next(after: nil, at: Work.start, random: 1)
            try await servers[0].put(WebhookRecord(key, form: [], position: position))
            let (now, until) = (Work.start, Work.start + .seconds(1))
            let first = try #require(try await servers[0].claim(key, now: now, until: until))
            #expect(try await servers[1].claim(key, now: now, until: until) == nil)
            let claimed = try await servers[2].claim(key, now: until, until: until + .seconds(1))
            let second = try #require(claimed)
            func settle(_ fence: Int64, _ server: PostgreSQLStorage) async throws -> Bool {
                let end = WebhookSettlement(key, fence: fence, position: position, now: until)
                return try await server.settle(end)
            }
            settled.late = try await settle(first, servers[0])
            settled.valid = try await settle(second, servers[2])
        }
        return settled
    }

    @Test func `ignore a claim that another one has taken over`() async throws {
        #expect(try await storeClaims(in: TestDatabase()) == (late: false, valid: true))
    }

    @Test func `give a webhook to one of them`() async throws {
        #expect(try await settleClaims(in: TestDatabase()) == (late: false, valid: true))
    }

    @Test(arguments: ["customer", "webhook"])
    func `would accept a late claim, if its fence did not rise`(table: String) async throws {
        let database = try TestDatabase()
        await (try await database.open()).close()
        try database.run(
            """
            CREATE FUNCTION keep_fence() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN new.lease_fence = 1; RETURN new; END $$
            """
        )
        try database.run(
            """
            CREATE TRIGGER keep_fence BEFORE UPDATE ON \(table)
            FOR EACH ROW EXECUTE FUNCTION keep_fence()
            """
        )
        let stored =
            table == "customer"
            ? try await storeClaims(in: database) : try await settleClaims(in: database)
        #expect(stored.late)
    }

    @Test func `see a change of keys and policies by its number`() async throws {
        try await withServers(TestDatabase()) { servers in
            var seen = [try #require(try servers[1].sharedChanges())]
            func see() throws { seen.append(try #require(try servers[1].sharedChanges())) }
            let key = KeyRecord(
                id: "k",
                digest: Array(repeating: 7, count: KeyRecord.digestCount),
                kind: .secret,
                apps: [],
                name: "",
                createdAt: Work.start
            )
            try await servers[0].add(key)
            try see()
            _ = try await servers[0].revokeKey("k", at: Work.start)
            try see()
            let version = PolicyVersion(effectiveAt: Work.start, fingerprint: "p", form: [])
            _ = try await servers[0].record(version, in: AppScope(Work.app, .production))
            try see()
            #expect(seen.map(\.keys) == [0, 1, 2, 2])
            #expect(seen.map(\.policyVersions) == [0, 0, 0, 1])
        }
    }

    @Test func `know one another, and forget those that stopped or fell silent`() async throws {
        let database = try TestDatabase()
        try await withServers(database) { servers in
            let records = ["a", "b", "c"].map {
                ServerRecord(id: $0, version: "1", configuration: "x")
            }
            for (server, record) in zip(servers, records) { try await server.announce(record) }
            #expect(try servers[2].servers() == records)
            try await servers[0].withdraw("a")
            #expect(try servers[2].servers() == Array(records[1...]))

            let length = PostgreSQLStorage.serverLifetime
            try database.run("UPDATE server SET seen_at = seen_at - \(length) - 1 WHERE id = 'b'")
            #expect(try servers[2].servers() == [records[2]])
            let changed = ServerRecord(id: "c", version: "2", configuration: "y")
            try await servers[2].announce(changed)
            #expect(try servers[1].servers() == [changed])
            let rows = try database.connect().ask("SELECT count(*) FROM server")
            #expect(try rows.first { $0.integer(0) } == 1)
        }
    }
}
