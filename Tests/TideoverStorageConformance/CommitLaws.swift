import Testing
import TideoverCore
import TideoverStorage

extension StorageLaw {
    static let commitLaws: [StorageLaw] = [
        StorageLaw("a message delivered twice changes nothing the second time", deliveredTwice),
        StorageLaw(
            "one key names different messages in different apps and environments",
            oneKeyManyPlaces
        ),
        StorageLaw("a repeated fact is stored once, as first reported", toldTwice),
        StorageLaw(
            "a different assertion, date or rank makes another fact",
            differentFacts
        ),
        StorageLaw("a failed commit stores nothing", failsWhole),
        StorageLaw("a commit that mixes environments or apps is refused", refusesMixtures),
        StorageLaw("counts add up, also those without an environment", countsAddUp),
        StorageLaw(
            "committed data is present after reopening",
            reopening: survivesReopening
        ),
        StorageLaw("a closed storage refuses every call", reopening: closedRefuses),
    ]

    private static func deliveredTwice(_ storage: any Storage) async throws {
        let first = Sample.commitRequest("n1", facts: [Sample.term(0)])
        let again = Sample.commitRequest(
            "n1",
            facts: [Sample.term(0), Sample.term(1)],
            customers: [Sample.key("u_9")],
            tallies: [Tally(environment: nil, kind: "refusal", name: "x"): 1]
        )
        let outcome = try await storage.commit(first, derive: Sample.derive)
        #expect(outcome.rows.map(\.version) == [1])
        let row = try storage.row(of: Sample.key("u_1"))
        #expect(try await storage.commit(again, derive: Sample.derive) == .duplicate)
        #expect(try storage.row(of: Sample.key("u_1")) == row)
        #expect(try storage.row(of: Sample.key("u_9")) == nil)
        #expect(try storage.counts(app: Sample.app).isEmpty)
    }

    private static func refusesMixtures(_ storage: any Storage) async throws {
        let elsewhere = Sample.term(0, of: Sample.lineage("2", .sandbox))
        let claims = { (lineages: [Lineage]) in
            let claims = lineages.map {
                OwnershipClaim(lineage: $0, customer: Sample.customer("u_1"), at: Sample.day(1))
            }
            return CommitRequest(
                app: Sample.app,
                environment: .production,
                ownership: OwnershipClaims(claims) { _, _, _ in .held },
                now: Sample.day(1)
            )
        }
        let commitRequests = [
            Sample.commitRequest("n1", facts: [Sample.term(0), elsewhere]),
            Sample.commitRequest("n2", customers: [Sample.key("u_1", .sandbox)]),
            Sample.commitRequest("n3", customers: [Sample.key("u_1", app: "chess")]),
            claims([elsewhere.lineage]), claims([Sample.lineage(), Sample.lineage()]),
        ]
        for commitRequest in commitRequests {
            let error = await #expect(throws: StorageError.self) {
                _ = try await storage.commit(commitRequest, derive: Sample.derive)
            }
            #expect(error?.reason == .refused)
        }
        #expect(try storage.row(of: Sample.key("u_1")) == nil)
    }

    private static func oneKeyManyPlaces(_ storage: any Storage) async throws {
        let commitRequests = [
            Sample.commitRequest("n1"), Sample.commitRequest("n1", app: "chess"),
            Sample.commitRequest("n1", .sandbox),
        ]
        for commitRequest in commitRequests {
            let outcome = try await storage.commit(commitRequest, derive: Sample.derive)
            #expect(outcome == .committed(newFacts: 0, customers: []))
        }
    }

    private static func toldTwice(_ storage: any Storage) async throws {
        let first = Sample.term(0, learnedAt: Sample.day(0))
        var again = Sample.term(0, learnedAt: Sample.day(5))
        again.evidence = EvidenceID(hex: "ff")
        again.source = .deviceTransaction
        let once = Sample.commitRequest("n1", facts: [first, first])
        let outcome = try await storage.commit(once, derive: Sample.derive)
        guard case .committed(newFacts: 1, _, _) = outcome else {
            Issue.record("one repeated fact gave \(outcome)")
            return
        }
        let later = Sample.commitRequest("n2", facts: [again])
        #expect(
            try await storage.commit(later, derive: Sample.derive)
                == .committed(newFacts: 0, customers: [])
        )
        let known = try storage.lineages(of: Sample.key("u_1"), now: Sample.day(9))
        #expect(known?.lineageRecords.map(\.facts) == [[first]])
    }

    private static func differentFacts(_ storage: any Storage) async throws {
        let fact = Sample.term(0)
        var later = fact
        later.assertedAt = fact.assertedAt + .seconds(1)
        var enveloped = fact
        enveloped.envelopeSignedAt = fact.envelopeSignedAt + .seconds(1)
        var relayed = fact
        relayed.rank = .relayed
        var said = fact
        said.assertion = .unrecognised(Unrecognised(field: "status", value: "9"))
        let commitRequest = Sample.commitRequest(facts: [fact, later, enveloped, relayed, said])
        let outcome = try await storage.commit(commitRequest, derive: Sample.derive)
        guard case .committed(newFacts: 5, _, _) = outcome else {
            Issue.record("of five facts \(outcome) was stored")
            return
        }
    }

    private static func failsWhole(_ storage: any Storage) async throws {
        let commitRequest = Sample.commitRequest(
            "n1",
            facts: [Sample.term(0)],
            customers: [Sample.key("u_2")],
            tallies: [Tally(environment: .production, kind: "refusal", name: "x"): 1]
        )
        let error = await #expect(throws: StorageError.self) {
            try await storage.commit(commitRequest, derive: Sample.refused)
        }
        #expect(error?.reason == .refused)
        let id = Sample.evidence("n1").id
        #expect(try storage.evidence(id, app: Sample.app) == nil)
        #expect(try storage.lineages(of: Sample.key("u_1"), now: Sample.day(1)) == nil)
        #expect(try storage.row(of: Sample.key("u_2")) == nil)
        #expect(try storage.outbox(app: Sample.app, after: nil, limit: 9).isEmpty)
        #expect(try storage.counts(app: Sample.app).isEmpty)
        let retried = try await storage.commit(commitRequest, derive: Sample.derive)
        #expect(retried.rows.map(\.version) == [1, 1])
    }

    private static func countsAddUp(_ storage: any Storage) async throws {
        let refusal = Tally(environment: nil, kind: "refusal", name: "untrustedRoot")
        let word = Tally(environment: .sandbox, kind: "unrecognised", name: "status=9")
        try await storage.add([refusal: 2, word: 1], app: Sample.app)
        try await storage.add([:], app: Sample.app)
        let commitRequest = Sample.commitRequest("n1", tallies: [refusal: 3])
        _ = try await storage.commit(commitRequest, derive: Sample.derive)
        try await storage.add([refusal: 7], app: "chess")
        #expect(try storage.counts(app: Sample.app) == [refusal: 5, word: 1])
        #expect(try storage.counts(app: "chess") == [refusal: 7])
        #expect(try storage.counts(app: "unknown").isEmpty)
    }

    private static func survivesReopening(at site: any StorageSite) async throws {
        let key = Sample.key("u_1")
        var row: CustomerRow?
        var lineages: CustomerLineages?
        try await site.withStorage { storage in
            let commitRequest = Sample.commitRequest("n1", facts: [Sample.term(0), Sample.term(1)])
            row = try await storage.commit(commitRequest, derive: Sample.derive).rows.first
            lineages = try storage.lineages(of: key, now: Sample.day(2))
        }
        try await site.withStorage { storage in
            let rowFound = try storage.row(of: key)
            #expect(rowFound == row && row != nil)
            let lineagesFound = try storage.lineages(of: key, now: Sample.day(2))
            #expect(lineagesFound == lineages && lineages != nil)
            let again = Sample.commitRequest("n1", facts: [Sample.term(2)])
            let outcome = try await storage.commit(again, derive: Sample.derive)
            #expect(outcome == .duplicate)
        }
    }

    private static func closedRefuses(at site: any StorageSite) async throws {
        let storage = try await site.open()
        await storage.close()
        await storage.close()
        let key = Sample.key("u_1")
        await #expect(throws: StorageError.self) {
            try await storage.commit(Sample.commitRequest("n1"), derive: Sample.derive)
        }
        let tally = Tally(environment: nil, kind: "refusal", name: "x")
        await #expect(throws: StorageError.self) {
            try await storage.add([tally: 1], app: Sample.app)
        }
        await #expect(throws: StorageError.self) { try await storage.add(Sample.apiKey(1)) }
        await #expect(throws: StorageError.self) {
            try await storage.revokeKey("1", at: Sample.day(1))
        }
        #expect(throws: StorageError.self) { try storage.keys() }
        let error = #expect(throws: StorageError.self) { try storage.row(of: key) }
        #expect(error?.reason == .closed)
    }
}
