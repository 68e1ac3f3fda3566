import Testing
import TideoverCore
import TideoverLives

/// Complete lives on Google Play, of grants, and of one-time purchases.
@Suite struct TimelinePlayTests {
    /// A week's trial from 1 May that was paid for on 8 May, until 8 June.
    private static func converted() -> Life {
        var life = Life.play()
        life.read(
            .active,
            until: "2026-05-08",
            at: "2026-05-01",
            phase: .freeTrial,
            order: "GPA.1"
        )
        life.read(.active, until: "2026-06-08", at: "2026-05-08", order: "GPA.1..0")
        return life
    }

    /// The same life with a failed renewal on 8 June; grace was last read to end on 10 June.
    private static func failing() -> Life {
        var life = converted()
        life.read(.inGrace, until: "2026-06-09", at: "2026-06-08", order: "GPA.1..0")
        life.read(.inGrace, until: "2026-06-10", at: "2026-06-09", order: "GPA.1..0")
        return life
    }

    @Test func `a trial converts, fails to pay and recovers in grace`() {
        var life = Self.failing()
        life.read(.active, until: "2026-07-08", at: "2026-06-09T12:00:00Z", order: "GPA.1..1")
        life.read(.active, until: "2026-08-08", at: "2026-07-08", order: "GPA.1..2")
        #expect(
            life.events(until: "2026-07-20") == [
                "2026-05-01 trial_started play",
                "2026-05-08 trial_converted after 7d play",
                "2026-06-08 billing_issue_entered play",
                "2026-06-09 12:00:00 billing_issue_recovered from grace after 36h play",
                "2026-07-08 renewed play",
            ]
        )
        #expect(
            life.spans(until: "2026-07-20") == [
                "2026-05-01 active trial play renews",
                "2026-05-08 active paid play renews",
                "2026-06-08 grace billingIssue play renews",
                "2026-06-09 12:00:00 active paid play renews",
            ]
        )
        let issues = life.told(until: "2026-07-20").issues
        #expect(issues.map(\.outcome.word) == ["recovered from grace"])
        #expect(issues.map(\.store) == [.googlePlay])
    }

    /// Google may state another expiry then, such as the end of a silent grace or of the hold.
    @Test(arguments: ["2026-06-08", "2026-06-09", "2026-06-10", "2026-07-10"] as [Instant])
    func `a read after the end does not move a reported failure`(expiry: Instant) {
        var life = Self.failing()
        life.read(.onHold, until: "2026-06-10", at: "2026-06-10", order: "GPA.1..0")
        let told = life.events(until: "2026-06-20")
        life.read(.cancelled, until: expiry, at: "2026-07-10", order: "GPA.1..0", by: .system)
        life.read(
            .expired,
            until: expiry,
            at: "2026-07-10T00:00:01Z",
            order: "GPA.1..0",
            by: .system
        )
        let all = life.events(until: "2026-07-20")
        #expect(Array(all.prefix(told.count)) == told)
        let later = all.dropFirst(told.count)
        #expect(later.first?.hasPrefix("2026-07-10 expired ") == true)
        #expect(later.dropFirst().allSatisfy { $0.contains(" cleanup_due ") })
    }

    @Test func `a cancellation in grace ends the issue without a payment`() throws {
        var life = Self.failing()
        life.read(
            .cancelled,
            until: "2026-06-10",
            at: "2026-06-09T12:00:00Z",
            order: "GPA.1..0",
            by: .customer
        )
        let told = life.told(until: "2026-06-20")
        #expect(
            told.transitions.dropFirst(2).map(\.line) == [
                "2026-06-08 billing_issue_entered play",
                "2026-06-09 12:00:00 cancelled from grace play",
                "2026-06-10 expired from grace play keep until 2026-06-10",
                "2026-06-10 cleanup_due play keep until 2026-06-10",
            ]
        )
        let cancelled = told.transitions.first { $0.kind == .cancelled }
        #expect(cancelled?.learnedAt == "2026-06-09T12:00:00Z")
        #expect(told.issues.map(\.outcome.word) == ["cancelled in grace"])
        let row = try #require(RecoveryReport(of: told.issues, asOf: "2026-06-20").rows.first)
        #expect((row.recovered, row.cancelledFromGrace) == (0, 1))
    }

    @Test func `a trial cancelled in grace did not pay`() {
        var life = Life.play()
        let states: [(PlaySubscription.State, Instant, Instant)] = [
            (.active, "2026-05-01", "2026-05-08"), (.inGrace, "2026-05-08", "2026-05-10"),
            (.cancelled, "2026-05-09", "2026-05-10"),
        ]
        for (state, asked, expiry) in states {
            life.read(state, until: expiry, at: asked, phase: .freeTrial, order: "GPA.1")
        }
        #expect(
            life.events(until: "2026-05-20") == [
                "2026-05-01 trial_started play", "2026-05-08 billing_issue_entered play",
                "2026-05-09 trial_cancelled from grace after 8d play",
                "2026-05-10 trial_ended from grace after 9d play keep until 2026-05-10",
                "2026-05-10 cleanup_due play keep until 2026-05-10",
            ]
        )
    }

    @Test func `a cancellation in grace that is taken back reopens the issue`() {
        var life = Self.failing()
        life.notice(.cancelled, at: "2026-06-09T06:00:00Z")
        life.read(
            .cancelled,
            until: "2026-06-10",
            at: "2026-06-09T06:00:02Z",
            order: "GPA.1..0",
            by: .customer
        )
        life.notice(.restarted, at: "2026-06-09T12:00:00Z")
        life.read(.inGrace, until: "2026-06-10", at: "2026-06-09T12:00:02Z", order: "GPA.1..0")
        #expect(life.standing("2026-06-09T15:00:00Z").graceUntil == "2026-06-15")
        life.read(.active, until: "2026-07-08", at: "2026-06-09T18:00:00Z", order: "GPA.1..1")
        #expect(
            life.events(until: "2026-06-20").dropFirst(2) == [
                "2026-06-08 billing_issue_entered play",
                "2026-06-09 06:00:00 cancelled from grace play",
                "2026-06-09 12:00:00 uncancelled play",
                "2026-06-09 18:00:00 billing_issue_recovered from grace after 42h play",
            ]
        )
        let issues = life.told(until: "2026-06-20").issues
        #expect(issues.map(\.outcome.word) == ["recovered from grace"])
    }

    @Test func `a recovery from account hold begins a new cycle`() {
        var life = Self.failing()
        life.read(.onHold, until: "2026-06-10", at: "2026-06-10", order: "GPA.1..0")
        life.read(.active, until: "2026-07-20", at: "2026-06-20", order: "GPA.1..1")
        #expect(
            life.events(until: "2026-07-01").dropFirst(2) == [
                "2026-06-08 billing_issue_entered play",
                "2026-06-10 grace_ended from grace play",
                "2026-06-20 billing_issue_recovered from hold after 12d play",
            ]
        )
    }

    /// A month that ends on 28 February may have begun on any day from 28 to 31 January.
    @Test func `a renewal begins at the end of the period before it, however long the months`() {
        var life = Life.play()
        life.read(.active, until: "2026-01-28", at: "2025-12-28", order: "GPA.1")
        life.read(.active, until: "2026-02-28", at: "2026-01-28", order: "GPA.1..0")
        life.read(.active, until: "2026-03-28", at: "2026-02-28T00:00:01Z", order: "GPA.1..1")
        let told = life.told(until: "2026-03-01").transitions
        #expect(told.map(\.kind) == [.started, .renewed, .renewed])
        #expect(told.map(\.at) == ["2025-12-28", "2026-01-28", "2026-02-28"])
    }

    @Test func `a recovery from hold on the 30th is not dated to the 31st`() {
        var life = Life.play()
        life.read(.active, until: "2026-04-20", at: "2026-03-20", order: "GPA.1")
        life.read(.onHold, until: "2026-04-20", at: "2026-04-21", order: "GPA.1")
        life.read(.active, until: "2026-06-30", at: "2026-05-30", order: "GPA.1..0")
        let recovered = life.told(until: "2026-06-15").transitions.last
        #expect(recovered?.kind == .billingIssueRecovered)
        #expect(recovered?.at == "2026-05-30")
    }

    @Test func `an unrecovered hold ends when the store reports it`() {
        var life = Self.failing()
        life.read(.onHold, until: "2026-06-10", at: "2026-06-10", order: "GPA.1..0")
        life.read(
            .expired,
            until: "2026-06-10",
            at: "2026-08-09",
            order: "GPA.1..0",
            by: .system
        )
        #expect(
            life.events(until: "2026-09-01").dropFirst(4) == [
                "2026-08-09 expired from hold after 62d play keep until 2026-08-09",
                "2026-08-09 cleanup_due play keep until 2026-08-09",
            ]
        )
    }

    @Test func `an expiry moved to the end of a hold is not a recovery`() throws {
        var life = Self.failing()
        life.read(.onHold, until: "2026-06-10", at: "2026-06-10", order: "GPA.1..0")
        for asked: Instant in ["2026-07-10", "2026-08-01"] {
            life.read(.expired, until: "2026-07-10", at: asked, order: "GPA.1..0", by: .system)
        }
        #expect(
            life.events(until: "2026-09-01").dropFirst(4) == [
                "2026-07-10 expired from hold after 32d play keep until 2026-07-10",
                "2026-07-10 cleanup_due play keep until 2026-07-10",
            ]
        )
        #expect(
            life.spans(until: "2026-09-01").dropFirst(2) == [
                "2026-06-08 grace billingIssue play renews",
                "2026-06-10 hold accountHold play renews",
                "2026-07-10 expired billingError play ends",
            ]
        )
        let issues = life.told(until: "2026-09-01").issues
        #expect(issues.map(\.outcome.word) == ["expired in hold"])
        let row = try #require(RecoveryReport(of: issues, asOf: "2026-09-01").rows.first)
        #expect((row.recovered, row.unrecovered) == (0, 1))
    }

    @Test func `a pause is not a billing issue`() {
        var life = Self.converted()
        life.read(
            .paused,
            until: "2026-06-08",
            at: "2026-06-08",
            order: "GPA.1..0",
            resumes: "2026-07-08"
        )
        life.read(.active, until: "2026-08-08", at: "2026-07-08", order: "GPA.1..1")
        #expect(
            life.events(until: "2026-08-01").dropFirst(2) == [
                "2026-06-08 paused play", "2026-07-08 resumed after 30d play",
            ]
        )
        #expect(
            life.spans(until: "2026-08-01").dropFirst(2) == [
                "2026-06-08 hold paused play renews", "2026-07-08 active paid play renews",
            ]
        )
        #expect(life.told(until: "2026-08-01").issues == [])
    }

    @Test func `a failed payment at a resumption is a billing issue`() {
        var life = Self.converted()
        life.read(
            .paused,
            until: "2026-06-08",
            at: "2026-06-08",
            order: "GPA.1..0",
            resumes: "2026-07-08"
        )
        life.read(.onHold, until: "2026-06-08", at: "2026-07-08", order: "GPA.1..0")
        life.read(.active, until: "2026-08-10", at: "2026-07-10", order: "GPA.1..1")
        #expect(
            life.events(until: "2026-08-01").dropFirst(2) == [
                "2026-06-08 paused play", "2026-07-08 billing_issue_entered play",
                "2026-07-10 billing_issue_recovered from hold after 2d play",
            ]
        )
    }

    @Test func `renewal is switched off and on, then off until the end`() {
        var life = Self.converted()
        life.read(.cancelled, until: "2026-06-08", at: "2026-05-20", order: "GPA.1..0")
        life.read(.active, until: "2026-06-08", at: "2026-05-21", order: "GPA.1..0")
        life.read(.cancelled, until: "2026-06-08", at: "2026-05-22", order: "GPA.1..0")
        #expect(
            life.events(until: "2026-07-01").dropFirst(2) == [
                "2026-05-20 cancelled play", "2026-05-21 uncancelled play",
                "2026-05-22 cancelled play", "2026-06-08 expired play keep until 2026-06-08",
                "2026-06-08 cleanup_due play keep until 2026-06-08",
            ]
        )
    }

    @Test func `another token with another product is a change of product`() {
        var life = Self.converted()
        life.read(
            .active,
            "b",
            until: "2026-06-20",
            at: "2026-05-20",
            product: "play.plus",
            order: "GPA.2",
            started: "2026-05-20",
            replaces: "a"
        )
        #expect(
            life.events(until: "2026-06-01").dropFirst(2) == [
                "2026-05-20 product_changed from play play.plus"
            ]
        )
    }

    @Test func `a purchase that is first read after its replacement was not cancelled`() {
        var life = Life.play()
        life.read(
            .active,
            "b",
            until: "2026-06-20",
            at: "2026-05-22",
            product: "play.plus",
            order: "GPA.2",
            started: "2026-05-20",
            replaces: "a"
        )
        life.read(
            .expired,
            until: "2026-05-20",
            at: "2026-05-22T00:00:20Z",
            plan: .autoRenewing(isOn: false),
            order: "GPA.1",
            by: .replacement
        )
        let standing = life.standing("2026-05-10")
        #expect(standing.told == "active paid in-term confirmed")
        #expect(standing.willRenew == nil)
        let events = life.events(until: "2026-06-01")
        #expect(events.first == "2026-05-01 started play")
        #expect(events.allSatisfy { !$0.contains(" cancelled ") }, "\(events)")
    }

    @Test func `silence past the expiry causes no event, and a late read adds the events`() {
        var life = Self.converted()
        #expect(life.events(until: "2026-08-01").count == 2)
        life.read(.active, until: "2026-08-08", at: "2026-07-10", order: "GPA.1..1")
        #expect(life.events(until: "2026-08-01").last == "2026-07-08 renewed play")
    }

    @Test func `a prepaid plan is never cancelled and can be topped up`() {
        var life = Life.play()
        let plan = PlayItem.Plan.prepaid(extendableFrom: nil)
        life.read(.active, until: "2026-06-01", at: "2026-05-02", plan: plan, order: "GPA.1")
        #expect(
            life.events(until: "2026-07-01") == [
                "2026-05-01 started play", "2026-06-01 expired play keep until 2026-06-01",
                "2026-06-01 cleanup_due play keep until 2026-06-01",
            ]
        )
        life.read(
            .active,
            "b",
            until: "2026-07-01",
            at: "2026-05-28",
            plan: plan,
            order: "GPA.2",
            started: "2026-05-28",
            replaces: "a"
        )
        #expect(
            life.events(until: "2026-06-15") == [
                "2026-05-01 started play", "2026-05-28 renewed play",
            ]
        )
    }

    @Test func `a subscription that was revoked is refunded, not lapsed`() {
        var life = Self.converted()
        life.void(nil, at: "2026-05-20")
        life.read(.expired, until: "2026-05-20", at: "2026-05-20T00:00:01Z", order: "GPA.1..0")
        let told = life.events(until: "2026-07-01").dropFirst(2)
        #expect(told.first?.contains("refunded play") == true, "\(told)")
        #expect(told.allSatisfy { !$0.contains("expired") })
    }

    @Test func `the money at risk is the changed price that the renewal failed at`() {
        var life = Life.play()
        func read(_ state: PlaySubscription.State, until expiry: Instant, at asked: Instant) {
            let item = PlayItem(
                productId: "play",
                expiresAt: expiry,
                plan: .autoRenewing(isOn: true),
                phase: .base,
                orderId: "GPA.1",
                price: Money(milliunits: 7990, currency: "USD"),
                priceChange: PlayItem.PriceChange(
                    state: .confirmed,
                    price: Money(milliunits: 9990, currency: "USD"),
                    chargedFrom: "2026-06-01"
                )
            )
            life.read(
                PlaySubscription(
                    token: PlayToken("a"),
                    askedAt: asked,
                    state: state,
                    items: [item],
                    startedAt: "2026-05-01"
                ),
                at: asked
            )
        }
        read(.active, until: "2026-06-01", at: "2026-05-01")
        read(.inGrace, until: "2026-06-02", at: "2026-06-01")
        let issues = life.told(until: "2026-06-01T12:00:00Z").issues
        #expect(issues.map(\.moneyAtRisk) == [Money(milliunits: 9990, currency: "USD")])
    }

    @Test func `a bundle has one timeline that concerns all of its products`() {
        var life = Life.play()
        func read(until expiry: Instant, _ order: String, at asked: Instant) {
            let items = ["play", "play.extra"].map { product in
                PlayItem(
                    productId: product,
                    expiresAt: product == "play" ? expiry : expiry + .hours(1),
                    plan: .autoRenewing(isOn: true),
                    orderId: order
                )
            }
            life.read(
                PlaySubscription(
                    token: PlayToken("a"),
                    askedAt: asked,
                    state: .active,
                    items: items,
                    startedAt: "2026-05-01"
                ),
                at: asked
            )
        }
        read(until: "2026-06-01", "GPA.1", at: "2026-05-01")
        read(until: "2026-07-01", "GPA.1..0", at: "2026-06-01")
        #expect(
            life.events(until: "2026-06-20") == [
                "2026-05-01 started play", "2026-06-01 renewed play",
            ]
        )
        let told = life.told(until: "2026-06-20")
        #expect(told.timeline(of: "archive").transitions.count == 2)
        #expect(told.timeline(of: "archive").spans.map(\.access) == [true])
    }

    @Test func `the end of one product of a bundle is not about another that goes on`() {
        var life = Life.play()
        func read(_ items: [PlayItem], at asked: Instant) {
            let read = PlaySubscription(
                token: PlayToken("a"),
                askedAt: asked,
                state: .active,
                items: items,
                startedAt: "2026-05-01"
            )
            life.read(read, at: asked)
        }
        func item(_ product: String, until expiry: Instant, isOn: Bool = true) -> PlayItem {
            PlayItem(
                productId: product,
                expiresAt: expiry,
                plan: .autoRenewing(isOn: isOn),
                orderId: "GPA.1"
            )
        }
        let extra = item("play.extra", until: "2026-06-01")
        read([item("play", until: "2026-06-01"), extra], at: "2026-05-01")
        // Google can refund and revoke one product of a bundle.
        let ended: Instant = "2026-05-10"
        read([item("play", until: ended, isOn: false), extra], at: ended)
        let events = life.told(until: "2026-05-20").transitions
        #expect(events.map(\.kind) == [.started, .expired, .cleanupDue])
        #expect(
            events.map(\.entitlements) == [["premium", "archive"], ["premium"], ["premium"]]
        )
    }

    @Test func `an end by Google Play has its deadline`() {
        func deadlines(_ life: Life, after instant: Instant) -> [String] {
            life.told(until: instant).deadlines(
                after: instant,
                trialEnding: .hours(48),
                graceEnding: .days(3)
            ).map { "\($0.at.short) \($0.kind.rawValue)" }
        }
        #expect(
            deadlines(Self.converted(), after: "2026-05-10") == [
                "2026-06-08 expiry", "2026-06-08 reread", "2026-06-10 presumed_end",
            ]
        )
        #expect(
            deadlines(Self.failing(), after: "2026-06-09").prefix(3) == [
                "2026-06-10 reread", "2026-06-12 grace_ending", "2026-06-15 grace_end",
            ]
        )
        var cancelled = Self.converted()
        cancelled.read(.cancelled, until: "2026-06-08", at: "2026-05-20", order: "GPA.1..0")
        #expect(
            deadlines(cancelled, after: "2026-05-20") == [
                "2026-06-08 cleanup", "2026-06-08 expiry",
            ]
        )
    }

    @Test func `a one-time purchase is started and refunded`() {
        var life = Life.play("p")
        life.bought(.purchased, at: "2026-05-01T00:00:05Z")
        life.bought(.cancelled, at: "2026-05-10")
        let told = life.told(until: "2026-07-01").transitions
        #expect(
            told.map(\.line) == [
                "2026-05-01 started lifetime",
                "2026-05-10 refunded lifetime keep until 2026-06-09",
                "2026-06-09 cleanup_due lifetime keep until 2026-06-09",
            ]
        )
        #expect(told.allSatisfy { !$0.evidence.isEmpty })
        #expect(told.first?.learnedAt == "2026-05-01T00:00:05Z")
    }

    @Test func `a subscription that outlasts the refund of a payment still ends`() {
        var life = Self.converted()
        life.void("GPA.1..0", at: "2026-05-20")
        life.read(.cancelled, until: "2026-06-08", at: "2026-05-21", order: "GPA.1..0")
        let told = life.told(until: "2026-07-01").transitions.dropFirst(2)
        #expect(told.map(\.kind) == [.refunded, .cancelled, .expired, .cleanupDue])
        #expect(told.map(\.at) == ["2026-05-20", "2026-05-21", "2026-06-08", "2026-06-08"])
    }

    @Test func `a refund is sent once, although the list of voided orders dates it earlier`() {
        var life = Life.play("p")
        func news(sent: [Transition]) -> Corrections {
            let told = life.told(until: "2026-05-20").transitions
            return Corrections(sent: sent.map(\.id), timeline: told)
        }
        life.bought(.purchased, at: "2026-05-01T00:00:05Z")
        life.bought(.cancelled, at: "2026-05-10T00:00:02Z")
        let first = life.told(until: "2026-05-20").transitions
        #expect(first.map(\.kind) == [.started, .refunded])
        life.void("GPA.9", at: "2026-05-10T00:00:00.100Z", "p")
        life.void("GPA.9", at: "2026-05-10", "p")
        let second = life.told(until: "2026-05-20").transitions
        #expect(second.last?.at == "2026-05-10")
        for sent in [first, second] {
            #expect(news(sent: sent).corrected == [])
            #expect(news(sent: sent).unsent == [])
        }
        life.bought(.purchased, at: "2026-05-11")
        #expect(news(sent: first).corrected == [])
        #expect(news(sent: first).unsent.map(\.kind) == [.refundReversed])
        #expect(news(sent: first).unsent.map(\.learnedAt) == ["2026-05-11"])
        life.bought(.cancelled, at: "2026-05-12")
        life.void("GPA.9", at: "2026-05-12", "p")
        let unsent = news(sent: first).unsent.map(\.kind)
        #expect(unsent == [.refundReversed, .refunded])
    }

    @Test func `a grant begins and ends, costs nothing and concerns its entitlement`() {
        var life = Life("g", store: .tideover)
        life.grant(from: "2026-05-01", to: "2026-05-08", said: "2026-05-01T09:00:00Z")
        let told = life.told(until: "2026-06-01").timeline(of: "premium").transitions
        #expect(
            told.map(\.line) == [
                "2026-05-01 started", "2026-05-08 expired keep until 2026-05-08",
                "2026-05-08 cleanup_due keep until 2026-05-08",
            ]
        )
        #expect(told.map(\.entitlements) == [["premium"], ["premium"], ["premium"]])
        #expect(told.first?.learnedAt == "2026-05-01T09:00:00Z")
        #expect(told.allSatisfy { $0.evidence.count == 1 })
    }
}
