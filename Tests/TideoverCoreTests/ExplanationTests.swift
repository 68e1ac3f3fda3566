import Testing
import TideoverCore
import TideoverJSON
import TideoverLives

/// Explanations: the rule, its evidence, the facts set aside, and the next change.
@Suite struct ExplanationTests {
    static let anna = SnapshotTests.anna

    static func record(
        _ lives: [Life],
        owner: CustomerID = anna,
        policy: Policy = Policy(),
        environment: Environment = .production
    ) -> CustomerRecord {
        CustomerRecord(
            customer: owner,
            environment: environment,
            lineageRecords: lives.map { $0.owned(by: [$0.owner(owner)]) },
            catalogue: Life().catalogue,
            policy: policy
        )
    }

    static func explain(
        _ lives: Life...,
        at instant: Instant,
        entitlement: String = "premium"
    ) throws -> Explanation {
        let record = record(lives, policy: lives.first?.policy ?? Policy())
        return try #require(record.explanation(of: entitlement, at: instant))
    }

    // MARK: Each rule

    /// A life, an instant, and the expected rule and evidence of the answer.
    struct Case: Sendable, CustomTestStringConvertible {
        var rule: Rule.ID
        var instant: Instant
        var used: [String]
        var reply: String
        var life: Life

        var testDescription: String { rule.rawValue }

        init(
            _ rule: Rule.ID,
            at instant: Instant,
            uses used: [String],
            says reply: String,
            _ life: Life,
            _ more: (inout Life) -> Void = { _ in }
        ) {
            self.rule = rule
            self.instant = instant
            self.used = used
            self.reply = reply
            self.life = life
            more(&self.life)
        }
    }

    static let cases = termCases + playCases

    /// Cases that the rules on Google Play's products decide.
    static let playCases: [Case] = [
        Case(
            .pending,
            at: "2026-05-10",
            uses: ["playSubscription: read"],
            says: "waits for approval or for its payment",
            Life.play()
        ) { $0.read(.pending, until: nil, at: "2026-05-10", started: nil) },
        Case(
            .calledOff,
            at: "2026-05-12",
            uses: ["playSubscription: read"],
            says: "nothing was charged",
            Life.play()
        ) {
            $0.read(.pending, until: nil, at: "2026-05-10", started: nil)
            $0.read(.pendingCancelled, until: nil, at: "2026-05-11", started: nil)
        },
        Case(
            .notStarted,
            at: "2026-04-10",
            uses: ["playSubscription: announcement"],
            says: "begins on 1 May 2026",
            PlayStandingTests.monthly()
        ),
        Case(
            .replaced,
            at: "2026-05-20",
            uses: ["playSubscription: former", "playReplacement: replacement"],
            says: "was replaced by another one on 15 May 2026",
            PlayStandingTests.monthly()
        ) { life in
            let replacement = PlayReplacement(
                token: PlayToken("a"),
                by: PlayToken("b"),
                from: "2026-05-15"
            )
            life.say(.playReplacement(replacement), at: "2026-05-16")
        },
        Case(
            .inTerm,
            at: "2026-05-10",
            uses: ["playSubscription: read"],
            says: "began on 1 May 2026 and is paid until 1 June 2026. It renews on 1 June 2026",
            PlayStandingTests.monthly()
        ),
        Case(
            .cancelled,
            at: "2026-05-25",
            uses: ["playSubscription: read"],
            says: "will not renew; you keep access until 1 June 2026",
            PlayStandingTests.monthly()
        ) { $0.read(.cancelled, until: "2026-06-01", at: "2026-05-20", by: .customer) },
        Case(
            .prepaid,
            at: "2026-05-25",
            uses: ["playSubscription: read"],
            says: "is paid until 1 June 2026. It will not renew",
            Life.play()
        ) {
            $0.read(
                .active,
                until: "2026-06-01",
                at: "2026-05-01",
                plan: .prepaid(extendableFrom: nil)
            )
        },
        Case(
            .inGrace,
            at: "2026-06-02T12:00:00Z",
            uses: [
                "playSubscription: grace", "playSubscription: failure", "playSubscription: read",
            ],
            says:
                "The payment due on 1 June 2026 did not go through, and the store tries it again. "
                + "You keep full access until 8 June 2026.",
            PlayStandingTests.failing()
        ),
        Case(
            .silentGrace,
            at: "2026-06-02",
            uses: ["playSubscription: read"],
            says: "was due to renew on 1 June 2026",
            PlayStandingTests.monthly()
        ),
        Case(
            .storeUnreachable,
            at: "2026-06-04",
            uses: ["playSubscription: read", "inquiry: inquiry"],
            says: "You keep access in the meantime",
            PlayStandingTests.monthly()
        ) {
            $0.ask(.unreachable, at: "2026-06-02")
            $0.policy = Policy(unreachable: .days(5))
        },
        Case(
            .gracePresumed,
            at: "2026-06-04",
            uses: [
                "playSubscription: grace", "playSubscription: failure", "playSubscription: read",
            ],
            says: "You keep full access for now",
            PlayStandingTests.failing()
        ),
        Case(
            .holdPresumed,
            at: "2026-06-20",
            uses: [
                "playSubscription: grace", "playSubscription: failure", "playSubscription: read",
            ],
            says: "Access is paused since 8 June 2026",
            PlayStandingTests.failing()
        ),
        Case(
            .onHold,
            at: "2026-06-20",
            uses: ["playSubscription: failure", "playSubscription: read"],
            says: "Access is paused since 8 June 2026. If you update your payment method in the "
                + "store, access comes back",
            PlayStandingTests.held()
        ),
        Case(
            .paused,
            at: "2026-06-20",
            uses: ["playSubscription: read"],
            says: "is paused since 1 June 2026 and resumes automatically on 1 July 2026",
            PlayStandingTests.paused()
        ),
        Case(
            .resumeDue,
            at: "2026-07-02",
            uses: ["playSubscription: read"],
            says: "was to resume on 1 July 2026",
            PlayStandingTests.paused()
        ),
        Case(
            .unconfirmed,
            at: "2026-06-05",
            uses: ["playSubscription: read"],
            says: "send us the order number",
            PlayStandingTests.monthly()
        ),
        Case(
            .expired,
            at: "2026-06-05",
            uses: ["playSubscription: read"],
            says: "ended on 1 June 2026 because it was cancelled",
            PlayStandingTests.monthly()
        ) { $0.read(.expired, until: "2026-06-01", at: "2026-06-01", by: .customer) },
    ]

    /// Cases that the rules on terms decide.
    static let termCases: [Case] = [
        Case(
            .pending,
            at: "2026-05-10",
            uses: ["pending: pending"],
            says: "waits for approval or for its payment",
            Life()
        ) { life in
            let pending = PendingPurchase(id: "1", productId: "monthly")
            life.say(.pending(pending), at: "2026-05-09")
        },
        Case(
            .calledOff,
            at: "2026-05-10",
            uses: ["pending: pending", "pending: pending"],
            says: "nothing was charged",
            Life()
        ) { life in
            for (isOver, said): (Bool, Instant) in [(false, "2026-05-08"), (true, "2026-05-09")] {
                let pending = PendingPurchase(id: "1", productId: "monthly", isOver: isOver)
                life.say(.pending(pending), at: said)
            }
        },
        Case(
            .storeUnreachable,
            at: "2026-06-02T12:00:00Z",
            uses: ["term: term", "outlook: outlook", "inquiry: inquiry"],
            says: "You keep access in the meantime",
            StandingTests.monthly()
        ) {
            $0.ask(.unreachable, at: "2026-06-01T12:00:00Z")
            $0.policy = Policy(unreachable: .days(3))
        },
        Case(.noFacts, at: "2026-05-10", uses: [], says: "cannot find a purchase", Life()),
        Case(
            .unlinked,
            at: "2026-05-10",
            uses: ["outlook: announcement outlook"],
            says: "no payment for it has been confirmed",
            Life()
        ) { $0.outlook(end: "2026-06-01", signed: "2026-05-01") },
        Case(
            .notStarted,
            at: "2026-04-10",
            uses: ["term: announcement"],
            says: "begins on 1 May 2026",
            StandingTests.monthly()
        ),
        Case(
            .revoked,
            at: "2026-05-10",
            uses: ["term: term", "outlook: outlook", "revocation: revocation"],
            says: "refunded your purchase on 9 May 2026",
            StandingTests.monthly()
        ) { $0.revoke("1", at: "2026-05-09") },
        Case(
            .inTerm,
            at: "2026-05-10",
            uses: ["term: term", "outlook: outlook"],
            says: "began on 1 May 2026 and is paid until 1 June 2026. It renews on 1 June 2026",
            StandingTests.monthly()
        ),
        Case(
            .superseded,
            at: "2026-05-11",
            uses: ["outlook: outlook", "term: term"],
            says: "You keep access in the meantime",
            StandingTests.monthly()
        ) {
            $0.term("1", from: "2026-05-01", to: "2026-06-01", signed: "2026-05-10", upgraded: true)
        },
        Case(
            .renewedUnseen,
            at: "2026-06-15",
            uses: ["outlook: announcement outlook"],
            says: "You have access until 1 July 2026",
            StandingTests.monthly()
        ) { $0.outlook(end: "2026-07-01", signed: "2026-06-01") },
        Case(
            .endedStated,
            at: "2026-06-02",
            uses: ["term: term", "outlook: outlook", "condition: condition"],
            says: "ended on 1 June 2026.",
            StandingTests.monthly()
        ) { $0.condition(.expired, end: "2026-06-01", signed: "2026-05-20") },
        Case(
            .inGrace,
            at: "2026-06-10",
            uses: [
                "term: term", "outlook: outlook grace failure", "condition: condition failure",
            ],
            says:
                "began on 1 May 2026. The payment due on 1 June 2026 did not go through, and the store tries it again. "
                + "You keep full access until 17 June 2026.",
            StandingTests.failing()
        ),
        Case(
            .graceUnstated,
            at: "2026-06-02",
            uses: ["term: term", "outlook: outlook", "condition: condition failure"],
            says: "You keep full access for now",
            StandingTests.monthly()
        ) { $0.condition(.grace, end: "2026-06-01", signed: "2026-06-01") },
        Case(
            .retryKept,
            at: "2026-06-20",
            uses: [
                "term: term", "outlook: outlook grace failure", "condition: condition failure",
            ],
            says: "You keep full access until 24 June 2026",
            StandingTests.failing()
        ) { $0.policy = Policy(billingRetry: .keep(.days(7))) },
        Case(
            .inRetry,
            at: "2026-06-20",
            uses: [
                "term: term", "outlook: outlook grace failure", "condition: condition failure",
            ],
            says: "paused since 17 June 2026. If you update your payment method in the store by "
                + "31 July 2026",
            StandingTests.failing()
        ),
        Case(
            .paused,
            at: "2026-06-20",
            uses: ["term: term", "outlook: outlook"],
            says: "is paused since 1 June 2026 and resumes automatically on 1 July 2026",
            OtherLineageTests.paused()
        ),
        Case(
            .resumeDue,
            at: "2026-07-02",
            uses: ["term: term", "outlook: outlook"],
            says: "was to resume on 1 July 2026",
            OtherLineageTests.paused()
        ),
        Case(
            .notRenewed,
            at: "2026-06-21",
            uses: ["outlook: outlook", "term: reason term"],
            says: "ended on 1 June 2026.",
            StandingTests.monthly()
        ) { $0.receipt(of: "1", from: "2026-05-01", to: "2026-06-01", made: "2026-06-20") },
        Case(
            .renewalDue,
            at: "2026-06-01T01:00:00Z",
            uses: ["term: term", "outlook: outlook"],
            says: "was due to renew on 1 June 2026",
            StandingTests.monthly()
        ),
        Case(
            .unconfirmed,
            at: "2026-06-03",
            uses: ["term: term", "outlook: outlook"],
            says: "send us the order number",
            StandingTests.monthly()
        ),
        Case(
            .ended,
            at: "2026-06-03",
            uses: ["term: term", "outlook: outlook"],
            says: "ended on 1 June 2026 because it was cancelled",
            StandingTests.monthly()
        ) { $0.outlook(end: "2026-06-01", signed: "2026-05-20", renews: false) },
    ]

    @Test(arguments: cases)
    func `an explanation contains the rule and its facts`(expected: Case) throws {
        let why = try Self.explain(expected.life, at: expected.instant)
        #expect(why.decision.standing.rule == expected.rule)
        #expect(why.why == [expected.rule.sentence])
        #expect(why.used.map(\.told) == expected.used)
        let reply = why.reply.joined(separator: " ")
        #expect(reply.contains(expected.reply), "\(reply)")
        #expect(why.used.count + why.setAside.count == expected.life.facts.count)
    }

    @Test func `every rule has a case here`() {
        let tables = [(Self.termCases, Rule.Table.terms), (Self.playCases, .playItems)]
        for (cases, table) in tables {
            let rules = Rule.all.filter { $0.table == table }.map(\.id)
            #expect(Set(cases.map(\.rule)) == Set(rules))
            #expect(Set(rules).count == rules.count)
        }
        #expect(Set(Rule.all.map(\.id)) == Set(Rule.ID.allCases))
    }

    @Test(arguments: cases)
    func `a reply contains neither ids nor identifiers of the code`(expected: Case) throws {
        let reply = try Self.explain(expected.life, at: expected.instant).reply
        #expect(!reply.isEmpty)
        let text = reply.joined(separator: " ")
        let jargon =
            [
                "1000", "chain", "play", "monthly", "t1", "w1", "premium", "lineage", "outlook",
                "UTC", "null",
            ]
            + Rule.ID.allCases.map(\.rawValue).filter { $0.contains("-") }
            + Reason.allCases.map(\.rawValue).filter { $0.contains(where: \.isUppercase) }
        #expect(jargon.filter { text.contains($0) } == [], "\(text)")
    }

    @Test func `the decision equals the snapshot's`() throws {
        for expected in Self.cases {
            let record = Self.record([expected.life], policy: expected.life.policy)
            let snapshot = record.history.snapshot(at: expected.instant)
            #expect(
                record.explanations(at: expected.instant).map(\.decision) == snapshot.entitlements
            )
        }
    }

    @Test func `the announced next standing equals the standing at the next change`() throws {
        let why = try Self.explain(StandingTests.failing(), at: "2026-06-10")
        #expect(why.decision.nextChange == "2026-06-17")
        #expect(why.next?.standing.told == "hold billingRetry in-retry confirmed")
        let over = try Self.explain(StandingTests.failing(), at: "2026-08-10")
        #expect(over.next == nil)
    }

    @Test func `a reversed refund is explained with both of its facts`() throws {
        var life = StandingTests.monthly()
        life.revoke("1", at: "2026-05-09")
        life.reverse("1", at: "2026-05-23")
        let why = try Self.explain(life, at: "2026-05-24")
        #expect(why.used.map(\.told).suffix(2) == ["revocation: revocation", "reversal: reversal"])
        #expect(why.reply[0] == "A refund was reversed on 23 May 2026, and access is restored.")
    }

    @Test func `a read without the refund explains the restored access`() throws {
        var life = StandingTests.monthly()
        life.revoke("1", at: "2026-05-09")
        life.term("1", from: "2026-05-01", to: "2026-06-01", signed: "2026-05-09T01:00:00Z")
        let why = try Self.explain(life, at: "2026-05-10")
        #expect(why.used.last?.told == "term: term reversal")
    }

    @Test func `a product that unlocks something else is listed with the former one`() throws {
        var life = Life()
        life.term("1", "yearly", from: "2025-05-01", to: "2026-05-01", origin: .purchase)
        life.term("2", "basic", from: "2026-05-01", to: "2026-06-01")
        let why = try Self.explain(life, at: "2026-05-10", entitlement: "archive")
        #expect(why.used.map(\.told) == ["term: former", "term: term"])
        #expect(why.why.count == 2)
        #expect(why.reply[0].contains("ended on 1 May 2026"))
    }

    @Test func `family members are not prompted to pay`() throws {
        var family = Life("3000", ownership: .familyShared)
        family.facts = StandingTests.failing().facts.map { fact in
            var fact = fact
            fact.lineage = family.lineage
            return fact
        }
        for instant: Instant in ["2026-06-10", "2026-06-20"] {
            let reply = try Self.explain(family, at: instant).reply.joined(separator: " ")
            #expect(!reply.contains("payment method"), "\(reply)")
        }
    }

    @Test func `short sandbox periods are given with the time of day`() throws {
        var life = Life(environment: .sandbox)
        life.term("1", from: "2026-05-01T10:00:00Z", to: "2026-05-01T10:05:00Z")
        let record = Self.record([life], environment: .sandbox)
        let why = try #require(record.explanation(of: "premium", at: "2026-05-01T10:01:00Z"))
        #expect(why.reply[0].hasSuffix("is paid until 1 May 2026, 10:05 UTC."))
    }

    // MARK: Set aside

    private func reason(_ why: Explanation, _ evidence: Int) -> Explanation.SetAsideReason? {
        why.setAside.first { $0.fact.evidence.hex == "1000-\(evidence)" }?.reason
    }

    @Test func `a fact is set aside for a newer one or because it is not asserted yet`() throws {
        var life = StandingTests.monthly()
        life.outlook(end: "2026-06-01", signed: "2026-05-10", renews: false)
        life.outlook(end: "2026-06-01", signed: "2026-05-20")
        let why = try Self.explain(life, at: "2026-05-15")
        #expect(reason(why, 2) == .olderWord)
        #expect(reason(why, 4) == .notAssertedYet)
        #expect(why.reply.last == "It will not renew; you keep access until 1 June 2026.")
    }

    @Test func `facts on other or future terms are set aside as such`() throws {
        var life = StandingTests.monthly()
        life.term("2", from: "2026-06-01", to: "2026-07-01", signed: "2026-05-31")
        let before = try Self.explain(life, at: "2026-05-31T12:00:00Z")
        #expect(reason(before, 3) == .notBegun)
        let after = try Self.explain(life, at: "2026-06-10")
        #expect(reason(after, 1) == .otherTerm)
        #expect(reason(after, 2) == .otherTerm)
    }

    @Test func `the store's fact replaces a relay's`() throws {
        var life = StandingTests.monthly()
        life.term("1", from: "2026-05-01", to: "2026-05-20", signed: "2026-05-08", rank: .relayed)
        life.outlook(end: "2026-06-01", signed: "2026-05-08", renews: false, rank: .relayed)
        let why = try Self.explain(life, at: "2026-05-10")
        #expect(reason(why, 3) == .lowerRank)
        #expect(reason(why, 4) == .lowerRank)
    }

    @Test func `unknown values and facts on unknown terms are set aside as such`() throws {
        var life = StandingTests.monthly()
        life.say(
            .unrecognised(Unrecognised(field: "notificationType", value: "SPLENDID")),
            at: "2026-05-09"
        )
        life.condition(.unrecognised("9"), end: "2026-06-01", signed: "2026-05-09")
        life.revoke("7", at: "2026-05-09")
        life.reverse("1", at: "2026-05-09")
        let why = try Self.explain(life, at: "2026-05-10")
        #expect(reason(why, 3) == .unknownWord)
        #expect(reason(why, 4) == .unknownWord)
        #expect(reason(why, 5) == .unbound)
        #expect(reason(why, 6) == .noEffect)
    }

    @Test func `an upgrade recorded as a revocation is not a refund`() throws {
        var life = StandingTests.monthly()
        life.revoke("1", at: "2026-05-10")
        life.term("1", from: "2026-05-01", to: "2026-06-01", signed: "2026-05-11", upgraded: true)
        let why = try Self.explain(life, at: "2026-05-12")
        #expect(why.decision.standing.rule == .superseded)
        #expect(reason(why, 3) == .upgrade)
    }

    @Test func `every fact of many lives is used or set aside, once`() async throws {
        var random = SeededRandom(seed: 41)
        for _ in 0..<100 {
            await Task.yield()
            let life = GeneratedLife(&random).life
            for day in stride(from: Int64(0), to: 300, by: 29) {
                let why = try Self.explain(life, at: "2026-01-31" + .days(day))
                let told = why.used.map(\.fact) + why.setAside.map(\.fact)
                #expect(told.count == life.facts.count)
                #expect(Set(told) == Set(life.facts))
            }
        }
    }

    @Test func `the used facts alone give the same standing`() async throws {
        var random = SeededRandom(seed: 42)
        for _ in 0..<100 {
            await Task.yield()
            let life = GeneratedLife(&random).life
            for day in stride(from: Int64(0), to: 300, by: 29) {
                let instant = "2026-01-31" + .days(day) as Instant
                let why = try Self.explain(life, at: instant)
                var alone = life
                alone.facts = why.used.map(\.fact)
                #expect(alone.told(instant) == life.told(instant))
            }
        }
    }

    @Test func `every read of many lives is used or set aside, once`() async throws {
        var random = SeededRandom(seed: 43)
        for _ in 0..<100 {
            await Task.yield()
            let generated = GeneratedPlayLife(&random)
            for life in [generated.life, generated.unread] {
                for day in stride(from: Int64(0), to: 300, by: 29) {
                    let instant = "2026-01-31" + .days(day) as Instant
                    let why = try Self.explain(life, at: instant)
                    let told = why.used.map(\.fact) + why.setAside.map(\.fact)
                    #expect(told.count == life.facts.count)
                    #expect(Set(told) == Set(life.facts))
                    var alone = life
                    alone.facts = why.used.map(\.fact)
                    #expect(
                        alone.told(instant) == life.told(instant),
                        "at \(instant.rfc3339) \(why.used.map(\.told))"
                    )
                }
            }
        }
    }

    // MARK: Other lineages and past knowledge

    @Test func `the undecisive purchases are listed with their standings`() throws {
        var other = Life("2000")
        other.term("9", "yearly", from: "2026-01-01", to: "2027-01-01", origin: .purchase)
        let why = try Self.explain(StandingTests.failing(), other, at: "2026-06-10")
        #expect(why.lineage == other.lineage)
        #expect(why.used.allSatisfy { $0.fact.lineage == other.lineage })
        #expect(why.others.map(\.lineage.id) == ["1000"])
        #expect(why.others[0].standing?.told == "grace billingIssue in-grace confirmed")
    }

    /// The record with the owners that the terms name.
    private func owned(_ life: Life) -> CustomerRecord {
        CustomerRecord(
            customer: Self.anna,
            environment: .production,
            lineageRecords: [life.owned(by: [OwnershipEntry]().additions(for: life.facts))],
            catalogue: life.catalogue,
            policy: life.policy
        )
    }

    @Test func `a purchase of another customer is not listed`() throws {
        var life = Life()
        life.term("1", from: "2026-05-01", to: "2026-06-01", token: "anna")
        life.term("2", from: "2026-06-01", to: "2026-07-01", token: "ben")
        let record = owned(life)
        let why = try #require(record.explanation(of: "premium", at: "2026-06-10"))
        #expect(why.decision.standing.rule == .noFacts)
        #expect(why.others.map(\.lineage) == [life.lineage])
        #expect(why.others[0].standing == nil)
        #expect(why.reply[0].hasPrefix("A purchase that was yours belongs to another account"))
        #expect(!why.reply.joined().contains("ben"))
        // Before the second term was learned, the first owner was current.
        let then = record.asKnown(at: "2026-05-31")
        #expect(then.lineageRecords[0].owners.map(\.customer.text) == ["anna"])
        let before = try #require(then.explanation(of: "premium", at: "2026-06-10"))
        #expect(before.decision.standing.rule == .unconfirmed)
    }

    @Test func `a move is named to the customers whom it concerns, with its own day`() throws {
        var life = Life()
        life.term("1", from: "2026-05-01", to: "2026-07-01", token: "anna")
        let steps: [(String, [String], Instant)] = [
            ("ben", ["anna"], "2026-05-02"), ("carl", ["ben", "anna"], "2026-05-20"),
        ]
        let moves = try steps.map { customer, former, day in
            Fact(
                lineage: life.lineage,
                assertion: .move(
                    OwnershipMove(
                        customer: try #require(CustomerID(customer)),
                        former: try former.map { try #require(CustomerID($0)) },
                        from: day,
                        why: "another account"
                    )
                ),
                effectiveAt: day,
                assertedAt: day,
                learnedAt: day,
                source: .operator,
                evidence: EvidenceID(hex: customer)
            )
        }
        let facts = life.facts + moves
        // Dora became an id of Ben's after the purchase was moved away from Ben, and Emil got it
        // from Carl by a claim.
        let claim = OwnershipEntry(
            lineage: life.lineage,
            customer: try #require(CustomerID("emil")),
            from: "2026-06-01",
            why: .transferred,
            decidedAt: "2026-06-01"
        )
        let alias = CustomerAlias(
            alias: try #require(CustomerID("dora")),
            customer: try #require(CustomerID("ben")),
            from: "2026-06-10",
            by: "support"
        )
        func moved(_ customer: String, at instant: Instant) throws -> [String] {
            let record = CustomerRecord(
                customer: try #require(CustomerID(customer)),
                aliases: ["ben", "dora"].contains(customer) ? [alias] : [],
                environment: .production,
                lineageRecords: [
                    .init(
                        lineage: life.lineage,
                        facts: facts,
                        owners: [OwnershipEntry]().additions(for: facts) + [claim]
                    )
                ],
                catalogue: Versioned(life.catalogue),
                policy: Versioned(life.policy)
            )
            let why = try #require(record.explanation(of: "premium", at: instant))
            // Only the move that decides the owner counts as evidence.
            let owners = why.used.filter { $0.roles.contains(.owner) }.map(\.fact.evidence.hex)
            #expect(owners == (customer == "carl" && instant < claim.from ? ["carl"] : []))
            return why.why.filter { $0.hasPrefix("An operator moved") }
        }
        let away = "An operator moved a purchase of this customer to another on"
        #expect(try moved("anna", at: "2026-06-15") == ["\(away) 2 May 2026."])
        #expect(try moved("ben", at: "2026-06-15") == ["\(away) 20 May 2026."])
        #expect(try moved("dora", at: "2026-05-25") == [])
        #expect(
            try moved("carl", at: "2026-05-25") == [
                "An operator moved the purchase to this customer on 20 May 2026."
            ]
        )
        #expect(try moved("carl", at: "2026-06-15") == [])
        #expect(try moved("emil", at: "2026-06-15") == [])
    }

    @Test func `a view from before a late fact gives the answer of that time`() throws {
        var life = Life()
        life.term("1", from: "2026-05-01", to: "2026-06-01", token: "anna")
        life.term("2", from: "2026-06-01", to: "2026-07-01", token: "anna")
        life.facts[1].learnedAt = "2026-06-05"
        let known = owned(life)
        let instant: Instant = "2026-06-04"
        func told(_ record: CustomerRecord) -> String? {
            record.explanation(of: "premium", at: instant)?.decision.standing.told
        }
        #expect(told(known) == "active paid in-term confirmed")
        #expect(told(known.asKnown(at: instant)) == "expired unconfirmed unconfirmed unknown")
        #expect(told(known.asKnown(at: "2026-06-05")) == "active paid in-term confirmed")
        #expect(told(known.asKnown(at: "2026-04-01")) == "never unknown no-facts unknown")
    }

    // MARK: JSON

    @Test func `the JSON form has every member and the facts as stored`() throws {
        var other = Life("2000")
        other.term("9", from: "2026-01-01", to: "2026-02-01")
        var life = StandingTests.failing()
        life.outlook(end: "2026-06-01", signed: "2026-05-02")
        let why = try Self.explain(life, other, at: "2026-06-10")
        var writer = JSONWriter()
        why.write(to: &writer)
        let root = try JSONDocument(writer.bytes).root
        #expect(
            root.members.map(\.key) == [
                "decision", "why", "lineage", "used", "setAside", "others", "next", "reply",
            ]
        )
        #expect(root["decision"]?["rule"]?.string == "in-grace")
        #expect(root["lineage"]?["id"]?.string == "1000")
        let used = try #require(root["used"]?[1])
        #expect(used.members.map(\.key) == ["as", "says", "fact"])
        #expect(used["as"]?.elements.compactMap(\.string) == ["outlook", "grace", "failure"])
        #expect(try Fact(json: #require(used["fact"])) == why.used[1].fact)
        let aside = try #require(root["setAside"]?[0])
        #expect(aside.members.map(\.key) == ["because", "sentence", "says", "fact"])
        #expect(aside["because"]?.string == "olderWord")
        #expect(root["others"]?[0]?["owned"]?.bool == true)
        #expect(root["next"]?["at"]?.string == "2026-06-17T00:00:00.000Z")
        #expect(root["next"]?["decision"]?["state"]?.string == "hold")
    }

    @Test func `an unknown customer is written with nulls`() throws {
        var writer = JSONWriter()
        try Self.explain(at: "2026-06-10").write(to: &writer)
        let root = try JSONDocument(writer.bytes).root
        #expect(root["lineage"]?.isNull == true)
        #expect(root["next"]?.isNull == true)
        #expect(root["used"]?.count == 0)
    }
}

extension Explanation.UsedFact {
    /// The kind of fact and its roles, for comparison.
    var told: String {
        "\(fact.assertion.word): \(roles.map(\.rawValue).joined(separator: " "))"
    }
}
