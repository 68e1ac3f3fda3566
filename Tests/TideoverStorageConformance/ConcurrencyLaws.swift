import Testing
import TideoverCore
import TideoverStorage

extension StorageLaw {
    static let concurrencyLaws: [StorageLaw] = [
        StorageLaw("a hundred writers of one lineage lose no update", hundredWriters),
        StorageLaw("a message delivered by many at once is committed once", deliveredByMany),
        StorageLaw("a failed commit does not affect concurrent commits", failsAlone),
        StorageLaw(
            "a reader sees whole commits during writes, and never older ones",
            readersSeeWholeCommits
        ),
    ]

    private static func hundredWriters(_ storage: any Storage) async throws {
        let rows = try await commitTerms(0..<100, to: storage)
        #expect(Set(rows.map(\.version)) == Set(1...100))
        let row = try #require(try storage.row(of: Sample.key("u_1")))
        #expect(row.version == 100)
        let known = try #require(
            try storage.lineages(of: Sample.key("u_1"), now: Sample.day(1))
        )
        #expect(known.lineageRecords.map(\.facts.count) == [100])
        #expect(row.answer == Sample.answer(for: known.lineageRecords))
        let events = try storage.outbox(app: Sample.app, after: nil, limit: 1_000)
        #expect(events.map(\.version) == Array(1...100))
    }

    private static func deliveredByMany(_ storage: any Storage) async throws {
        let outcomes = try await withThrowingTaskGroup(of: CommitOutcome.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    let commitRequest = Sample.commitRequest("n1", facts: [Sample.term(0)])
                    return try await storage.commit(commitRequest, derive: Sample.derive)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.filter { $0 == .duplicate }.count == 49)
        #expect(try storage.row(of: Sample.key("u_1"))?.version == 1)
    }

    private static func failsAlone(_ storage: any Storage) async throws {
        let failed = await withTaskGroup(of: Bool.self) { group in
            for n in 0..<60 {
                group.addTask {
                    let commitRequest = Sample.commitRequest(
                        "n\(n)",
                        facts: [Sample.term(Int64(n))]
                    )
                    let derive = n % 3 == 0 ? Sample.refused : Sample.derive
                    return (try? await storage.commit(commitRequest, derive: derive)) == nil
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(failed == 20)
        let known = try storage.lineages(of: Sample.key("u_1"), now: Sample.day(1))
        let numbers = known?.lineageRecords.flatMap(\.facts).compactMap(\.termID)
        let id = Sample.lineage().id
        #expect(numbers == (0..<60).filter { $0 % 3 != 0 }.map { "\(id)-\($0)" })
        #expect(try storage.row(of: Sample.key("u_1"))?.version == 40)
    }

    private static func readersSeeWholeCommits(_ storage: any Storage) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask { try await readUntilCancelled(from: storage) }
            }
            for n in 0..<60 {
                let commitRequest = Sample.commitRequest("n\(n)", facts: [Sample.term(Int64(n))])
                let row = try await storage.commit(commitRequest, derive: Sample.derive).rows.first
                #expect(try storage.row(of: Sample.key("u_1")) == row)
            }
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    private static func commitTerms(
        _ numbers: Range<Int>,
        to storage: any Storage
    ) async throws -> [CustomerRow] {
        try await withThrowingTaskGroup(of: [CustomerRow].self) { group in
            for n in numbers {
                group.addTask {
                    let commitRequest = Sample.commitRequest(
                        "n\(n)",
                        facts: [Sample.term(Int64(n))]
                    )
                    return try await storage.commit(commitRequest, derive: Sample.derive).rows
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    private static func readUntilCancelled(from storage: any Storage) async throws {
        var latest: Int64 = 0
        repeat {
            if let seen = try storage.lineages(of: Sample.key("u_1"), now: Sample.day(1)) {
                #expect(seen.answer?.answer == Sample.answer(for: seen.lineageRecords))
                #expect(seen.version >= latest)
                latest = seen.version
            }
            await Task.yield()
        } while !Task.isCancelled
        #expect(latest > 0)
    }
}
