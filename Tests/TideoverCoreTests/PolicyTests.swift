import Testing
import TideoverCore
import TideoverJSON
import TideoverLives

/// The operator's choices, and when they were made.
@Suite struct PolicyTests {
    static let keeping = Policy(billingRetry: .keep(.days(7)))

    /// Suspended at first; access kept for a week from 20 June on, which was recorded on the 22nd.
    static func changing() -> Versioned<Policy> {
        var policy = Versioned(Policy())
        policy.add(
            Versioned.Version(keeping, effectiveAt: "2026-06-20", learnedAt: "2026-06-22")
        )
        return policy
    }

    // MARK: Versions

    @Test func `a value without changes is the same at any instant`() {
        let policy = Versioned(Self.keeping)
        for instant in [Instant.distantPast, "2026-06-01", .distantFuture] {
            #expect(policy.value(at: instant) == Self.keeping)
            #expect(policy.asKnown(at: instant) == policy)
        }
    }

    @Test func `a version applies from the instant it takes effect`() {
        let change: Instant = "2026-06-20"
        #expect(Self.changing().value(at: change.justBefore) == Policy())
        #expect(Self.changing().value(at: change) == Self.keeping)
    }

    @Test func `a version recorded later was not known before`() {
        let learned: Instant = "2026-06-22"
        let before = Self.changing().asKnown(at: learned.justBefore)
        #expect(before.value(at: "2026-06-21") == Policy())
        #expect(Self.changing().asKnown(at: learned).value(at: "2026-06-21") == Self.keeping)
    }

    @Test func `the first version also applies before it, known or not`() throws {
        let only = Versioned.Version(
            Self.keeping,
            effectiveAt: "2026-06-20",
            learnedAt: "2026-06-20"
        )
        let policy = try #require(Versioned(versions: [only]))
        #expect(policy.value(at: "2026-01-01") == Self.keeping)
        #expect(policy.asKnown(at: "2026-01-01") == policy)
        #expect(Versioned<Policy>(versions: []) == nil)
    }

    @Test func `versions in any order form one history, and of conflicting ones the last counts`()
        throws
    {
        func version(_ leeway: Int64, _ from: Instant, learned: Instant)
            -> Versioned<Policy>.Version
        {
            Versioned.Version(
                Policy(renewalLeeway: .hours(leeway)),
                effectiveAt: from,
                learnedAt: learned
            )
        }
        let versions = [
            version(1, "2026-01-01", learned: "2026-01-01"),
            version(3, "2026-03-01", learned: "2026-03-01"),
            version(2, "2026-02-01", learned: "2026-04-01"),
            version(4, "2026-03-01", learned: "2026-05-01"),
        ]
        let forward = try #require(Versioned(versions: versions))
        #expect(Versioned(versions: versions.reversed()) == forward)
        // The late version for February does not extend into March, which has its own.
        let leeways: [(Instant, Int64)] = [
            ("2026-01-31", 1), ("2026-02-01", 2), ("2026-02-28", 2), ("2026-03-01", 4),
        ]
        for (instant, hours) in leeways {
            #expect(forward.value(at: instant).renewalLeeway == .hours(hours))
        }
        #expect(
            forward.asKnown(at: "2026-04-30").value(at: "2026-03-01").renewalLeeway == .hours(3)
        )
        var twice = try #require(Versioned(versions: [versions[0]]))
        twice.add(version(9, "2026-01-01", learned: "2026-01-01"))
        #expect(twice.value(at: "2026-01-01").renewalLeeway == .hours(9))
    }

    // MARK: Effect of versions

    private static func record(
        catalogue: Versioned<Catalogue>? = nil,
        policy: Versioned<Policy>
    ) -> CustomerRecord {
        let life = StandingTests.failing()
        let owner = OwnershipEntry(
            lineage: life.lineage,
            customer: SnapshotTests.anna,
            from: "2026-05-01",
            why: .accountToken
        )
        var facts = life.facts
        for index in facts.indices {
            guard case .term(var term) = facts[index].assertion else { continue }
            term.accountToken = SnapshotTests.anna
            facts[index].assertion = .term(term)
        }
        return CustomerRecord(
            customer: SnapshotTests.anna,
            environment: .production,
            lineageRecords: [.init(lineage: life.lineage, facts: facts, owners: [owner])],
            catalogue: catalogue ?? Versioned(life.catalogue),
            policy: policy
        )
    }

    /// Grace ends on 17 June: retry, kept until the 24th by a policy in effect since the 20th.
    @Test func `a standing uses the policy in effect at its instant`() throws {
        let history = Self.record(policy: Self.changing()).history
        let change: Instant = "2026-06-20"
        let before = try #require(history.snapshot(at: change.justBefore)["premium"])
        #expect(before.standing.told == "hold billingRetry in-retry confirmed")
        #expect(before.nextChange == change)
        let after = try #require(history.snapshot(at: change)["premium"])
        #expect(after.standing.told == "grace keptByPolicy retry-kept confirmed")
        #expect(after.nextChange == "2026-06-24")
    }

    /// Kept until 8 June, and refunded in July, after access had ended.
    @Test func `a later policy does not move the end of access before a refund`() {
        var life = StandingTests.monthly()
        life.outlook(end: "2026-06-01", signed: "2026-06-01", retrying: true)
        life.revoke("1", at: "2026-07-15")
        for change: Instant in ["2026-07-01", "2026-08-01"] {
            var policy = Versioned(Self.keeping)
            policy.add(Versioned.Version(Policy(), effectiveAt: change, learnedAt: change))
            let standing = life.history.standing(at: "2026-09-01", policy: policy)
            #expect(standing.told == "expired refunded revoked confirmed")
            #expect(standing.accessUntil == "2026-06-08")
        }
    }

    @Test func `an answer as of then uses the facts known then`() throws {
        let record = Self.record(policy: Self.changing())
        let learned: Instant = "2026-06-22"
        func access(_ instant: Instant) -> Bool? {
            record.asKnown(at: instant).history.snapshot(at: instant)["premium"]?.standing.access
        }
        #expect(access(learned.justBefore) == false)
        #expect(access(learned) == true)
        #expect(record.history.snapshot(at: learned.justBefore)["premium"]?.standing.access == true)
    }

    @Test func `a product unlocks what the catalogue of that day states`() throws {
        var catalogue = Versioned(Catalogue())
        let change: Instant = "2026-05-10"
        catalogue.add(
            Versioned.Version(Life().catalogue, effectiveAt: change, learnedAt: change)
        )
        let history = Self.record(catalogue: catalogue, policy: Versioned(Policy())).history
        #expect(history.snapshot(at: change.justBefore).entitlements.isEmpty)
        #expect(history.snapshot(at: change)["premium"]?.standing.state == .active)
    }

    @Test func `a non-renewing purchase keeps the length it was sold with`() throws {
        var life = Life()
        life.term("1", "pass", from: "2026-05-01", to: nil, plan: .nonRenewing)
        var catalogue = Versioned(life.catalogue)
        life.catalogue.products["pass"]?.period = Period(days: 5)
        catalogue.add(
            Versioned.Version(life.catalogue, effectiveAt: "2026-05-02", learnedAt: "2026-05-02")
        )
        let history = LineageHistory(
            lineage: life.lineage,
            facts: life.facts,
            catalogue: catalogue
        )
        #expect(history.standing(at: "2026-05-02", policy: Policy()).accessUntil == "2026-05-31")
    }

    // MARK: Forms

    private func written(_ write: (inout JSONWriter) -> Void) throws -> JSONDocument {
        var writer = JSONWriter()
        write(&writer)
        return try JSONDocument(writer.bytes)
    }

    static let policies = [
        Policy(), keeping,
        Policy(
            renewalLeeway: .minutes(90),
            unreachable: .hours(6),
            sandbox: .deny,
            transfer: .transfer(coolDown: .days(30)),
            reminders: Policy.Reminders(trialEnding: .hours(12), graceEnding: .days(1)),
            prompts: Policy.Prompts(quiet: .hours(2), interval: .days(1), perDay: 1)
        ),
        Policy(sandbox: .review, transfer: .transferIfInactive), Policy(transfer: .keep),
    ]

    @Test(arguments: policies)
    func `a policy survives its JSON form`(policy: Policy) throws {
        #expect(try Policy(json: written(policy.write).root) == policy)
    }

    @Test func `an absent choice has its default`() throws {
        #expect(try Policy(json: JSONDocument("{}").root) == Policy())
        let some = try JSONDocument(#"{"reminders": {"graceEnding": "1d"}}"#).root
        #expect(
            try Policy(json: some) == Policy(reminders: Policy.Reminders(graceEnding: .days(1)))
        )
    }

    @Test(
        arguments: [
            ("[]", .wrongType(field: "policy")),
            (
                #"{"billingRetry": "keep"}"#,
                .unknownWord(field: "billingRetry", value: "keep")
            ),
            (#"{"renewalLeeway": 24}"#, .wrongType(field: "renewalLeeway")),
            (#"{"sandbox": "all"}"#, .unknownWord(field: "sandbox", value: "all")),
            (
                #"{"transfer": "transfer"}"#,
                .unknownWord(field: "transfer", value: "transfer")
            ),
            (#"{"reminders": "none"}"#, .wrongType(field: "reminders")),
            (#"{"prompts": {"perDay": 0}}"#, .unknownWord(field: "perDay", value: "0")),
        ] as [(String, FormError)]
    )
    func `a malformed policy is reported with the wrong choice`(
        text: String,
        error: FormError
    ) throws {
        let node = try JSONDocument(text).root
        #expect(throws: error) { try Policy(json: node) }
    }

    @Test func `a catalogue and its versions survive their JSON form`() throws {
        var priced = Life().catalogue
        priced.products["monthly"]?.price = Money(milliunits: 9990, currency: "USD")
        #expect(try Catalogue(json: written(priced.write).root) == priced)
        var catalogues = Versioned(Life().catalogue)
        catalogues.add(
            Versioned.Version(priced, effectiveAt: "2026-05-10", learnedAt: "2026-05-11")
        )
        #expect(
            try Versioned<Catalogue>(json: written { catalogues.write(to: &$0) }.root)
                == catalogues
        )
        let policies = Self.changing()
        #expect(
            try Versioned<Policy>(json: written { policies.write(to: &$0) }.root) == policies
        )
        let none = try JSONDocument("[]").root
        #expect(throws: FormError.missing(field: "versions")) {
            try Versioned<Policy>(json: none)
        }
    }

    @Test(arguments: ["claim", "keep", "transferIfInactive", "transfer 30d", "transfer 0ms"])
    func `a choice of transfers survives its JSON form`(text: String) {
        #expect(Policy.Transfer(text: text)?.text == text)
    }
}
