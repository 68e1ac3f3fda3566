import Testing
import TideoverCore
import TideoverLocks
import TideoverStorage

extension StorageLaw {
    static let settlingLaws: [StorageLaw] = [
        StorageLaw(
            "settled purchases except the first are omitted until new facts arrive",
            settledAreLeftOut
        ),
        StorageLaw(
            "purchases settled after the previous answer's horizon are not omitted",
            settledLater
        ),
        StorageLaw("a derivation that needs all purchases receives all", derivationNeedsAll),
        StorageLaw("another fingerprint invalidates settled purchases", otherFingerprint),
        StorageLaw("a transferred settled lineage is given to both owners", settledChangesHands),
        StorageLaw("a holder's purchases include the claims granted before", holderFollows),
        StorageLaw("concurrent commits derive a customer once", batchDerivesOnce),
        StorageLaw("concurrent commits are stored all or none", batchIsWhole),
    ]

    /// Returns the inputs of the derivations in one commit.
    private static func given(
        _ storage: any Storage,
        _ commitRequests: [CommitRequest],
        fingerprint: String = "p1",
        since: Instant = Sample.day(0),
        needsAll: Bool = false
    ) async throws -> [CustomerLineages] {
        let seen = Locked<[CustomerLineages]>([])
        _ = try await storage.commit(commitRequests) { lineages in
            seen.withLock { $0.append(lineages) }
            let good = Sample.derive(lineages)
            return Derivation(
                answer: good.answer,
                validUntil: nil,
                fingerprint: fingerprint,
                settled: lineages.lineageRecords.map { SettledLineage($0.lineage, since: since) },
                needsAll: needsAll && lineages.leftOut != nil
            )
        }
        return seen.withLock { $0 }
    }

    private static func commitRequest(
        _ ids: [String],
        _ n: Int64 = 0,
        token: String? = "anna",
        now: Instant
    ) -> CommitRequest {
        Sample.commitRequest(
            facts: ids.map { Sample.term(n, of: Sample.lineage($0), token: token) },
            customers: [Sample.key("anna")],
            now: now
        )
    }

    private static let ids = (1...9).map { "\($0)" }

    private static func settledAreLeftOut(_ storage: any Storage) async throws {
        let all = try await given(storage, [commitRequest(ids, now: Sample.day(1))])
        #expect(all.map(\.lineageRecords.count) == [9])
        #expect(all.map(\.leftOut) == [nil])
        // A new fact about one lineage: the derivation receives that lineage and the first.
        let news = try await given(storage, [commitRequest(["5"], 1, now: Sample.day(31))])
        #expect(news.map { $0.lineageRecords.map(\.lineage.id) } == [["1", "5"]])
        #expect(news.map(\.leftOut) == [LeftOut(count: 7, since: Sample.day(0))])
        #expect(news.first?.lineageRecords.last?.facts.count == 2)
        // The lineage is settled again.
        let later = try await given(storage, [commitRequest([], now: Sample.day(32))])
        #expect(later.map { $0.lineageRecords.map(\.lineage.id) } == [["1"]])
        // Readers see all lineages.
        let read = try storage.lineages(of: Sample.key("anna"), now: Sample.day(32))
        #expect(read?.lineageRecords.count == 9)
        #expect(read?.leftOut == nil)
    }

    private static func settledLater(_ storage: any Storage) async throws {
        _ = try await given(storage, [commitRequest(ids, now: Sample.day(1))], since: Sample.day(2))
        let early = try await given(storage, [commitRequest([], now: Sample.day(3))])
        #expect(early.map(\.lineageRecords.count) == [9])
        let now = try await given(storage, [commitRequest([], now: Sample.day(4))])
        #expect(now.map(\.lineageRecords.count) == [1])
        // The clock was set back.
        let back = try await given(storage, [commitRequest([], now: Sample.day(0))])
        #expect(back.map(\.lineageRecords.count) == [9])
    }

    private static func derivationNeedsAll(_ storage: any Storage) async throws {
        _ = try await given(storage, [commitRequest(ids, now: Sample.day(1))])
        let both = try await given(storage, [commitRequest([], now: Sample.day(2))], needsAll: true)
        #expect(both.map(\.lineageRecords.count) == [1, 9])
        let row = try #require(try storage.row(of: Sample.key("anna")))
        #expect(row.answer == Sample.answer(for: both.last?.lineageRecords ?? []))
    }

    private static func otherFingerprint(_ storage: any Storage) async throws {
        _ = try await given(storage, [commitRequest(ids, now: Sample.day(1))])
        let other = [commitRequest([], now: Sample.day(2))]
        _ = try await given(storage, other, fingerprint: "p2", needsAll: true)
        let again = [commitRequest(["3"], 1, now: Sample.day(32))]
        let back = try await given(storage, again, fingerprint: "p2")
        #expect(back.map { $0.lineageRecords.map(\.lineage.id) } == [["1", "3"]])
    }

    private static func settledChangesHands(_ storage: any Storage) async throws {
        _ = try await given(storage, [commitRequest(ids, now: Sample.day(1))])
        let moved = Sample.commitRequest(
            facts: [Sample.term(1, of: Sample.lineage("4"), token: "ben")],
            now: Sample.day(31)
        )
        let both = try await given(storage, [moved])
        #expect(both.map { $0.lineageRecords.map(\.lineage.id) } == [["1", "4"], ["4"]])
    }

    private static func holderFollows(_ storage: any Storage) async throws {
        _ = try await given(storage, [commitRequest(ids, token: "anna", now: Sample.day(1))])
        let read = Locked<[Int]>([])
        let claims = ids.map {
            OwnershipClaim(
                lineage: Sample.lineage($0),
                customer: Sample.customer("ben"),
                at: Sample.day(2)
            )
        }
        let commitRequest = CommitRequest(
            app: Sample.app,
            environment: .production,
            ownership: OwnershipClaims(claims) { claim, _, holder throws(StorageError) in
                #expect(holder?.identity.customer == Sample.customer("anna"))
                guard claim.lineage.id > "4", let holder else {
                    return .refused(.heldByAnother)
                }
                let held = try holder.allLineages().lineageRecords
                #expect(held.count == 9)
                read.withLock { $0.append(held.filter { $0.owners.count == 2 }.count) }
                return .granted(
                    OwnershipEntry(
                        lineage: claim.lineage,
                        customer: claim.customer,
                        from: claim.at,
                        why: .transferred,
                        decidedAt: claim.at
                    )
                )
            },
            now: Sample.day(2)
        )
        _ = try await given(storage, [commitRequest])
        // For a customer derived outside the transaction, each attempt rules once.
        #expect(read.withLock { $0 }.suffix(5) == [0, 1, 2, 3, 4])
    }

    private static func batchDerivesOnce(_ storage: any Storage) async throws {
        let batch = ids.map { id in
            Sample.commitRequest(
                id == "9" ? "n-1" : "n-\(id)",
                facts: [Sample.term(0, of: Sample.lineage(id), token: "anna")]
            )
        }
        let seen = Locked(0)
        let outcomes = try await storage.commit(batch) { lineages in
            seen.withLock { $0 += 1 }
            return Sample.derive(lineages)
        }
        #expect(seen.withLock { $0 } == 1)
        #expect(outcomes.count == 9)
        #expect(outcomes.last == .duplicate)
        let row = try #require(try storage.row(of: Sample.key("anna")))
        for outcome in outcomes.dropLast() {
            #expect(outcome == .committed(newFacts: 1, customers: [row]))
        }
        #expect(row.version == 1)
        let held = try storage.lineages(of: Sample.key("anna"), now: Sample.day(2))
        #expect(held?.lineageRecords.count == 8)
    }

    private static func batchIsWhole(_ storage: any Storage) async throws {
        let good = Sample.commitRequest("n-1", facts: [Sample.term(0, token: "anna")])
        let other = Sample.commitRequest("n-2", .sandbox)
        await #expect(throws: StorageError.self) {
            _ = try await storage.commit([good, other], derive: Sample.derive)
        }
        await #expect(throws: StorageError.self) {
            _ = try await storage.commit([good, good], derive: Sample.refused)
        }
        #expect(try storage.lineages(of: Sample.key("anna"), now: Sample.day(2)) == nil)
        #expect(try await storage.commit([], derive: Sample.derive).isEmpty)
        #expect(try await storage.commit(good, derive: Sample.derive) != .duplicate)
    }
}
