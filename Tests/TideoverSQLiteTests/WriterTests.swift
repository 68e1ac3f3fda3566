import Foundation
import Testing
import TideoverCore
import TideoverLocks
import TideoverSQLite
import TideoverStorage

/// Tests many concurrent writes, disk failures, and shutdown.
@Suite struct `The writer` {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private static let tally = Tally(environment: .production, kind: "k", name: "n")

    private static func commitRequest(_ n: Int, bytes: Int = 100) -> CommitRequest {
        let content =
            Array("\(n)".utf8) + Array(repeating: UInt8(truncatingIfNeeded: n), count: bytes)
        return CommitRequest(
            app: "cards",
            environment: .production,
            evidence: Evidence(
                id: EvidenceID(of: content),
                dedupeKey: "n\(n)",
                source: .appStoreNotification,
                signedAt: nil,
                receivedAt: Instant(millisecondsSince1970: 0),
                bytes: content
            ),
            tallies: [tally: 1],
            now: Instant(millisecondsSince1970: Int64(n))
        )
    }

    private static let derive: @Sendable (CustomerLineages) -> Derivation = { _ in
        Derivation(answer: [], validUntil: nil, fingerprint: "p1")
    }

    private static func commit(_ n: Int, bytes: Int = 100, to storage: SQLiteStorage) async throws {
        _ = try await storage.commit(commitRequest(n, bytes: bytes), derive: derive)
    }

    private static func isThere(_ n: Int, bytes: Int = 100, in storage: SQLiteStorage) throws
        -> Bool
    {
        let evidence = commitRequest(n, bytes: bytes).evidence
        let id = try #require(evidence?.id)
        return try storage.evidence(id, app: "cards") == evidence
    }

    /// Waits until all tasks have begun, and a moment longer: the rest of their way into the queue
    /// does not suspend.
    private static func settle(_ hasBegun: () -> Bool) async {
        while !hasBegun() { try? await Task.sleep(for: .milliseconds(10)) }
        try? await Task.sleep(for: .milliseconds(300))
    }

    private static func error(_ body: () async throws -> Void) async -> StorageError? {
        do {
            try await body()
            return nil
        } catch let error as StorageError {
            return error
        } catch {
            Issue.record(error)
            return nil
        }
    }

    @Test func `commits waiting writes in one transaction`() async throws {
        let groups = Locked<[Int]>([])
        let gate = Gate()
        let storage = try folder.open { count in
            groups.withLock { $0.append(count) }
            gate.wait()
        }
        let begun = Count()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for n in 0..<51 {
                group.addTask {
                    begun.increment()
                    try await Self.commit(n, to: storage)
                }
            }
            // The first group is being committed; the others queue up.
            await Self.settle { begun.value == 51 }
            gate.open()
            try await group.waitForAll()
        }
        let sizes = groups.withLock { $0 }
        #expect(sizes.reduce(0, +) == 51)
        #expect(sizes.count <= 4, "\(sizes)")
        #expect(try storage.counts(app: "cards") == [Self.tally: 51])
        await storage.close()
    }

    private static func customer(_ n: Int) throws -> CustomerKey {
        let id = try #require(CustomerID("u_\(n)"))
        return CustomerKey(app: "cards", environment: .production, customer: id)
    }

    /// Derives a customer with an event, which the storage rejects if its kind is empty.
    private static func commit(
        _ n: Int,
        event kind: String,
        to storage: SQLiteStorage
    ) async throws {
        let request = CommitRequest(
            app: "cards",
            environment: .production,
            customers: [try customer(n)],
            tallies: [tally: 1],
            now: Instant(millisecondsSince1970: 9)
        )
        _ = try await storage.commit(request) { lineages in
            Derivation(
                answer: [],
                validUntil: Instant(millisecondsSince1970: 5),
                fingerprint: "p1",
                events: [Event(kind: kind, at: lineages.now, body: [])]
            )
        }
    }

    @Test func `a failed write rolls back nothing else of its transaction`() async throws {
        let gate = Gate()
        let storage = try folder.open { _ in gate.wait() }
        let begun = Count()
        let refused = await withTaskGroup(of: Int?.self) { group in
            for n in 0..<30 {
                group.addTask {
                    begun.increment()
                    let error = await Self.error {
                        try await Self.commit(n, event: n % 10 == 7 ? "" : "kind", to: storage)
                    }
                    #expect(error == nil || error?.reason == .refused)
                    return error == nil ? nil : n
                }
            }
            await Self.settle { begun.value == 30 }
            gate.open()
            return await group.reduce(into: []) { $0 += $1.map { [$0] } ?? [] }
        }
        #expect(refused.sorted() == [7, 17, 27])
        #expect(try storage.counts(app: "cards") == [Self.tally: 27])
        for n in 0..<30 {
            #expect(try (storage.row(of: Self.customer(n)) == nil) == (n % 10 == 7))
        }
        let events = try storage.outbox(app: "cards", after: nil, limit: 100)
        #expect(events.count == 27)
        #expect(Set(events.map(\.id)).count == 27)
        await storage.close()
    }

    @Test func `a claim outlasts a failed write of its transaction`() async throws {
        let (gate, isGated) = (Gate(), Locked(false))
        let storage = try folder.open { _ in if isGated.withLock({ $0 }) { gate.wait() } }
        try await Self.commit(1, event: "kind", to: storage)
        isGated.withLock { $0 = true }
        let begun = Count()
        let order = DueOrder(
            app: "cards",
            environment: .production,
            now: Instant(millisecondsSince1970: 20),
            until: Instant(millisecondsSince1970: 30),
            limit: 10
        )
        let write: @Sendable (Int, String) async -> StorageError? = { n, kind in
            begun.increment()
            return await Self.error { try await Self.commit(n, event: kind, to: storage) }
        }
        // The first is being committed while the others wait, which then share a transaction.
        async let first = write(2, "kind")
        await Self.settle { begun.value == 1 }
        async let claims = storage.claimDue(order)
        async let failed = write(3, "")
        await Self.settle { begun.value == 2 }
        gate.open()
        #expect(await first == nil)
        #expect(await failed?.reason == .refused)
        #expect(try await claims.map(\.customer) == [Self.customer(1), Self.customer(2)])
        #expect(try await storage.claimDue(order).isEmpty)
        await storage.close()
    }

    @Test func `refuses a write that would wait too long`() async throws {
        let gate = Gate()
        var options = SQLiteOptions()
        options.maximumQueueLength = 3
        let storage = try folder.open(options) { _ in gate.wait() }
        let refused = await withTaskGroup(of: StorageError.Reason?.self) { group in
            for n in 0..<40 {
                group.addTask {
                    await Self.error { try await Self.commit(n, to: storage) }?.reason
                }
            }
            var ended: [StorageError.Reason?] = []
            while ended.count < 30, let next = await group.next() { ended.append(next) }
            gate.open()
            return await group.reduce(into: ended) { $0.append($1) }
        }
        #expect(Set(refused.compactMap(\.self)) == [.busy])
        #expect(refused.filter { $0 == nil }.count >= 3)
        #expect(refused.filter { $0 != nil }.count >= 30)
        await storage.close()
    }

    @Test func `commits waiting writes before it closes`() async throws {
        let gate = Gate()
        let storage = try folder.open { _ in gate.wait() }
        let begun = Count()
        let commit: @Sendable (Int) async throws -> Void = { n in
            begun.increment()
            try await Self.commit(n, to: storage)
        }
        async let first: Void = commit(1)
        async let second: Void = commit(2)
        await Self.settle { begun.value == 2 }
        async let closing: Void = storage.close()
        gate.open()
        _ = try await (first, second)
        await closing
        let again = try SQLiteStorage(path: folder.database)
        #expect(try again.counts(app: "cards") == [Self.tally: 2])
        await again.close()
    }

    @Test func `rolls back everything when the commit fails, and continues`() async throws {
        let isFailing = Locked(true)
        let storage = try folder.open { _ throws(StorageError) in
            guard isFailing.withLock({ $0 }) else { return }
            throw StorageError(.io, place: "rehearsed")
        }
        await withTaskGroup(of: Void.self) { group in
            for n in 0..<20 {
                group.addTask {
                    let error = await #expect(throws: StorageError.self) {
                        try await Self.commit(n, to: storage)
                    }
                    #expect(error?.reason == .io)
                }
            }
        }
        #expect(try storage.counts(app: "cards").isEmpty)
        isFailing.withLock { $0 = false }
        try await Self.commit(0, to: storage)
        #expect(try Self.isThere(0, in: storage))
        #expect(try storage.counts(app: "cards") == [Self.tally: 1])
        #expect(try storage.problems().isEmpty)
        await storage.close()
    }

    @Test func `refuses writes after the disk failed to sync`() async throws {
        let count = Counter()
        let storage = try folder.open { _ throws(StorageError) in
            if count.next() == 2 { throw StorageError(.unconfirmed, place: "rehearsed") }
        }
        try await Self.commit(1, to: storage)
        for n in 2...4 {
            let error = await #expect(throws: StorageError.self) {
                try await Self.commit(n, to: storage)
            }
            #expect(error?.reason == .unconfirmed)
        }
        #expect(try Self.isThere(1, in: storage))
        await storage.close()
        let again = try SQLiteStorage(path: folder.database)
        try await Self.commit(2, to: again)
        #expect(try Self.isThere(1, in: again) && Self.isThere(2, in: again))
        await again.close()
    }

    @Test func `reports a full disk, keeps its data, and continues with more space`() async throws {
        var options = SQLiteOptions()
        options.maximumByteCount = 400_000
        // Jobs in one transaction fail together, so most of them should come after the first group.
        options.maximumGroupCount = 8
        let small = try SQLiteStorage(path: folder.database, options: options)
        let kept = await withTaskGroup(of: Int?.self) { group in
            for n in 0..<120 {
                group.addTask {
                    let error = await Self.error {
                        try await Self.commit(n, bytes: 5_000, to: small)
                    }
                    #expect(error == nil || error?.reason == .full)
                    return error == nil ? n : nil
                }
            }
            return await group.reduce(into: []) { $0 += $1.map { [$0] } ?? [] }
        }
        #expect((10..<100).contains(kept.count))
        #expect(try small.counts(app: "cards") == [Self.tally: Int64(kept.count)])
        for n in 0..<120 {
            #expect(try Self.isThere(n, bytes: 5_000, in: small) == kept.contains(n))
        }
        #expect(try small.problems().isEmpty)
        await small.close()
        let large = try SQLiteStorage(path: folder.database)
        for n in 0..<120 where !kept.contains(n) {
            try await Self.commit(n, bytes: 5_000, to: large)
        }
        #expect(try large.counts(app: "cards") == [Self.tally: 120])
        await large.close()
    }

    @Test(arguments: [1, 7, 30])
    func `has every acknowledged write on disk, wherever it is stopped`(commits: Int) async throws {
        let crashed = try TemporaryFolder()
        let folder = folder
        let count = Counter()
        let storage = try folder.open { _ in
            // One transaction is written but not committed.
            if count.next() == commits + 1 { try? folder.copyAsCrashed(to: crashed) }
        }
        for n in 0...commits { try await Self.commit(n, bytes: 3_000, to: storage) }
        await storage.close()

        let copy = try SQLiteStorage(path: crashed.database)
        #expect(try copy.problems().isEmpty)
        for n in 0..<commits { #expect(try Self.isThere(n, bytes: 3_000, in: copy)) }
        #expect(try !Self.isThere(commits, bytes: 3_000, in: copy))
        #expect(try copy.counts(app: "cards") == [Self.tally: Int64(commits)])
        try await Self.commit(commits, bytes: 3_000, to: copy)
        #expect(try Self.isThere(commits, bytes: 3_000, in: copy))
        await copy.close()
    }

    @Test(arguments: [1, 40, 150])
    func `has every acknowledged write on disk when its process dies`(after: Int) async throws {
        let path = folder.database
        let acknowledged = folder.path + "/acknowledged"
        try Data().write(to: URL(filePath: acknowledged))
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, acknowledged = acknowledged as String, after] in
            try await Self.commitUntilKilled(path, acknowledged, after: after)
        }
        let numbers = try String(contentsOfFile: acknowledged, encoding: .utf8)
            .split(separator: "\n").compactMap { Int($0) }
        #expect(numbers.count >= after)
        let storage = try SQLiteStorage(path: path)
        #expect(try storage.problems().isEmpty)
        for n in numbers { #expect(try Self.isThere(n, in: storage)) }
        let present = try (0..<400).filter { try Self.isThere($0, in: storage) }
        #expect(try storage.counts(app: "cards") == [Self.tally: Int64(present.count)])
        await storage.close()
    }

    private static func commitUntilKilled(
        _ path: String,
        _ acknowledged: String,
        after limit: Int
    ) async throws {
        let storage = try SQLiteStorage(path: path)
        let log = try FileHandle(forWritingTo: URL(filePath: acknowledged))
        let count = Counter()
        await withTaskGroup(of: Void.self) { group in
            for n in 0..<400 {
                group.addTask {
                    guard (try? await commit(n, to: storage)) != nil else { return }
                    try? log.write(contentsOf: Data("\(n)\n".utf8))
                    if count.next() == limit { kill(getpid(), SIGKILL) }
                }
            }
        }
    }

    @Test func `keeps its log short while it writes`() async throws {
        let storage = try SQLiteStorage(path: folder.database)
        let key = try CustomerKey(
            app: "cards",
            environment: .production,
            customer: #require(CustomerID("u_1"))
        )
        for n in 0..<12 {
            let now = Instant(millisecondsSince1970: Int64(n))
            let commitRequest = CommitRequest(
                app: "cards",
                environment: .production,
                customers: [key],
                now: now
            )
            _ = try await storage.commit(commitRequest) { _ in
                let answer = Array(repeating: UInt8(n), count: 6 << 20)
                return Derivation(answer: answer, validUntil: nil, fingerprint: "p1")
            }
        }
        let log = URL(filePath: folder.database + "-wal")
        let size = try #require(try log.resourceValues(forKeys: [.fileSizeKey]).fileSize)
        #expect(size < 2 * CheckpointPlan.softPageCount * 4_096)
        await storage.close()
        #expect(!FileManager.default.fileExists(atPath: log.path))
    }

    @Test func `lets a reader wait a moment, then reports that all are busy`() async throws {
        var options = SQLiteOptions()
        options.readerCount = 0
        options.readerPatience = 20
        let storage = try SQLiteStorage(path: folder.database, options: options)
        let error = #expect(throws: StorageError.self) { try storage.counts(app: "cards") }
        #expect(error?.reason == .busy)
        await storage.close()
    }
}

/// Counts from 1.
private final class Counter: Sendable {
    private let latest = Locked(0)

    func next() -> Int {
        latest.withLock { latest in
            latest += 1
            return latest
        }
    }
}

/// Blocks threads until it is opened, permanently.
private final class Gate: Sendable {
    private let isOpen = Locked(false)

    func open() { isOpen.withLock { $0 = true } }

    func wait() {
        while !isOpen.withLock({ $0 }) { usleep(1_000) }
    }
}

private final class Count: Sendable {
    private let count = Locked(0)

    var value: Int { count.withLock { $0 } }

    func increment() { count.withLock { $0 += 1 } }
}
