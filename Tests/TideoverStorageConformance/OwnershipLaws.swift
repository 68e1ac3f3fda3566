import Testing
import TideoverCore
import TideoverStorage

extension StorageLaw {
    static let ownershipLaws: [StorageLaw] = [
        StorageLaw("two ids of one customer have one answer", aliasesAreOne),
        StorageLaw("an alias is permanent, and aliases form no chains", reopening: aliasesStay),
        StorageLaw(
            "every transfer is audited, and a repeated refusal once",
            changesAreAudited
        ),
        StorageLaw("a purchase without an owner is listed until it has one", unclaimedAreListed),
        StorageLaw("a claim finds no holder where an owner is only inferred", inferredOwnersYield),
        StorageLaw("customer ids and aliases are found by their prefix", idsAreListed),
    ]

    private static func declare(
        _ alias: String,
        of customer: String,
        _ day: Int64,
        in storage: any Storage
    ) async throws {
        let line = CustomerAlias(
            alias: Sample.customer(alias),
            customer: Sample.customer(customer),
            from: Sample.day(day),
            by: "k"
        )
        let commitRequest = CommitRequest(
            app: Sample.app,
            environment: .production,
            alias: line,
            now: Sample.day(day)
        )
        _ = try await storage.commit(commitRequest, derive: Sample.derive)
    }

    private static func aliasesAreOne(_ storage: any Storage) async throws {
        for (id, token) in [("1", "anna"), ("2", "phone"), ("2", "phone")] {
            let fact = Sample.term(0, of: Sample.lineage(id), token: token)
            _ = try await storage.commit(Sample.commitRequest(facts: [fact]), derive: Sample.derive)
        }
        // The joined answer gets a version higher than those of both ids.
        let again = Sample.commitRequest(facts: [
            Sample.term(1, of: Sample.lineage("2"), token: "phone")
        ])
        _ = try await storage.commit(again, derive: Sample.derive)
        let before = try #require(try storage.row(of: Sample.key("phone")))
        try await declare("phone", of: "anna", 3, in: storage)
        let row = try #require(try storage.row(of: Sample.key("anna")))
        #expect(try storage.row(of: Sample.key("phone")) == row)
        #expect(row.version > before.version)
        let both = try #require(try storage.lineages(of: Sample.key("phone"), now: Sample.day(4)))
        #expect(both.lineageRecords.map(\.lineage.id) == ["1", "2"])
        #expect(both.identity.primary == Sample.customer("anna"))
        #expect(both.answer == row)
        // A fact about a purchase of either id derives the customer once.
        let news = Sample.commitRequest(facts: [
            Sample.term(2, of: Sample.lineage("2"), token: "phone")
        ])
        guard
            case .committed(_, let rows, _) = try await storage.commit(news, derive: Sample.derive)
        else {
            Issue.record("nothing was committed")
            return
        }
        #expect(rows.map(\.key) == [Sample.key("anna")])
        // The alias is no longer due.
        let due = try await storage.claimDue(
            DueOrder(
                app: Sample.app,
                environment: .production,
                now: Sample.day(900),
                until: Sample.day(901),
                limit: 10
            )
        )
        #expect(due.map(\.customer) == [Sample.key("anna")])
    }

    private static func aliasesStay(_ site: any StorageSite) async throws {
        try await site.withStorage { storage in
            try await declare("phone", of: "anna", 1, in: storage)
            try await declare("web", of: "phone", 2, in: storage)
            // All of these are refused.
            try await declare("phone", of: "ben", 3, in: storage)
            try await declare("anna", of: "ben", 3, in: storage)
            try await declare("anna", of: "web", 3, in: storage)
        }
        try await site.withStorage { storage in
            let anna = try storage.identity(of: Sample.key("anna"))
            #expect(anna.all.map(\.text) == ["anna", "phone", "web"])
            #expect(anna.instants == [Sample.day(1), Sample.day(2)])
            #expect(try storage.identity(of: Sample.key("web")).aliases == anna.aliases)
            #expect(try storage.identity(of: Sample.key("ben")).aliases == [])
            #expect(try storage.identity(of: Sample.key("anna", .sandbox)).aliases == [])
        }
    }

    /// Claims a lineage; the present owner keeps it, unless `moves` is set.
    private static func claim(
        _ lineage: Lineage,
        for customer: String,
        _ day: Int64,
        moves: Bool = false,
        in storage: any Storage
    ) async throws {
        let claim = OwnershipClaim(
            lineage: lineage,
            customer: Sample.customer(customer),
            at: Sample.day(day)
        )
        let policy: Policy.Transfer = moves ? .transfer(coolDown: .zero) : .claim
        let commitRequest = CommitRequest(
            app: Sample.app,
            environment: .production,
            ownership: OwnershipClaims([claim]) { claim, lineageRecord, _ in
                claim.ruling(
                    facts: lineageRecord.facts,
                    owners: lineageRecord.owners,
                    policy: policy
                ) { true }
            },
            now: Sample.day(day)
        )
        _ = try await storage.commit(commitRequest, derive: Sample.derive)
    }

    private static func changesAreAudited(_ storage: any Storage) async throws {
        let lineage = Sample.lineage("1")
        let bought = Sample.commitRequest(facts: [Sample.term(0, of: lineage, token: nil)])
        _ = try await storage.commit(bought, derive: Sample.derive)
        try await claim(lineage, for: "anna", 1, in: storage)
        for day in 2...4 { try await claim(lineage, for: "ben", Int64(day), in: storage) }
        try await claim(lineage, for: "ben", 5, moves: true, in: storage)
        let named = Sample.commitRequest(
            facts: [Sample.term(1, of: lineage, token: "carl")],
            now: Sample.day(31)
        )
        _ = try await storage.commit(named, derive: Sample.derive)
        try await declare("phone", of: "carl", 32, in: storage)
        func told(_ customer: CustomerKey?, after: EventID? = nil, limit: Int = 9) throws
            -> [String]
        {
            let lines = try storage.audit(
                app: Sample.app,
                customer: customer,
                after: after,
                limit: limit
            )
            return lines.map { line in
                let other = line.entry.other?.text ?? "-"
                let subject = line.entry.customer?.text ?? "-"
                return "\(line.entry.kind.rawValue) \(subject) \(other)"
            }
        }
        let all = [
            "claimed anna -", "claimRefused ben anna", "transferred ben anna",
            "transferred carl ben", "aliased carl phone",
        ]
        #expect(try told(nil) == all)
        #expect(try told(Sample.key("anna")) == Array(all.prefix(3)))
        #expect(try told(Sample.key("phone")) == Array(all.suffix(2)))
        #expect(try told(Sample.key("anna", .sandbox)) == [])
        let second = try #require(
            try storage.audit(app: Sample.app, customer: nil, after: nil, limit: 2).last
        )
        #expect(try told(nil, after: second.id, limit: 2) == Array(all[2..<4]))
        #expect(second.entry.at == Sample.day(2))
        #expect(try storage.audit(app: "chess", customer: nil, after: nil, limit: 9).isEmpty)
    }

    private static func unclaimedAreListed(_ storage: any Storage) async throws {
        for (number, token) in [nil, "anna", nil, nil].enumerated() {
            let fact = Sample.term(0, of: Sample.lineage("\(number)"), token: token)
            _ = try await storage.commit(Sample.commitRequest(facts: [fact]), derive: Sample.derive)
        }
        func listed(after: String? = nil, limit: Int = 9) throws -> [String] {
            try storage.unclaimed(
                in: AppScope(Sample.app, .production),
                after: after,
                limit: limit
            ).map(\.lineage.id)
        }
        func count(limit: Int = 9) throws -> Int {
            try storage.unclaimedCount(in: AppScope(Sample.app, .production), limit: limit)
        }
        #expect(try listed() == ["0", "2", "3"])
        #expect(try listed(after: "appStore:0", limit: 1) == ["2"])
        #expect(try count() == 3)
        #expect(try count(limit: 2) == 2)
        try await claim(Sample.lineage("2"), for: "ben", 1, in: storage)
        let named = Sample.commitRequest(facts: [
            Sample.term(1, of: Sample.lineage("3"), token: "carl")
        ])
        _ = try await storage.commit(named, derive: Sample.derive)
        #expect(try listed() == ["0"])
        #expect(try count() == 1)
        let elsewhere = try storage.unclaimed(
            in: AppScope(Sample.app, .sandbox),
            after: nil,
            limit: 9
        )
        #expect(elsewhere.isEmpty)
    }

    private static func inferredOwnersYield(_ storage: any Storage) async throws {
        let lineage = Sample.lineage("1")
        let inferred = Fact(
            lineage: lineage,
            assertion: .inferredOwner(
                InferredOwner(
                    customer: Sample.customer("anna"),
                    from: Sample.day(0),
                    expired: PlayToken("expired")
                )
            ),
            effectiveAt: Sample.day(0),
            assertedAt: Sample.day(0),
            learnedAt: Sample.day(0),
            rank: .inferred,
            source: .server,
            evidence: EvidenceID(hex: "01")
        )
        for fact in [Sample.term(0, of: lineage, token: nil), inferred] {
            _ = try await storage.commit(Sample.commitRequest(facts: [fact]), derive: Sample.derive)
        }
        func owners() throws -> [OwnershipEntry] {
            try storage.lineageRecord(lineage, app: Sample.app).owners
        }
        #expect(try owners().owner(at: Sample.day(1)) == Sample.customer("anna"))
        let scope = AppScope(Sample.app, .production)
        #expect(try storage.unclaimed(in: scope, after: nil, limit: 9).isEmpty)
        #expect(try storage.row(of: Sample.key("anna")) != nil)
        try await claim(lineage, for: "ben", 1, in: storage)
        try await claim(lineage, for: "carl", 2, in: storage)
        #expect(try owners().map(\.why) == [.inferred, .claimed])
        #expect(try owners().owner(at: Sample.day(0)) == Sample.customer("ben"))
        let lines = try storage.audit(app: Sample.app, customer: nil, after: nil, limit: 9)
        #expect(lines.map(\.entry.kind) == [.claimed, .claimRefused])
        #expect(lines.map(\.entry.other) == [nil, Sample.customer("ben")])
    }

    private static func idsAreListed(_ storage: any Storage) async throws {
        for (number, token) in ["anna", "annika", "ben", "an"].enumerated() {
            let fact = Sample.term(0, of: Sample.lineage("\(number)"), token: token)
            _ = try await storage.commit(Sample.commitRequest(facts: [fact]), derive: Sample.derive)
        }
        // One id with purchases becomes an alias, and one unknown id.
        try await declare("annika", of: "ben", 2, in: storage)
        try await declare("annex", of: "ben", 2, in: storage)
        func listed(_ prefix: String, after: String? = nil, limit: Int = 9) throws -> [String] {
            try storage.customers(
                in: AppScope(Sample.app, .production),
                prefix: prefix,
                after: after,
                limit: limit
            ).map { $0.id == $0.customer ? $0.id.text : "\($0.id.text) of \($0.customer.text)" }
        }
        #expect(try listed("") == ["an", "anna", "annex of ben", "annika of ben", "ben"])
        #expect(try listed("ann") == ["anna", "annex of ben", "annika of ben"])
        #expect(try listed("ann", after: "anna", limit: 1) == ["annex of ben"])
        #expect(try listed("ann", after: "annika") == [])
        #expect(try listed("ann", after: "a") == ["anna", "annex of ben", "annika of ben"])
        #expect(try listed("c") == [])
        #expect(try listed("", limit: 0) == [])
    }
}
