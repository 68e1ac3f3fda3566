import Testing
import TideoverCore
import TideoverStorage

extension StorageLaw {
    static let customerLaws: [StorageLaw] = [
        StorageLaw("an unknown customer has no data", strangers),
        StorageLaw(
            "a derivation receives all stored data, the previous answer and the instant",
            derivationSeesAll
        ),
        StorageLaw(
            "a read of a customer's lineages equals the input of a derivation",
            readingShowsTheSame
        ),
        StorageLaw("a customer named by the request is derived without new facts", namedCustomers),
        StorageLaw("the version increases by one exactly when the answer changes", versions),
        StorageLaw("a pass is stored with its answer, and a new pass is no new version", passes),
        StorageLaw(
            "a customer stays reconciled from the first instant, in one environment",
            reconciling
        ),
        StorageLaw("a change of ownership derives both customers", ownershipMoves),
        StorageLaw("a purchase moved by an operator stays with its new owner", movesStay),
        StorageLaw("a term of the same customer adds no owner", ownerStays),
        StorageLaw("ownership does not depend on the order of arrival", ownershipInAnyOrder),
        StorageLaw(
            "each claim to a lineage is decided after the one before it",
            claimsAreRuledOn
        ),
        StorageLaw(
            "facts without an owner are stored and found when claimed",
            unclaimedFacts
        ),
        StorageLaw("environments, apps and kinds of ownership are never mixed", neverMixed),
        StorageLaw("names are stored exactly, whatever they contain", hostileNames),
    ]

    private static func movesStay(_ storage: any Storage) async throws {
        let first = Sample.term(0, token: "u_1")
        _ = try await storage.commit(Sample.commitRequest(facts: [first]), derive: Sample.derive)
        let move = OwnershipMove(
            customer: Sample.customer("u_2"),
            former: [Sample.customer("u_1")],
            from: Sample.day(1),
            why: "another account",
            by: "support"
        )
        let fact = Fact(
            lineage: first.lineage,
            assertion: .move(move),
            effectiveAt: Sample.day(1),
            assertedAt: Sample.day(1),
            learnedAt: Sample.day(1),
            source: .operator,
            evidence: EvidenceID(hex: "")
        )
        let outcome = try await storage.commit(
            Sample.commitRequest(facts: [fact]),
            derive: Sample.derive
        )
        guard case .committed(1, let customers, _) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(customers.map(\.key.customer.text) == ["u_1", "u_2"])
        let renewal = Sample.term(1, token: "u_1")
        _ = try await storage.commit(Sample.commitRequest(facts: [renewal]), derive: Sample.derive)
        let owners = try storage.lineageRecord(first.lineage, app: Sample.app).owners
        #expect(owners.map(\.customer.text) == ["u_1", "u_2"])
        let audit = try storage.audit(app: Sample.app, customer: nil, after: nil, limit: 9)
        #expect(audit.map(\.entry.kind) == [.transferred])
        #expect(audit.map(\.entry.actor) == [.operator])
        #expect(audit.map(\.entry.by) == ["support"])
        #expect(audit.map(\.entry.other?.text) == ["u_1"])
    }

    private static func claimsAreRuledOn(_ storage: any Storage) async throws {
        let fact = Sample.term(0, token: nil)
        _ = try await storage.commit(Sample.commitRequest(facts: [fact]), derive: Sample.derive)
        let outcomes = try await withThrowingTaskGroup(of: CommitOutcome.self) { group in
            for n in 1...8 {
                let claim = OwnershipClaim(
                    lineage: fact.lineage,
                    customer: Sample.customer("u_\(n)"),
                    at: Sample.day(2)
                )
                let commitRequest = CommitRequest(
                    app: Sample.app,
                    environment: .production,
                    ownership: OwnershipClaims([claim]) { claim, lineageRecord, holder in
                        #expect(lineageRecord.facts == [fact])
                        #expect((holder == nil) == lineageRecord.owners.isEmpty)
                        return claim.ruling(
                            facts: lineageRecord.facts,
                            owners: lineageRecord.owners,
                            policy: .claim,
                            holderHasAccess: { true }
                        )
                    },
                    now: Sample.day(2)
                )
                group.addTask { try await storage.commit(commitRequest, derive: Sample.derive) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let rulings = outcomes.flatMap { outcome -> [ClaimRuling] in
            if case .committed(_, _, let rulings) = outcome { rulings } else { [] }
        }
        #expect(rulings.filter { $0.code == "claimed" }.count == 1)
        #expect(rulings.filter { $0 == .refused(.heldByAnother) }.count == 7)
        let owners = try storage.lineageRecord(fact.lineage, app: Sample.app).owners
        #expect(owners.map(\.why) == [.claimed])
    }

    private static func strangers(_ storage: any Storage) async throws {
        _ = try await storage.commit(
            Sample.commitRequest("n1", facts: [Sample.term(0)]),
            derive: Sample.derive
        )
        #expect(try storage.row(of: Sample.key("u_2")) == nil)
        #expect(try storage.lineages(of: Sample.key("u_2"), now: Sample.day(1)) == nil)
        #expect(try storage.evidence(EvidenceID(hex: "00"), app: Sample.app) == nil)
    }

    private static func passes(_ storage: any Storage) async throws {
        let key = Sample.key("u_1")
        let passes = [
            IssuedPass(
                compact: Array("a.b.c".utf8),
                signer: "k1 tideover",
                issuedAt: Sample.day(1),
                renewAt: Sample.day(4)
            ),
            IssuedPass(compact: [], signer: "", issuedAt: Sample.day(0), renewAt: nil),
            nil,
        ]
        var before: IssuedPass?
        for pass in passes {
            let commitRequest = Sample.commitRequest(customers: [key])
            let last = before
            let outcome = try await storage.commit(commitRequest) { lineages in
                #expect(lineages.answer?.pass == last)
                let derivation = Sample.derive(lineages)
                return Derivation(
                    answer: derivation.answer,
                    validUntil: derivation.validUntil,
                    fingerprint: derivation.fingerprint,
                    pass: pass
                )
            }
            #expect(outcome.rows.map(\.pass) == [pass])
            let row = try storage.row(of: key)
            #expect(row?.pass == pass)
            #expect(row?.version == 1)
            before = pass
        }
    }

    private static func reconciling(_ storage: any Storage) async throws {
        let key = Sample.key("u_1")
        func commit(
            _ environment: Environment = .production,
            on day: Int64,
            isReconciled: Bool
        ) async throws -> Instant? {
            let key = Sample.key("u_1", environment)
            let commitRequest = CommitRequest(
                app: Sample.app,
                environment: environment,
                customers: [key],
                reconciled: isReconciled ? [key] : [],
                now: Sample.day(day)
            )
            let rows = try await storage.commit(commitRequest) { lineages in
                // The derivation already has the new instant.
                Derivation(
                    answer: Array((lineages.reconciledAt?.rfc3339 ?? "").utf8),
                    validUntil: nil,
                    fingerprint: "p1"
                )
            }.rows
            let row = try #require(rows.first)
            #expect(row.answer == Array((row.reconciledAt?.rfc3339 ?? "").utf8))
            #expect(try storage.row(of: key) == row)
            return row.reconciledAt
        }
        #expect(try await commit(on: 1, isReconciled: false) == nil)
        #expect(try await commit(on: 2, isReconciled: true) == Sample.day(2))
        #expect(try await commit(on: 3, isReconciled: true) == Sample.day(2))
        #expect(try await commit(on: 4, isReconciled: false) == Sample.day(2))
        #expect(try storage.lineages(of: key, now: Sample.day(5))?.reconciledAt == Sample.day(2))
        #expect(try await commit(.sandbox, on: 6, isReconciled: false) == nil)
        // A customer without any other data is stored as reconciled.
        let other = Sample.key("u_2")
        let commitRequest = CommitRequest(
            app: Sample.app,
            environment: .production,
            reconciled: [other],
            now: Sample.day(7)
        )
        #expect(
            try await storage.commit(commitRequest, derive: Sample.derive).rows.map(\.key) == [
                other
            ]
        )
        #expect(try storage.row(of: other)?.reconciledAt == Sample.day(7))
    }

    private static func derivationSeesAll(_ storage: any Storage) async throws {
        let late = Sample.commitRequest("n2", facts: [Sample.term(1)], now: Sample.day(31))
        let early = Sample.commitRequest("n1", facts: [Sample.term(0)], now: Sample.day(40))
        let first = try await storage.commit(late, derive: Sample.derive).rows
        let second = try await storage.commit(early) { lineages in
            #expect(lineages.key == Sample.key("u_1"))
            #expect(lineages.answer == first.first)
            #expect(lineages.version == 1)
            #expect(lineages.now == Sample.day(40))
            #expect(lineages.lineageRecords.map(\.lineage) == [Sample.lineage()])
            #expect(lineages.lineageRecords.map(\.facts) == [[Sample.term(0), Sample.term(1)]])
            return Sample.derive(lineages)
        }
        #expect(second.rows.map(\.version) == [2])
        #expect(second.rows.map(\.derivedAt) == [Sample.day(40)])
        #expect(second.rows.map(\.validUntil) == [Sample.day(60)])
        #expect(try storage.row(of: Sample.key("u_1")) == second.rows.first)
    }

    private static func readingShowsTheSame(_ storage: any Storage) async throws {
        let other = Sample.lineage("3000000000000001")
        let facts = [Sample.term(0), Sample.term(0, of: other)]
        _ = try await storage.commit(
            Sample.commitRequest("n1", facts: facts),
            derive: Sample.derive
        )
        let now = Sample.day(3)
        let read = try storage.lineages(of: Sample.key("u_1"), now: now)
        let again = Sample.commitRequest(customers: [Sample.key("u_1")], now: now)
        _ = try await storage.commit(again) { seen in
            #expect(seen == read)
            return Sample.derive(seen)
        }
    }

    private static func namedCustomers(_ storage: any Storage) async throws {
        let commitRequest = Sample.commitRequest(customers: [Sample.key("u_7")])
        let outcome = try await storage.commit(commitRequest, derive: Sample.derive)
        #expect(outcome.rows.map(\.key) == [Sample.key("u_7")])
        #expect(outcome.rows.map(\.text) == ["[]"])
        #expect(try storage.row(of: Sample.key("u_7")) == outcome.rows.first)
        let known = try storage.lineages(of: Sample.key("u_7"), now: Sample.day(2))
        #expect(known?.answer == outcome.rows.first)
    }

    private static func versions(_ storage: any Storage) async throws {
        var versions: [Int64] = []
        for (day, answer) in ["a", "a", "b", "b", "a", ""].enumerated() {
            let now = Sample.day(Int64(day))
            let commitRequest = Sample.commitRequest(customers: [Sample.key("u_1")], now: now)
            let outcome = try await storage.commit(commitRequest) { _ in
                Derivation(
                    answer: Array(answer.utf8),
                    validUntil: day == 1 ? now : nil,
                    fingerprint: "p\(day)"
                )
            }
            versions += outcome.rows.map(\.version)
            let row = try #require(try storage.row(of: Sample.key("u_1")))
            #expect(row.text == answer && row.fingerprint == "p\(day)")
            #expect(row.derivedAt == now && row.validUntil == (day == 1 ? now : nil))
        }
        #expect(versions == [1, 1, 2, 2, 3, 4])
    }

    private static func ownershipMoves(_ storage: any Storage) async throws {
        let mine = Sample.commitRequest("n1", facts: [Sample.term(0, token: "u_1")])
        let theirs = Sample.commitRequest("n2", facts: [Sample.term(1, token: "u_2")])
        let before = try await storage.commit(mine, derive: Sample.derive)
        #expect(before.rows.map(\.key) == [Sample.key("u_1")])
        let after = try await storage.commit(theirs, derive: Sample.derive)
        #expect(after.rows.map(\.key) == [Sample.key("u_1"), Sample.key("u_2")])
        #expect(after.rows.map(\.version) == [2, 1])
        for customer in ["u_1", "u_2"] {
            let known = try storage.lineages(of: Sample.key(customer), now: Sample.day(31))
            let lineageRecord = try #require(known?.lineageRecords.first)
            #expect(lineageRecord.facts.count == 2)
            #expect(lineageRecord.owners.map(\.customer.text) == ["u_1", "u_2"])
            #expect(lineageRecord.owners.owner(at: Sample.day(31)) == Sample.customer("u_2"))
        }
    }

    private static func ownerStays(_ storage: any Storage) async throws {
        for n in 0..<3 {
            let commitRequest = Sample.commitRequest("n\(n)", facts: [Sample.term(Int64(n))])
            _ = try await storage.commit(commitRequest, derive: Sample.derive)
        }
        let known = try storage.lineages(of: Sample.key("u_1"), now: Sample.day(61))
        #expect(known?.lineageRecords.map(\.owners.count) == [1])
    }

    private static func ownershipInAnyOrder(_ storage: any Storage) async throws {
        for (number, token) in [(0, "u_1"), (2, "u_1"), (1, "u_2")] {
            let term = Sample.term(Int64(number), token: token)
            _ = try await storage.commit(
                Sample.commitRequest("n\(number)", facts: [term]),
                derive: Sample.derive
            )
        }
        let known = try storage.lineages(of: Sample.key("u_1"), now: Sample.day(61))
        let owners = try #require(known?.lineageRecords.first?.owners)
        #expect(
            [1, 31, 61].map { owners.owner(at: Sample.day($0))?.text } == ["u_1", "u_2", "u_1"]
        )
    }

    private static func unclaimedFacts(_ storage: any Storage) async throws {
        let unclaimed = Sample.commitRequest("n1", facts: [Sample.term(0, token: nil)])
        let outcome = try await storage.commit(unclaimed, derive: Sample.derive)
        #expect(outcome == .committed(newFacts: 1, customers: []))
        let claimed = Sample.commitRequest("n2", facts: [Sample.term(1)])
        let rows = try await storage.commit(claimed, derive: Sample.derive).rows
        #expect(rows.map(\.key) == [Sample.key("u_1")])
        let known = try storage.lineages(of: Sample.key("u_1"), now: Sample.day(31))
        #expect(known?.lineageRecords.map(\.facts.count) == [2])
    }

    private static func neverMixed(_ storage: any Storage) async throws {
        let sandbox = Sample.term(1, of: Sample.lineage(Sample.lineage().id, .sandbox))
        let only = Sample.lineage("1", .xcode)
        let shared = Sample.lineage(Sample.lineage().id, .production, .familyShared)
        let commitRequests = [
            Sample.commitRequest("n1", facts: [Sample.term(0)]),
            Sample.commitRequest("n2", .sandbox, facts: [sandbox]),
            Sample.commitRequest("n3", app: "chess", facts: [Sample.term(2)]),
            Sample.commitRequest("n4", facts: [Sample.term(3, of: shared, token: "u_2")]),
            Sample.commitRequest("n5", .xcode, facts: [Sample.term(4, of: only)]),
        ]
        for commitRequest in commitRequests {
            let outcome = try await storage.commit(commitRequest, derive: Sample.derive)
            #expect(outcome.rows.map(\.version) == [1])
        }
        let found = [
            Sample.key("u_1"), Sample.key("u_1", .sandbox), Sample.key("u_1", app: "chess"),
            Sample.key("u_2"), Sample.key("u_1", .xcode),
        ].map { key in
            try? storage.lineages(of: key, now: Sample.day(200))?.lineageRecords
                .flatMap(\.facts).compactMap(\.termID)
        }
        let id = Sample.lineage().id
        #expect(found == [["\(id)-0"], ["\(id)-1"], ["\(id)-2"], ["\(id)-3"], ["1-4"]])
    }

    private static func hostileNames(_ storage: any Storage) async throws {
        let names = [
            "'; DROP TABLE fact; --", "\"quoted\"", "ünïcödé 🂡", "nul\u{0}inside", "%_\\",
            String(repeating: "long", count: 500),
        ]
        for name in names {
            let fact = Sample.term(0, of: Sample.lineage(name), token: name)
            let commitRequest = Sample.commitRequest(name, app: name, facts: [fact])
            let outcome = try await storage.commit(commitRequest, derive: Sample.derive)
            let key = Sample.key(name, app: name)
            #expect(outcome.rows.map(\.key) == [key])
            #expect(try storage.row(of: key) == outcome.rows.first)
            let known = try storage.lineages(of: key, now: Sample.day(1))
            #expect(known?.lineageRecords.map(\.facts) == [[fact]])
        }
    }
}
