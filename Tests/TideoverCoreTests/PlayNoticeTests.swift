import Testing
import TideoverCore
import TideoverLives

/// The effect of bare Google Play notifications if the store cannot be read, and the precedence
/// between them and reads.
@Suite struct PlayNoticeTests {
    static let bought: Instant = "2026-05-01"
    static let end: Instant = "2026-06-01"
    static let inTerm = "active paid in-term presumed"

    private static func heard(_ notices: (PlayNotice.Kind, Instant)...) -> Life {
        var life = Life.play()
        for (kind, at) in notices { life.notice(kind, at: at, product: "play") }
        return life
    }

    @Test func `a purchase lasts for the catalogue's period, presumed`() {
        let life = Self.heard((.purchased, Self.bought))
        #expect(life.told("2026-05-10") == Self.inTerm)
        #expect(life.standing("2026-05-10").accessUntil == Self.end)
        #expect(life.standing("2026-05-10").asksStore)
        #expect(life.told(Self.end) == "active renewalDue silent-grace presumed")
    }

    @Test func `a notification between two reads does not move the end of grace`() {
        var life = Life.play()
        life.read(.active, until: "2026-06-01", at: Self.bought)
        life.read(.inGrace, until: "2026-06-02", at: "2026-06-01")
        let expected = life.standing("2026-06-01")
        #expect(expected.graceUntil == "2026-06-08")
        for kind in [PlayNotice.Kind.renewed, .recovered, .onHold, .revoked] {
            var noticed = life
            noticed.notice(kind, at: "2026-05-20", product: "play")
            #expect(noticed.standing("2026-06-01") == expected, "\(kind)")
        }
    }

    @Test func `a notification reports a renewal that no read has reported`() {
        var life = Life.play()
        life.read(.active, until: "2026-06-01", at: Self.bought)
        life.notice(.renewed, at: "2026-06-01", product: "play")
        life.read(.inGrace, until: "2026-07-02", at: "2026-07-01")
        #expect(life.standing("2026-07-01").graceUntil == "2026-07-08")
    }

    @Test func `a renewal starts at the nearest end, a recovery at its notification`() {
        let renewed = Self.heard((.purchased, Self.bought), (.renewed, "2026-06-01T05:00:00Z"))
        #expect(renewed.standing("2026-06-10").accessUntil == "2026-07-01")
        let back = Self.heard(
            (.purchased, Self.bought),
            (.onHold, "2026-06-08"),
            (.recovered, "2026-06-20")
        )
        #expect(back.told("2026-06-10") == "hold accountHold on-hold presumed")
        #expect(back.told("2026-06-20") == Self.inTerm)
        #expect(back.standing("2026-06-20").accessUntil == "2026-07-20")
    }

    @Test(
        arguments: [
            (.cancelled, "active paid cancelled presumed", "expired cancelled expired presumed"),
            (.onHold, "hold accountHold on-hold presumed", "hold accountHold on-hold presumed"),
            (.paused, "hold paused paused presumed", "hold paused paused presumed"),
            (.revoked, "expired ended expired presumed", "expired ended expired presumed"),
            (.expired, "expired ended expired presumed", "expired ended expired presumed"),
            (.deferred, Self.inTerm, "active renewalDue silent-grace presumed"),
            (.pauseScheduled, Self.inTerm, "active renewalDue silent-grace presumed"),
            (.priceChanged, Self.inTerm, "active renewalDue silent-grace presumed"),
            (.itemsChanged, Self.inTerm, "active renewalDue silent-grace presumed"),
            (.cancellationScheduled, Self.inTerm, "active renewalDue silent-grace presumed"),
            (.pendingCancelled, Self.inTerm, "active renewalDue silent-grace presumed"),
            (.unrecognised("99"), Self.inTerm, "active renewalDue silent-grace presumed"),
        ] as [(PlayNotice.Kind, String, String)]
    )
    func `each kind has exactly its documented effect`(
        kind: PlayNotice.Kind,
        after: String,
        atEnd: String
    ) {
        let life = Self.heard((.purchased, Self.bought), (kind, "2026-05-20"))
        #expect(life.told("2026-05-21") == after)
        #expect(life.told("2026-06-01T01:00:00Z") == atEnd)
    }

    @Test func `grace lasts as long as the plan's known grace, else three days`() {
        var known = Self.heard((.purchased, Self.bought), (.inGrace, Self.end))
        let grace = "grace billingIssue grace-presumed presumed"
        #expect(known.told("2026-06-07T23:59:59Z") == grace)
        #expect(known.standing("2026-06-02").graceUntil == "2026-06-08")
        #expect(known.told("2026-06-08") == "hold accountHold hold-presumed presumed")
        known.catalogue.products["play"]?.grace = nil
        #expect(known.told("2026-06-03T23:59:59Z") == grace)
        #expect(known.told("2026-06-04") == "hold accountHold hold-presumed presumed")
    }

    @Test func `a cancellation alone grants nothing`() {
        let life = Self.heard((.cancelled, "2026-05-20"))
        #expect(!life.standing("2026-05-21").access)
    }

    @Test func `a notification without a product unlocks nothing`() throws {
        var life = Life.play()
        life.notice(.purchased, at: Self.bought)
        let premium = try SnapshotTests.premium([life], at: "2026-05-02")
        #expect(!premium.standing.access)
    }

    @Test func `a repeated event counts once`() {
        var life = Self.heard((.purchased, Self.bought), (.renewed, "2026-06-01T05:00:00Z"))
        let expected = life.standing("2026-06-10")
        life.notice(.renewed, at: "2026-06-01T05:00:00Z", product: "play", learned: "2026-06-09")
        #expect(life.standing("2026-06-10") == expected)
    }

    // MARK: With reads

    @Test func `a read begun after a notification wins whatever the clocks say`() {
        var life = PlayStandingTests.monthly()
        // The event is dated after the read, by the store's clock. It was received before the read
        // started.
        life.notice(.onHold, at: "2026-05-10T00:00:10Z", learned: "2026-05-10T00:00:00Z")
        life.read(.active, until: Self.end, at: "2026-05-10", begun: "2026-05-10T00:00:01Z")
        #expect(life.told("2026-05-11") == "active paid in-term confirmed")
        // A notification that arrived after the read started reports something newer.
        var later = PlayStandingTests.monthly()
        later.read(.active, until: Self.end, at: "2026-05-10")
        later.notice(.onHold, at: "2026-05-10T00:00:10Z", learned: "2026-05-10T00:00:11Z")
        #expect(later.told("2026-05-11") == "hold accountHold on-hold presumed")
    }

    @Test func `a late notification does not replace a newer read`() {
        var life = PlayStandingTests.monthly()
        life.read(.active, until: Self.end, at: "2026-05-10")
        life.notice(.onHold, at: "2026-05-09", learned: "2026-05-20")
        #expect(life.told("2026-05-21") == "active paid in-term confirmed")
    }

    @Test func `a read is dated by its request, however late the answer`() {
        var life = PlayStandingTests.monthly()
        let slow = Inquiry.instant(
            asked: "2026-05-10T00:00:00Z",
            answered: "2026-05-10T00:00:30Z",
            dated: "2026-05-10T00:00:30Z"
        )
        life.read(.active, until: Self.end, at: slow)
        life.read(.onHold, until: Self.end, at: "2026-05-10T00:00:05Z")
        #expect(life.told("2026-05-11") == "hold accountHold on-hold confirmed")
    }

    @Test func `an announced renewal extends the read term`() {
        var life = PlayStandingTests.monthly()
        life.notice(.renewed, at: "2026-06-01T05:00:00Z")
        #expect(life.told("2026-06-10") == Self.inTerm)
        #expect(life.standing("2026-06-10").productId == "play")
        life.read(.active, until: "2026-07-01", at: "2026-06-12", order: "GPA.1..0")
        #expect(life.told("2026-06-12") == "active paid in-term confirmed")
    }

    /// A read of two products. The second is not owned yet, or is to be removed.
    private static func pair(_ first: PlayItem, _ second: PlayItem) -> Life {
        var life = Life.play()
        life.read(
            PlaySubscription(
                token: PlayToken("a"),
                askedAt: "2026-05-10",
                state: .active,
                items: [first, second],
                startedAt: bought
            ),
            at: "2026-05-10"
        )
        return life
    }

    @Test(arguments: [PlayNotice.Kind.renewed, .recovered])
    func `an announced renewal behind a deferred replacement is of the new product`(
        kind: PlayNotice.Kind
    ) {
        var life = Self.pair(
            PlayItem(
                productId: "play",
                expiresAt: Self.end,
                plan: .autoRenewing(isOn: true),
                replacement: "play.extra"
            ),
            PlayItem(productId: "play.extra", expiresAt: nil, plan: .autoRenewing(isOn: true))
        )
        life.notice(kind, at: Self.end)
        #expect(life.told("2026-06-10") == Self.inTerm)
        #expect(life.standing("2026-06-10").productId == "play.extra")
        #expect(life.standing("2026-06-10").accessUntil == "2026-07-01")
        // The next renewal is of the new product too.
        life.notice(.renewed, at: "2026-07-01")
        #expect(life.standing("2026-07-10").productId == "play.extra")
        #expect(life.standing("2026-07-10").accessUntil == "2026-08-01")
    }

    @Test func `an announced renewal extends no product that was to be removed`() {
        let play = PlayItem(
            productId: "play",
            expiresAt: Self.end,
            plan: .autoRenewing(isOn: true)
        )
        var extra = play
        extra.productId = "play.extra"
        extra.isRemovedAtExpiry = true
        var life = Self.pair(play, extra)
        life.notice(.renewed, at: Self.end)
        let history = SnapshotTests.history([life])
        func told(_ entitlement: String, _ instant: Instant) -> String? {
            history.snapshot(at: instant)[entitlement]?.standing.told
        }
        #expect(told("archive", "2026-05-31") == "active paid in-term confirmed")
        #expect(told("premium", "2026-06-10") == Self.inTerm)
        #expect(told("archive", "2026-06-10") == "expired changedProduct in-term presumed")
    }
}
