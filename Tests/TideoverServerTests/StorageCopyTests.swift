import Foundation
import Testing
import TideoverCore
import TideoverSQLite
import TideoverServer
import TideoverStorage

/// Copies onto storages that have an earlier copy already.
@Suite final class `A copy onto an earlier copy` {
    private static let start = Instant(millisecondsSince1970: 1_777_000_000_000)
    private let copy = StorageCopy(app: "cards", environment: .production)
    private let folder = FileManager.default.temporaryDirectory.appending(
        path: "tideover-merge-\(UUID().uuidString)"
    )
    private let source: SQLiteStorage
    private let target: SQLiteStorage

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        source = try SQLiteStorage(path: folder.appending(path: "source.db").path)
        target = try SQLiteStorage(path: folder.appending(path: "target.db").path)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    // MARK: Records

    private func customer(_ text: String) -> CustomerID {
        guard let id = CustomerID(text) else { preconditionFailure("it is an id") }
        return id
    }

    /// Returns an attribute of the customer with a number. A changed one is older, which an import
    /// ignores.
    private func attribute(_ number: Int, isChanged: Bool = false) -> StoredRecord {
        let attribute = CustomerAttribute(
            name: "$displayName",
            value: isChanged ? "new" : "old",
            updatedAt: isChanged ? Self.start - .days(1) : Self.start
        )
        let digits = String("0000\(number)".suffix(5))
        return .attribute(AttributeRecord(customer: customer("u_\(digits)"), attribute: attribute))
    }

    private func owners(_ customers: String..., lineage: String = "1") -> [StoredRecord] {
        customers.enumerated().map { position, name in
            .owner(
                OwnershipEntry(
                    lineage: Lineage(
                        store: .appStore,
                        environment: .production,
                        id: lineage,
                        ownership: .purchased
                    ),
                    customer: customer(name),
                    from: .distantPast,
                    why: .claimed
                ),
                position: position
            )
        }
    }

    private func fill(_ storage: SQLiteStorage, _ records: [StoredRecord]) async throws {
        let outcomes = try await storage.restore(
            records,
            in: AppScope("cards", .production),
            now: Self.start
        )
        #expect(outcomes.allSatisfy { $0 == .added })
    }

    /// Copies, and returns what was added and removed.
    private func run() async throws -> [Int] {
        let before = try copy.summary(of: source) { _ in }
        var read = 0
        let changes = try await copy.run(from: source, to: target, now: Self.start) { read += $0 }
        #expect(try copy.summary(of: source) { _ in } == before)
        #expect(try copy.summary(of: target) { _ in } == before)
        #expect(read == before.records)
        return [changes.added, changes.removed]
    }

    // MARK: Tests

    @Test(arguments: [0, 1, 499, 500, 501, 999, 1_000, 1_001, 1_199])
    func `adds what is new, removes what is gone, and replaces what changed`(
        at place: Int
    ) async throws {
        let all = 0..<1_200
        try await fill(source, all.filter { $0 != place }.map { attribute($0) })
        try await fill(target, all.filter { $0 != place + 1 }.map { attribute($0) })
        let added = place + 1 < all.count ? 1 : 0
        #expect(try await run() == [added, 1])
        #expect(try await run() == [0, 0])
    }

    @Test func `writes only what differs`() async throws {
        let all = 0..<1_200
        try await fill(source, all.map { attribute($0, isChanged: $0 % 7 == 0) })
        try await fill(target, all.map { attribute($0) })
        let changed = all.count { $0 % 7 == 0 }
        #expect(try await run() == [changed, changed])
        #expect(try await run() == [0, 0])
    }

    @Test func `fills an empty target, and empties it for an empty source`() async throws {
        try await fill(source, (0..<501).map { attribute($0) })
        #expect(try await run() == [501, 0])
        let scope = AppScope("cards", .production)
        try await source.remove((0..<501).map { attribute($0) }, in: scope, now: Self.start)
        #expect(try await run() == [0, 501])
        #expect(try !copy.hasRecords(in: target))
    }

    @Test func `replaces an owner together with the later ones of the purchase`() async throws {
        let others = (0..<499).flatMap { owners("anna", lineage: "0\($0)") }
        try await fill(source, others + owners("ben", "cleo") + owners("anna", lineage: "2"))
        try await fill(
            target,
            others + owners("anna", "cleo", "dora") + owners("ben", lineage: "2")
        )
        #expect(try await run() == [3, 4])
        #expect(try await run() == [0, 0])
    }

    @Test func `adds a message whose key the target has for another message`() async throws {
        let pieces = ["a", "b"].map { text in
            let bytes = Array(text.utf8)
            return Evidence(
                id: EvidenceID(of: bytes),
                dedupeKey: "n1",
                source: .appStoreNotification,
                signedAt: Self.start,
                receivedAt: Self.start,
                bytes: bytes
            )
        }.sorted { $0.id.hex < $1.id.hex }
        // The one of the target is removed after the other one was refused, on a later page.
        let between = (0..<64).map { number in
            let bytes = Array("between \(number)".utf8)
            return Evidence(
                id: EvidenceID(of: bytes),
                dedupeKey: "m\(number)",
                source: .appStoreNotification,
                signedAt: Self.start,
                receivedAt: Self.start,
                bytes: bytes
            )
        }
        try await fill(source, [.evidence(pieces[0])] + between.map { .evidence($0) })
        try await fill(target, [.evidence(pieces[1])])
        #expect(try await run() == [65, 1])
        #expect(try await run() == [0, 0])
    }

    @Test func `a customer's answer is the source's after a new fact`() async throws {
        let row = { (answer: String, version: Int64) in
            StoredRecord.customer(
                CustomerRow(
                    key: CustomerKey(
                        app: "cards",
                        environment: .production,
                        customer: self.customer("anna")
                    ),
                    version: version,
                    answer: Array(answer.utf8),
                    validUntil: Self.start + .days(3),
                    fingerprint: "",
                    derivedAt: Self.start
                )
            )
        }
        try await fill(source, owners("anna", "ben") + [row("[2]", 2)])
        try await fill(target, owners("anna") + [row("[1]", 1)])
        #expect(try await run() == [2, 1])
        #expect(try await run() == [0, 0])
    }

    // MARK: The mark

    @Test func `the mark of a copy is read as it was kept`() async throws {
        #expect(try CopyState(of: target) == nil)
        for state in [CopyState.begun, .done] {
            try await state.keep(in: target)
            #expect(try CopyState(of: target) == state)
        }
    }
}

@Suite struct `A sum of digests` {
    private func sum(_ lines: String...) -> StorageCopy.DigestSum {
        lines.reduce(into: StorageCopy.DigestSum()) { $0.add(Array($1.utf8)) }
    }

    @Test func `is the same in any order`() {
        #expect(sum("a", "b", "c") == sum("c", "a", "b"))
    }

    @Test func `tells other lines and other numbers of them apart`() {
        #expect(sum("a", "b") != sum("a", "c"))
        #expect(sum("a", "b") != sum("ab"))
        #expect(sum("a", "a") != sum("b", "b"))
        #expect(sum("a") != sum("a", "a", "a"))
    }

    /// The digest of `abc` is an example of FIPS 180-4.
    @Test func `of one line is its SHA-256`() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(sum("abc").hex == expected)
    }
}
