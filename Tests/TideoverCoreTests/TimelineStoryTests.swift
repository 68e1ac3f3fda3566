import Testing
import TideoverCore
import TideoverLives

/// Complete lives as tables: one line for each span, one line for each event.
@Suite struct TimelineStoryTests {
    /// A trial from 1 May that was paid for on 4 May, until 4 June.
    static func converted() -> Life {
        var life = Life()
        life.pay(
            "1",
            from: "2026-05-01",
            to: "2026-05-04",
            price: "0.0 USD",
            offer: StandingTests.trial,
            origin: .purchase
        )
        life.pay("2", from: "2026-05-04", to: "2026-06-04")
        return life
    }

    @Test func `a trial converts, a payment fails and recovers in grace, and the cycle stays`() {
        var life = Self.converted()
        life.fail("2026-06-04", grace: "2026-06-20")
        life.pay("3", from: "2026-06-04", to: "2026-07-04", signed: "2026-06-10T12:00:00Z")
        #expect(
            life.spans(until: "2026-07-01") == [
                "2026-05-01 active trial monthly renews",
                "2026-05-04 active paid monthly renews",
                "2026-06-04 grace billingIssue monthly renews",
                "2026-06-10 12:00:00 active paid monthly renews",
            ]
        )
        #expect(
            life.events(until: "2026-07-01") == [
                "2026-05-01 trial_started monthly 0.00 USD",
                "2026-05-04 trial_converted after 3d monthly 9.99 USD",
                "2026-06-04 billing_issue_entered monthly 9.99 USD",
                "2026-06-10 12:00:00 billing_issue_recovered from grace after 156h monthly 9.99 USD",
            ]
        )
    }

    @Test func `a recovery in hold begins a new cycle`() {
        var life = Self.converted()
        life.fail("2026-06-04", grace: "2026-06-20")
        life.outlook(
            end: "2026-06-04",
            signed: "2026-06-20",
            retrying: true,
            grace: "2026-06-20"
        )
        life.condition(.retry, notice: .graceExpired, end: "2026-06-04", signed: "2026-06-20")
        life.pay("3", from: "2026-06-25", to: "2026-07-25")
        life.pay("4", from: "2026-07-25", to: "2026-08-25")
        #expect(
            life.spans(until: "2026-08-01").dropFirst(2) == [
                "2026-06-04 grace billingIssue monthly renews",
                "2026-06-20 hold billingRetry monthly renews",
                "2026-06-25 active paid monthly renews",
            ]
        )
        #expect(
            life.events(until: "2026-08-01").dropFirst(2) == [
                "2026-06-04 billing_issue_entered monthly 9.99 USD",
                "2026-06-20 grace_ended from grace monthly",
                "2026-06-25 billing_issue_recovered from hold after 21d monthly 9.99 USD",
                "2026-07-25 renewed monthly 9.99 USD",
            ]
        )
        let issue = life.told(until: "2026-08-01").issues
        #expect(issue.map(\.graceFrom) == ["2026-06-04"])
        #expect(issue.map(\.holdFrom) == ["2026-06-20"])
        #expect(issue.map(\.endedAt) == ["2026-06-25"])
        #expect(issue.map(\.moneyAtRisk?.text) == ["9.99 USD"])
    }

    @Test func `another product chosen while a payment is retried leaves its price`() {
        var life = Self.converted()
        life.fail("2026-06-04")
        let stated: [(product: String, price: String, signed: Instant)] = [
            ("monthly", "8.99 USD", "2026-06-04T01:00:00Z"), ("yearly", "79.99 USD", "2026-06-07"),
        ]
        for one in stated {
            let outlook = Outlook(
                renewalDate: "2026-06-04",
                productId: "monthly",
                renewsInto: one.product,
                willRenew: true,
                isRetrying: true,
                renewalPrice: Money(text: one.price)
            )
            life.say(.outlook(outlook), at: one.signed)
            let issues = life.told(until: "2026-06-10").issues
            #expect(issues.map(\.moneyAtRisk?.text) == ["8.99 USD"])
        }
    }

    @Test(arguments: [("0.0 USD", "9.99 USD"), ("0.0 EUR", nil)])
    func `the catalogue's price counts only in the customer's currency`(
        _ trial: String,
        _ expected: String?
    ) {
        var life = Life()
        life.catalogue.products["monthly"]?.price = Money(text: "9.99 USD")
        life.pay(
            "1",
            from: "2026-05-01",
            to: "2026-05-04",
            price: trial,
            offer: StandingTests.trial,
            origin: .purchase
        )
        life.fail("2026-05-04")
        #expect(life.told(until: "2026-05-10").issues.map(\.moneyAtRisk?.text) == [expected])
    }

    @Test func `sixty days of retry end in expiry without a notification`() {
        var life = Self.converted()
        life.fail("2026-06-04")
        #expect(
            life.events(until: "2026-09-01").dropFirst(2) == [
                "2026-06-04 billing_issue_entered monthly 9.99 USD",
                "2026-08-03 expired from hold after 60d monthly keep until 2026-08-03",
                "2026-08-03 cleanup_due monthly keep until 2026-08-03",
            ]
        )
        #expect(
            life.spans(until: "2026-09-01").dropFirst(2) == [
                "2026-06-04 hold billingRetry monthly renews",
                "2026-08-03 expired billingError monthly ends",
            ]
        )
        #expect(
            life.told(until: "2026-09-01").issues.map(\.outcome) == [
                .expired(from: .hold, at: "2026-08-03")
            ]
        )
        #expect(life.told(until: "2026-07-01").issues.map(\.outcome) == [.open(.hold)])
    }

    @Test func `cancelling in grace ends the issue and access at once`() {
        var life = Self.converted()
        life.fail("2026-06-04", grace: "2026-06-20")
        life.lapse("2026-06-04", at: "2026-06-09", .cancelled)
        #expect(
            life.events(until: "2026-07-01").dropFirst(2) == [
                "2026-06-04 billing_issue_entered monthly 9.99 USD",
                "2026-06-09 cancelled from grace monthly",
                "2026-06-09 expired from grace after 5d monthly keep until 2026-06-09",
                "2026-06-09 cleanup_due monthly keep until 2026-06-09",
            ]
        )
        #expect(
            life.told(until: "2026-07-01").issues.map(\.outcome) == [
                .cancelled(from: .grace, at: "2026-06-09")
            ]
        )
    }

    @Test func `a renewal re-enabled in time keeps one issue`() {
        var life = Self.converted()
        life.fail("2026-06-04", grace: "2026-06-20")
        life.outlook(
            end: "2026-06-04",
            signed: "2026-06-09",
            renews: false,
            grace: "2026-06-20",
            lapse: .cancelled
        )
        life.fail("2026-06-04", at: "2026-06-10", grace: "2026-06-20")
        life.pay("3", from: "2026-06-04", to: "2026-07-04", signed: "2026-06-12")
        #expect(
            life.events(until: "2026-07-01").dropFirst(2) == [
                "2026-06-04 billing_issue_entered monthly 9.99 USD",
                "2026-06-09 cancelled from grace monthly",
                "2026-06-09 expired from grace after 5d monthly keep until 2026-06-09",
                "2026-06-09 cleanup_due monthly keep until 2026-06-09",
                "2026-06-10 uncancelled monthly",
                "2026-06-12 billing_issue_recovered from grace after 8d monthly 9.99 USD",
            ]
        )
        #expect(life.told(until: "2026-07-01").issues.count == 1)
    }

    @Test func `a cancelled trial has trial events to its end`() {
        var life = Life()
        life.pay(
            "1",
            from: "2026-05-01",
            to: "2026-05-04",
            offer: StandingTests.trial,
            origin: .purchase
        )
        life.outlook(end: "2026-05-04", signed: "2026-05-02", renews: false)
        life.outlook(end: "2026-05-04", signed: "2026-05-03", renews: true)
        life.outlook(end: "2026-05-04", signed: "2026-05-03T12:00:00Z", renews: false)
        #expect(
            life.events(until: "2026-06-01").dropFirst() == [
                "2026-05-02 trial_cancelled after 1d monthly",
                "2026-05-03 uncancelled monthly",
                "2026-05-03 12:00:00 trial_cancelled after 60h monthly",
                "2026-05-04 trial_ended after 3d monthly keep until 2026-05-04",
                "2026-05-04 cleanup_due monthly keep until 2026-05-04",
            ]
        )
    }

    @Test func `a trial with a failed payment converts when it recovers`() {
        var life = Life()
        life.pay(
            "1",
            from: "2026-05-01",
            to: "2026-05-04",
            price: "0.0 USD",
            offer: StandingTests.trial,
            origin: .purchase
        )
        life.catalogue.products["monthly"]?.price = Money(text: "9.99 USD")
        life.fail("2026-05-04", grace: "2026-05-20")
        life.pay("2", from: "2026-05-04", to: "2026-06-04", signed: "2026-05-06")
        #expect(
            life.events(until: "2026-06-01").dropFirst() == [
                "2026-05-04 billing_issue_entered monthly 9.99 USD",
                "2026-05-06 billing_issue_recovered from grace after 2d monthly 9.99 USD",
                "2026-05-06 trial_converted after 5d monthly 9.99 USD",
            ]
        )
        #expect(life.told(until: "2026-06-01").issues.map(\.isTrial) == [true])
    }

    @Test func `a refund is reversed thirteen days later`() {
        var life = Self.converted()
        life.revoke("2", at: "2026-05-10")
        life.condition(.revoked, end: "2026-06-04", signed: "2026-05-10")
        life.reverse("2", at: "2026-05-23")
        life.condition(.active, end: "2026-06-04", signed: "2026-05-23")
        #expect(
            life.spans(until: "2026-06-01").dropFirst(2) == [
                "2026-05-10 expired refunded monthly renews",
                "2026-05-23 active paid monthly renews",
            ]
        )
        #expect(
            life.events(until: "2026-06-01").dropFirst(2) == [
                "2026-05-10 refunded monthly 9.99 USD keep until 2026-06-04",
                "2026-05-23 refund_reversed after 13d monthly 9.99 USD",
            ]
        )
    }

    @Test func `content of a refunded month is kept until the month ends`() {
        var life = Self.converted()
        life.revoke("2", at: "2026-05-10")
        #expect(
            life.events(until: "2026-07-01").dropFirst(2) == [
                "2026-05-10 refunded monthly 9.99 USD keep until 2026-06-04",
                "2026-06-04 cleanup_due monthly keep until 2026-06-04",
            ]
        )
    }

    @Test func `a refund of an old month does not affect the present`() {
        var life = Self.converted()
        life.pay("3", from: "2026-06-04", to: "2026-07-04")
        life.revoke("2", at: "2026-06-10")
        #expect(
            life.events(until: "2026-07-01").dropFirst(2) == [
                "2026-06-04 renewed monthly 9.99 USD", "2026-06-10 refunded monthly 9.99 USD",
            ]
        )
    }

    @Test func `a partial refund has a part of the price`() {
        var life = Self.converted()
        life.say(
            .revocation(
                Revocation(
                    term: TermKey("w:w2"),
                    date: "2026-05-10",
                    cause: .proratedRefund,
                    percentage: 50_000
                )
            ),
            at: "2026-05-10"
        )
        #expect(
            life.events(until: "2026-05-20").last
                == "2026-05-10 refunded monthly 4.995 USD keep until 2026-06-04"
        )
    }

    @Test func `a renewal announced seven hours early begins at its start`() {
        var life = Self.converted()
        life.pay("3", from: "2026-06-04", to: "2026-07-04", signed: "2026-06-03T17:00:00Z")
        let announced = life.told(until: "2026-06-03T20:00:00Z")
        #expect(announced.transitions.count == 2)
        #expect(announced.expected.map(\.kind).first == .renewed)
        let begun = life.told(until: "2026-06-04").transitions
        #expect(begun.last?.line == "2026-06-04 renewed monthly 9.99 USD")
        #expect(begun.last?.learnedAt == "2026-06-03T17:00:00Z")
    }

    @Test func `an upgrade announced seven hours early changes the product at its start`() {
        var life = Self.converted()
        life.pay(
            "3",
            "yearly",
            from: "2026-05-20",
            to: "2027-05-20",
            price: "59.99 USD",
            signed: "2026-05-19T17:00:00Z",
            origin: .purchase
        )
        life.term("2", from: "2026-05-04", to: "2026-06-04", signed: "2026-05-20", upgraded: true)
        life.charge("9.99 USD")
        #expect(
            life.spans(until: "2026-06-01").dropFirst(2) == [
                "2026-05-20 active paid yearly renews"
            ]
        )
        #expect(
            life.events(until: "2026-06-01").dropFirst(2) == [
                "2026-05-20 product_changed from monthly yearly 59.99 USD"
            ]
        )
    }

    @Test func `a downgrade takes effect with the renewal`() {
        var life = Self.converted()
        life.outlook(end: "2026-06-04", signed: "2026-05-20", into: "basic")
        life.pay("3", "basic", from: "2026-06-04", to: "2026-07-04", price: "4.99 USD")
        #expect(
            life.events(until: "2026-07-01").dropFirst(2) == [
                "2026-06-04 renewed basic 4.99 USD",
                "2026-06-04 product_changed from monthly basic 4.99 USD",
                "2026-06-04 cleanup_due monthly keep until 2026-06-04",
            ]
        )
        #expect(
            life.spans(until: "2026-07-01").last
                == "2026-06-04 expired changedProduct monthly"
        )
    }

    @Test func `what a change of product takes away is cleaned up when its paid time ends`() {
        var life = Life()
        life.pay("1", "yearly", from: "2025-06-04", to: "2026-06-04", origin: .purchase)
        life.pay("2", from: "2026-05-20", to: "2026-06-20", origin: .purchase)
        life.term(
            "1",
            "yearly",
            from: "2025-06-04",
            to: "2026-06-04",
            signed: "2026-05-20",
            upgraded: true
        )
        #expect(life.told(until: "2026-06-03").transitions.last?.kind == .productChanged)
        let last = life.told(until: "2026-06-04").transitions.last
        #expect(last?.line == "2026-06-04 cleanup_due yearly keep until 2026-06-04")
        #expect(last?.entitlements == ["archive"])
        life.pay("3", "yearly", from: "2026-06-01", to: "2027-06-01", origin: .purchase)
        let kinds = life.told(until: "2026-06-10").transitions.map(\.kind)
        #expect(kinds.suffix(2) == [.productChanged, .productChanged])
    }

    @Test func `a purchase two months after a lapse is a new start`() {
        var life = Self.converted()
        life.outlook(end: "2026-06-04", signed: "2026-05-20", renews: false)
        life.lapse("2026-06-04", at: "2026-06-04", .cancelled)
        life.pay("3", from: "2026-08-04", to: "2026-09-04", origin: .purchase)
        #expect(
            life.spans(until: "2026-09-01").dropFirst(2) == [
                "2026-05-20 active paid monthly ends",
                "2026-06-04 expired cancelled monthly ends",
                "2026-08-04 active paid monthly renews",
            ]
        )
        #expect(
            life.events(until: "2026-09-01").dropFirst(2) == [
                "2026-05-20 cancelled monthly",
                "2026-06-04 expired monthly keep until 2026-06-04",
                "2026-06-04 cleanup_due monthly keep until 2026-06-04",
                "2026-08-04 resubscribed after 61d monthly 9.99 USD",
            ]
        )
    }

    @Test func `a purchase in the same lineage during retry is not a recovery`() {
        var life = Self.converted()
        life.fail("2026-06-04")
        life.pay(
            "3",
            "yearly",
            from: "2026-06-14",
            to: "2027-06-14",
            price: "59.99 USD",
            origin: .purchase
        )
        #expect(
            life.events(until: "2026-07-01").dropFirst(3) == [
                "2026-06-14 recovered_by_new_purchase from hold after 10d yearly 59.99 USD by 1000",
                "2026-06-14 product_changed from monthly yearly 59.99 USD",
            ]
        )
    }

    /// A month fails on 15 June. On 20 June the refund of the year before it is reversed.
    private static func returnedYear() -> Life {
        var life = Life()
        life.term("1", "yearly", from: "2026-01-01", to: "2027-01-01", origin: .purchase)
        life.charge("59.99 USD")
        life.revoke("1", at: "2026-05-10")
        life.term("2", from: "2026-05-15", to: "2026-06-15", origin: .purchase)
        life.outlook(end: "2026-06-15", signed: "2026-05-15")
        life.outlook(end: "2026-06-15", signed: "2026-06-15", retrying: true)
        life.condition(.retry, notice: .failedToRenew, end: "2026-06-15", signed: "2026-06-15")
        life.reverse("1", at: "2026-06-20")
        return life
    }

    @Test func `the return of a year is no recovery of the month that failed`() {
        let life = Self.returnedYear()
        let told = life.told(until: "2026-06-30")
        #expect(
            told.transitions.map(\.kind) == [
                .started, .refunded, .resubscribed, .billingIssueEntered, .refundReversed,
                .productChanged,
            ]
        )
        // Nothing was paid for the return.
        #expect(told.transitions.last?.money == nil)
        #expect(told.issues.map(\.outcome) == [.open(.hold)])
        let given = life.told(until: "2026-12-31").issues.map(\.outcome)
        #expect(given == [.expired(from: .hold, at: "2026-08-14")])
    }

    @Test func `a month that failed recovers or is cancelled beside a year that returned`() {
        var cancelled = Self.returnedYear()
        cancelled.outlook(
            end: "2026-06-15",
            signed: "2026-07-05",
            renews: false,
            lapse: .cancelled
        )
        let outcomes = cancelled.told(until: "2026-12-31").issues.map(\.outcome)
        #expect(outcomes == [.cancelled(from: .hold, at: "2026-07-05")])
        var recovered = Self.returnedYear()
        recovered.term("3", from: "2026-07-01", to: "2026-08-01")
        recovered.charge("9.99 USD")
        let told = recovered.told(until: "2026-07-10")
        #expect(
            told.transitions.map(\.kind).suffix(3) == [
                .productChanged, .billingIssueRecovered, .productChanged,
            ]
        )
        guard case .recovered(let recovery) = told.issues.first?.outcome else {
            Issue.record("the renewal is no recovery")
            return
        }
        #expect(recovery.at == "2026-07-01")
        #expect(recovery.money == Money(text: "9.99 USD"))
    }

    @Test func `a family member's failure and recovery have no money and no issue`() {
        var life = Self.converted()
        life.fail("2026-06-04")
        life.pay("3", from: "2026-06-14", to: "2026-07-14")
        let shared = life.shared
        #expect(
            shared.events(until: "2026-07-01").dropFirst(2) == [
                "2026-06-04 billing_issue_entered monthly shared",
                "2026-06-14 billing_issue_recovered from hold after 10d monthly shared",
            ]
        )
        #expect(shared.told(until: "2026-07-01").issues == [])
        #expect(life.told(until: "2026-07-01").issues.count == 1)
    }

    @Test func `access kept in retry by policy is not grace`() {
        var life = Self.converted()
        life.policy = Policy(billingRetry: .keep(.days(30)))
        life.fail("2026-06-04", grace: "2026-06-20")
        life.pay("3", from: "2026-06-30", to: "2026-07-30")
        #expect(
            life.spans(until: "2026-07-10").dropFirst(2) == [
                "2026-06-04 grace billingIssue monthly renews",
                "2026-06-20 grace keptByPolicy monthly renews",
                "2026-06-30 active paid monthly renews",
            ]
        )
        #expect(
            life.events(until: "2026-07-10").dropFirst(3) == [
                "2026-06-20 grace_ended from grace monthly",
                "2026-06-30 billing_issue_recovered from hold after 26d monthly 9.99 USD",
            ]
        )
    }

    @Test func `a month of three minutes has the same events`() {
        var life = Life(environment: .sandbox)
        let start: Instant = "2026-05-01T10:00:00Z"
        let month = Milliseconds.minutes(3)
        let (end, grace) = (start + month, start + month + .seconds(90))
        life.pay("1", from: start, to: end, origin: .purchase)
        life.fail(end, grace: grace)
        life.pay("2", from: grace + .seconds(30), to: grace + .seconds(210))
        #expect(
            life.events(until: grace + .minutes(3)) == [
                "2026-05-01 10:00:00 started monthly 9.99 USD",
                "2026-05-01 10:03:00 billing_issue_entered monthly 9.99 USD",
                "2026-05-01 10:04:30 grace_ended from grace monthly",
                "2026-05-01 10:05:00 billing_issue_recovered from hold after 2m monthly 9.99 USD",
            ]
        )
        life.facts.removeLast(3)
        let lost = life.told(until: "2026-05-02").transitions
        let sixtyDays = Milliseconds(Milliseconds.days(60).count * month.count)
        let retry = Milliseconds(sixtyDays.count / Milliseconds.days(31).count)
        #expect(lost.last?.at == end + retry)
    }

    @Test func `a silent end causes no event`() {
        let life = Self.converted()
        #expect(life.events(until: "2026-08-01").count == 2)
        #expect(
            life.spans(until: "2026-08-01").dropFirst(2) == [
                "2026-06-04 active renewalDue monthly renews presumed",
                "2026-06-05 expired unconfirmed monthly renews unknown",
            ]
        )
        var later = life
        later.pay("4", from: "2026-07-04", to: "2026-08-04")
        #expect(later.events(until: "2026-08-01").last == "2026-07-04 renewed monthly 9.99 USD")
    }

    @Test func `a lifetime purchase starts, and a refund keeps content for thirty days`() {
        var life = Life()
        life.term(
            "1",
            "lifetime",
            from: "2026-05-01",
            to: nil,
            plan: .nonConsumable,
            origin: .purchase
        )
        life.charge("99.0 USD")
        life.say(
            .revocation(Revocation(term: TermKey("t:t1"), date: "2026-05-10", cause: .refund)),
            at: "2026-05-10"
        )
        #expect(
            life.events(until: "2026-07-01") == [
                "2026-05-01 started lifetime 99.00 USD",
                "2026-05-10 refunded lifetime 99.00 USD keep until 2026-06-09",
                "2026-06-09 cleanup_due lifetime keep until 2026-06-09",
            ]
        )
    }

    @Test func `consumables have no events except refunds`() {
        var life = Life()
        life.term("1", "coins", from: "2026-05-01", to: nil, plan: .consumable, origin: .purchase)
        #expect(life.events(until: "2026-07-01") == [])
        life.say(
            .revocation(Revocation(term: TermKey("t:t1"), date: "2026-05-10", cause: .refund)),
            at: "2026-05-10"
        )
        #expect(life.events(until: "2026-07-01") == ["2026-05-10 refunded coins"])
    }
}

extension Life {
    /// The same facts for a family member's share.
    var shared: Life {
        var shared = self
        shared.lineage.ownership = .familyShared
        for position in shared.facts.indices { shared.facts[position].lineage = shared.lineage }
        return shared
    }
}
