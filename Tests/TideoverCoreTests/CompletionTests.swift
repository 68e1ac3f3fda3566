import Testing
import TideoverCore
import TideoverLives

/// Less detailed observations add to more detailed ones, and erase nothing.
///
/// Apple's list of receipt fields and the documentation of JWSTransactionDecodedPayload state the
/// available fields. A receipt has no price, storefront, group, account token or commitment. Of
/// offers it has only the introductory and the promotional one.
///
/// https://developer.apple.com/library/archive/releasenotes/General/ValidateAppStoreReceipt/Chapters/ReceiptFields.html
///
/// https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload
@Suite struct CompletionTests {
    /// The term of a signed transaction with every possible field.
    private static let rich = Term(
        transactionId: "t2",
        webOrderLineItemId: "w2",
        productId: "monthly",
        start: "2026-05-01",
        end: "2026-06-01",
        offer: Offer(
            kind: .winBack,
            discount: .payUpFront,
            identifier: "back",
            period: Period(months: 1)
        ),
        price: Money(text: "4.99 USD"),
        isUpgraded: true,
        origin: .renewal,
        group: "pro",
        storefront: "USA",
        accountToken: CustomerID("anna"),
        billing: .monthly,
        commitment: Term.Commitment(payment: 1, payments: 12)
    )

    /// The same period in a receipt.
    private static let poor = Term(
        transactionId: "t2",
        webOrderLineItemId: "w2",
        productId: "monthly",
        start: "2026-05-01",
        end: "2026-06-01",
        origin: .unstated
    )

    @Test func `a receipt removes no field that a transaction stated`() {
        #expect(Self.poor.completed(by: Self.rich) == Self.rich)
        #expect(Self.rich.completed(by: Self.poor) == Self.rich)
    }

    @Test func `for a field in both the newer value counts`() {
        var newer = Self.rich
        newer.price = Money(text: "9.99 EUR")
        newer.end = "2026-06-04"
        newer.storefront = "DEU"
        newer.isRevoked = true
        #expect(newer.completed(by: Self.rich) == newer)
    }

    @Test func `a non-consumable gets no end, and an unknown plan keeps the known one`() {
        var forever = Self.poor
        forever.plan = .nonConsumable
        forever.end = nil
        #expect(forever.completed(by: Self.rich).end == nil)
        var strange = Self.poor
        strange.plan = .unrecognised("7")
        #expect(strange.completed(by: Self.rich).plan == .autoRenewable)
    }

    private static let introductory = Offer(kind: .introductory)
    private static let trial = Offer(kind: .introductory, discount: .freeTrial)
    private static let week = Period(days: 7)

    /// A newer observation, an older one, and the resulting offer.
    private static let offers: [(Offer?, Offer?, Offer?)] = [
        (nil, trial, trial),
        (trial, nil, trial),
        // A receipt states that it is introductory, not how it was paid.
        (
            introductory, Offer(kind: .introductory, discount: .payAsYouGo, period: week),
            Offer(kind: .introductory, discount: .payAsYouGo, period: week)
        ),
        // A receipt reports the free period of an offer code as a trial.
        (
            trial, Offer(kind: .code, discount: .freeTrial, identifier: "SPRING", period: week),
            Offer(kind: .code, discount: .freeTrial, identifier: "SPRING", period: week)
        ),
        (
            Offer(kind: .code, identifier: "SPRING"), trial,
            Offer(kind: .code, discount: .freeTrial, identifier: "SPRING")
        ),
        (
            Offer(kind: .promotional, identifier: "loyal"),
            Offer(kind: .promotional, discount: .payUpFront, identifier: "old", period: week),
            Offer(kind: .promotional, discount: .payUpFront, identifier: "loyal", period: week)
        ),
        (Offer(kind: .unrecognised("9")), trial, trial),
    ]

    @Test(arguments: offers)
    func `an offer stated once is kept`(_ newer: Offer?, _ older: Offer?, _ expected: Offer?) {
        var (term, before) = (Self.poor, Self.poor)
        (term.offer, before.offer) = (newer, older)
        #expect(term.completed(by: before).offer == expected)
    }

    @Test func `an outlook keeps fields that a newer one omits, except failure fields`() {
        let rich = Outlook(
            renewalDate: "2026-06-01",
            productId: "monthly",
            renewsInto: "yearly",
            willRenew: true,
            isRetrying: true,
            graceEnd: "2026-06-17",
            lapse: .billingError,
            priceIncreasePending: true,
            renewalPrice: Money(text: "9.99 USD"),
            offer: Offer(kind: .winBack, discount: .freeTrial, identifier: "back"),
            billing: .monthly
        )
        let poor = Outlook(renewalDate: "2026-06-01")
        var expected = Outlook(
            renewalDate: "2026-06-01",
            productId: "monthly",
            renewsInto: "yearly",
            willRenew: true,
            renewalPrice: Money(text: "9.99 USD"),
            billing: .monthly
        )
        #expect(poor.completed(by: rich) == expected)
        #expect(rich.completed(by: poor) == rich)
        // The price of another product does not apply to this one.
        let other = Outlook(renewalDate: "2026-06-01", renewsInto: "basic")
        expected.renewsInto = "basic"
        expected.renewalPrice = nil
        expected.billing = nil
        #expect(other.completed(by: rich) == expected)
    }

    // MARK: In standings

    /// Adds a term as a receipt reports it.
    private func receipt(_ life: inout Life, signed: Instant) {
        life.term(
            "1",
            from: "2026-05-01",
            to: "2026-05-04",
            signed: signed,
            origin: .unstated
        )
    }

    private func sold(with offer: Offer, at signed: Instant, in life: inout Life) {
        life.term("1", from: "2026-05-01", to: "2026-05-04", signed: signed, offer: offer)
    }

    @Test func `a later receipt does not turn an offer into a paid period, in any order`() {
        let offer = Offer(kind: .code, discount: .freeTrial, identifier: "SPRING")
        var life = Life()
        sold(with: offer, at: "2026-05-01", in: &life)
        receipt(&life, signed: "2026-05-02")
        #expect(life.told("2026-05-03") == "active trial in-term confirmed")
        life.facts.reverse()
        #expect(life.told("2026-05-03") == "active trial in-term confirmed")
    }

    @Test func `a receipt alone gives access, and later facts add detail`() {
        var life = Life()
        receipt(&life, signed: "2026-05-02")
        #expect(life.told("2026-05-03") == "active paid in-term confirmed")
        let offer = Offer(kind: .promotional, discount: .payUpFront)
        sold(with: offer, at: "2026-05-01", in: &life)
        #expect(life.told("2026-05-03") == "active offer in-term confirmed")
    }

    @Test func `a relay does not complete fields that the store omitted`() {
        var life = Life()
        receipt(&life, signed: "2026-05-02")
        life.term(
            "1",
            from: "2026-05-01",
            to: "2026-05-04",
            signed: "2026-05-01",
            offer: Offer(kind: .introductory, discount: .freeTrial),
            rank: .relayed
        )
        #expect(life.told("2026-05-03") == "active paid in-term confirmed")
    }

    @Test func `an upgrade survives a receipt that omits it`() {
        var life = StandingTests.monthly()
        life.term("1", from: "2026-05-01", to: "2026-06-01", signed: "2026-05-10", upgraded: true)
        #expect(life.told("2026-05-20") == "active paid superseded presumed")
        life.term("1", from: "2026-05-01", to: "2026-06-01", signed: "2026-05-15")
        #expect(life.told("2026-05-20") == "active paid superseded presumed")
    }

    @Test func `an outlook without a renewal status does not re-enable a cancelled renewal`() {
        var life = StandingTests.monthly()
        life.outlook(end: "2026-06-01", signed: "2026-05-10", renews: false)
        life.outlook(end: "2026-06-01", signed: "2026-05-12", renews: nil)
        #expect(life.standing("2026-05-20").willRenew == false)
        #expect(life.told("2026-06-01") == "expired cancelled ended confirmed")
        // Before it was cancelled, it renewed.
        #expect(life.standing("2026-05-09").willRenew == true)
    }

    @Test func `a receipt that repeats a refund keeps it`() {
        var life = StandingTests.monthly()
        life.term("1", from: "2026-05-01", to: "2026-06-01", signed: "2026-05-10", revoked: true)
        life.revoke("1", at: "2026-05-10")
        life.term(
            "1",
            from: "2026-05-01",
            to: "2026-06-01",
            signed: "2026-05-20",
            revoked: true,
            origin: .unstated
        )
        life.revoke("1", at: "2026-05-10", signed: "2026-05-20")
        #expect(life.told("2026-05-25") == "expired refunded revoked confirmed")
    }

    @Test func `an explanation includes the facts that complete a receipt`() throws {
        var life = Life()
        sold(with: Offer(kind: .code, discount: .freeTrial), at: "2026-05-01", in: &life)
        sold(with: Offer(kind: .code, discount: .freeTrial), at: "2026-05-02", in: &life)
        receipt(&life, signed: "2026-05-03")
        let record = CustomerRecord(
            customer: SnapshotTests.anna,
            environment: .production,
            lineageRecords: [life.owned(by: [life.owner(why: .claimed)])],
            catalogue: Versioned(life.catalogue),
            policy: Versioned(life.policy)
        )
        let why = try #require(record.explanation(of: "premium", at: "2026-05-03T12:00:00Z"))
        #expect(why.decision.standing.reason == .trial)
        #expect(why.used.map(\.roles) == [[.basis], [.term]])
        #expect(why.used.map(\.fact.assertedAt) == ["2026-05-02", "2026-05-03"])
        #expect(why.setAside.map(\.reason) == [.olderWord])
    }
}
