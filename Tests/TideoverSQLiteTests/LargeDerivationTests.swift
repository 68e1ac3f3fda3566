import Foundation
import Testing
import TideoverCore
import TideoverLocks
import TideoverSQLite
import TideoverStorage
import TideoverStorageConformance

/// Customers with more lineages than the writer may process.
@Suite(.timeLimit(.minutes(20))) struct LargeDerivationTests {
    private let folder: TemporaryFolder
    private let storage: SQLiteStorage

    init() throws {
        folder = try TemporaryFolder()
        var options = SQLiteOptions()
        options.mostLineagesInside = 3
        storage = try SQLiteStorage(path: folder.database, options: options)
    }

    private static let start = Instant(millisecondsSince1970: 1_777_000_000_000)
    private static let anna = key("anna")

    private static func key(_ customer: String) -> CustomerKey {
        guard let id = CustomerID(customer) else { preconditionFailure("\(customer) is no id") }
        return CustomerKey(app: "cards", environment: .production, customer: id)
    }

    private static func fact(_ lineage: String, _ month: Int64 = 0, of customer: String) -> Fact {
        let begin = start + .days(30 * month)
        return Fact(
            lineage: Lineage(store: .appStore, environment: .production, id: lineage),
            assertion: .term(
                Term(
                    transactionId: "\(lineage)-\(month)",
                    productId: "cards.pro.monthly",
                    start: begin,
                    end: begin + .days(30),
                    accountToken: CustomerID(customer)
                )
            ),
            effectiveAt: begin,
            assertedAt: begin,
            learnedAt: begin + .seconds(2),
            source: .appStoreNotification,
            evidence: EvidenceID(hex: "00")
        )
    }

    private static func commitRequest(_ facts: [Fact], customers: [CustomerKey] = [])
        -> CommitRequest
    {
        CommitRequest(
            app: "cards",
            environment: .production,
            facts: facts,
            customers: customers,
            now: start + .days(90)
        )
    }

    /// Derives an answer that lists exactly its facts.
    private static func derive(_ lineages: CustomerLineages) -> Derivation {
        let facts = lineages.lineageRecords.flatMap(\.facts).compactMap { fact -> String? in
            if case .term(let term) = fact.assertion { term.transactionId } else { nil }
        }
        let list = facts.map { "\"\($0)\"" }.joined(separator: ",")
        return Derivation(answer: Array("[\(list)]".utf8), validUntil: nil, fingerprint: "p1")
    }

    private func answer(_ key: CustomerKey = anna) throws -> String? {
        try storage.row(of: key).map { String(decoding: $0.answer, as: UTF8.self) }
    }

    private func buyFive() async throws {
        _ = try await storage.commit(
            Self.commitRequest((1...5).map { Self.fact("\($0)", of: "anna") }),
            derive: Self.derive
        )
        #expect(try answer() == #"["1-0","2-0","3-0","4-0","5-0"]"#)
    }

    @Test func `other customers are served while a large one is derived`() async throws {
        try await buyFive()
        let (begun, othersAreDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let large = storage.commit(Self.commitRequest([Self.fact("6", of: "anna")])) {
            lineages in
            begun.signal()
            othersAreDone.wait()
            return Self.derive(lineages)
        }
        await Self.waited(for: begun)
        // The derivation above is still running: if it blocked the writer, these commits would not
        // return.
        for number in 1...3 {
            let other = Self.commitRequest([Self.fact("b\(number)", of: "ben")])
            _ = try await storage.commit(other, derive: Self.derive)
        }
        #expect(try answer(Self.key("ben")) == #"["b1-0","b2-0","b3-0"]"#)
        // No part of the large customer's commit is visible before its answer is stored.
        #expect(try storage.lineages(of: Self.anna, now: Self.start)?.lineageRecords.count == 5)
        othersAreDone.signal()
        guard case .committed(let count, let rows, _) = try await large else {
            Issue.record("it is no duplicate")
            return
        }
        #expect(count == 1)
        #expect(rows.map(\.version) == [2])
        #expect(try answer() == #"["1-0","2-0","3-0","4-0","5-0","6-0"]"#)
        await storage.close()
    }

    @Test func `a change during a derivation repeats it`() async throws {
        try await buyFive()
        let calls = Locked(0)
        let (begun, isRestored) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let large = storage.commit(Self.commitRequest([Self.fact("6", of: "anna")])) {
            lineages in
            if Self.count(calls) == 1 {
                begun.signal()
                isRestored.wait()
            }
            return Self.derive(lineages)
        }
        await Self.waited(for: begun)
        // An import adds a fact to one of the customer's purchases.
        let restored = try await storage.restore(
            [.fact(Self.fact("3", 1, of: "anna"))],
            in: AppScope("cards", .production),
            now: Self.start + .days(90)
        )
        #expect(restored == [.added])
        isRestored.signal()
        _ = try await large
        #expect(calls.withLock { $0 } == 2)
        #expect(try answer() == #"["1-0","2-0","3-0","3-1","4-0","5-0","6-0"]"#)
        await storage.close()
    }

    @Test func `a customer with constant changes is derived inside the transaction`()
        async throws
    {
        try await buyFive()
        let calls = Locked(0)
        let prune = PruneOrder(
            .drift,
            app: "cards",
            environment: .production,
            before: Self.start,
            limit: 1
        )
        _ = try await storage.commit(Self.commitRequest([], customers: [Self.anna])) {
            [storage] lineages in
            // The last one blocks the writer, so a prune meanwhile would not return.
            if Self.count(calls) <= 5 {
                let done = DispatchSemaphore(value: 0)
                Task {
                    _ = try? await storage.prune(prune)
                    done.signal()
                }
                done.wait()
            }
            return Self.derive(lineages)
        }
        #expect(calls.withLock { $0 } == 6)
        #expect(try storage.row(of: Self.anna)?.version == 1)
        await storage.close()
    }

    @Test func `many commits of one large customer all count, in order`() async throws {
        try await buyFive()
        try await withThrowingTaskGroup { group in
            for number in 10..<40 {
                group.addTask { [storage] in
                    _ = try await storage.commit(
                        Self.commitRequest([Self.fact("\(number)", of: "anna")]),
                        derive: Self.derive
                    )
                }
            }
            try await group.waitForAll()
        }
        let row = try #require(try storage.row(of: Self.anna))
        #expect(row.version == 31)
        let all = try #require(try storage.lineages(of: Self.anna, now: Self.start))
        #expect(all.lineageRecords.count == 35)
        #expect(row.answer == Self.derive(all).answer)
        await storage.close()
    }

    @Test func `closing finishes started derivations`() async throws {
        try await buyFive()
        let begun = DispatchSemaphore(value: 0)
        async let large = storage.commit(Self.commitRequest([Self.fact("6", of: "anna")])) {
            lineages in
            begun.signal()
            return Self.derive(lineages)
        }
        await Self.waited(for: begun)
        await storage.close()
        _ = try await large
        let again = try SQLiteStorage(path: folder.database)
        #expect(try again.lineages(of: Self.anna, now: Self.start)?.lineageRecords.count == 6)
        await again.close()
    }

    private static func count(_ calls: Locked<Int>) -> Int {
        calls.withLock { count in
            count += 1
            return count
        }
    }

    /// Waits on a thread outside Swift's pool.
    private static func waited(for semaphore: DispatchSemaphore) async {
        await withCheckedContinuation { caller in
            DispatchQueue.global().async {
                semaphore.wait()
                caller.resume()
            }
        }
    }
}

/// A site where every customer with a purchase counts as large.
private struct LargeSite: StorageSite {
    let folder: TemporaryFolder

    func open() async throws -> any Storage {
        var options = SQLiteOptions()
        options.mostLineagesInside = 0
        return try SQLiteStorage(path: folder.database, options: options)
    }
}

@Suite struct `SQLite with large customers` {
    @Test(arguments: StorageLaw.all)
    func `satisfies every law of storage`(law: StorageLaw) async throws {
        try await law.check(at: LargeSite(folder: TemporaryFolder()))
    }
}
