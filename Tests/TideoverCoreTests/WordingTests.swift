import Testing
import TideoverCore
import TideoverLives

/// The messages of the screens: a key, arguments and English text for each.
@Suite struct WordingTests {
    static let price = Price(
        amount: Money(milliunits: 9990, currency: "USD"),
        period: Period(months: 1)
    )
    static let end: Instant = "2026-05-04"

    /// Each screen, with and without its optional values.
    static let screens: [MessageContext] = [
        .trialOffer(length: Period(days: 3), price: price),
        .trialOffer(length: Period(days: 3), price: nil),
        .trialRunning(endsAt: end, cancelBy: "2026-05-03", daysLeft: 2, price: price),
        .trialRunning(endsAt: end, cancelBy: "2026-05-03", daysLeft: 2, price: nil),
        .trialEnding(endsAt: end, price: price), .trialEnding(endsAt: end, price: nil),
        .trialCancelled(endsAt: end), .cancelled(until: end), .grace(until: end),
        .grace(until: nil), .graceShared, .graceChanging, .hold, .holdShared, .holdChanging,
        .paused, .expired(price: price), .expired(price: nil), .expiredShared, .pending,
        .unconfirmed, .chargedTwice, .recovered, .priceConsent,
    ]

    @Test func `the table has one row for each key, and each screen has its own`() {
        #expect(MessageText.all.map(\.key) == MessageText.Key.allCases)
        #expect(Self.screens.map(\.key) == MessageText.Key.allCases)
    }

    @Test(arguments: screens)
    func `a screen has exactly the arguments of the table, with their types`(
        screen: MessageContext
    ) {
        let phrase = MessageText[screen.key]
        #expect(screen.arguments.map(\.name) == phrase.arguments)
        for (name, value) in screen.arguments { #expect(value.type == name.type, "\(name)") }
    }

    @Test(arguments: MessageText.all)
    func `a template contains only arguments of its row`(phrase: MessageText) {
        let names = [phrase.title, phrase.message].flatMap { template in
            template.matches(of: /\{([A-Za-z]+)\}/).map { String($0.output.1) }
        }
        #expect(Set(names).isSubset(of: phrase.arguments.map(\.rawValue)))
        // A countdown is for a badge; the text contains the day.
        let unsaid = Set(phrase.arguments.map(\.rawValue)).subtracting(names)
        #expect(unsaid.isSubset(of: [MessageText.Argument.daysLeft.rawValue]))
        let braces = (phrase.title + phrase.message).filter { "{}".contains($0) }
        #expect(braces.count == 2 * names.count)
    }

    @Test(arguments: screens)
    func `no placeholder is left in the words`(screen: MessageContext) {
        let wording = Wording(screen)
        for text in [wording.title, wording.message, wording.label ?? "Go"] {
            #expect(!text.isEmpty)
            #expect(!text.contains { "{}".contains($0) })
            #expect(!text.contains("  "))
        }
    }

    @Test func `only a locked out customer reads that their data is kept`() {
        let speaking = MessageText.all.filter { "\($0.title) \($0.message)".contains("data") }
        #expect(speaking.map(\.key) == [.hold])
    }

    @Test func `only a customer's own payments are requested`() {
        for phrase in MessageText.all where phrase.key.rawValue.hasSuffix(".shared") {
            #expect(phrase.label == nil)
            #expect(!phrase.message.contains("payment method"))
        }
    }

    @Test(
        arguments: [
            (.trialOffer(length: Period(weeks: 1), price: price), "Try it free for 1 week"),
            (
                .trialOffer(length: Period(years: 1, months: 6), price: nil),
                "Try it free for 1 year and 6 months"
            ),
        ] as [(MessageContext, String)]
    )
    func `a trial is offered with its length`(screen: MessageContext, title: String) {
        #expect(Wording(screen).title == title)
    }

    @Test(
        arguments: [
            (Period(months: 1), "9.99 USD per month"), (Period(months: 3), "9.99 USD per 3 months"),
            (Period(years: 1), "9.99 USD per year"),
            (Period(years: 1, months: 6), "9.99 USD per 1 year and 6 months"), (nil, "9.99 USD"),
        ] as [(Period?, String)]
    )
    func `a price contains its period`(period: Period?, text: String) {
        let price = Price(amount: Money(milliunits: 9990, currency: "USD"), period: period)
        #expect(Wording(.expired(price: price)).message == "You can have it back for \(text).")
    }

    @Test func `an amount that looks like an argument is not replaced`() {
        let odd = Price(amount: Money(milliunits: 1000, currency: "{price}"))
        #expect(Wording(.expired(price: odd)).message == "You can have it back for 1.00 {price}.")
    }

    // MARK: Choice of message

    private func key(_ life: Life, at instant: Instant) throws -> MessageText.Key? {
        try AdviceTests.guidance([life], at: instant).wording?.screen.key
    }

    private func trial(renews: Bool?) -> Life {
        var life = Life()
        life.term(
            "1",
            from: "2026-05-01",
            to: Self.end,
            offer: StandingTests.trial,
            origin: .purchase
        )
        if let renews { life.outlook(end: Self.end, signed: "2026-05-01", renews: renews) }
        return life
    }

    @Test(arguments: ["basic", "yearly"])
    func `a failed payment for a lesser product promises no access that it does not bring`(
        next: String
    ) throws {
        var life = StandingTests.monthly()
        life.outlook(
            end: "2026-06-01",
            signed: "2026-06-01",
            retrying: true,
            grace: "2026-06-17",
            into: next
        )
        let isLesser = next == "basic"
        for (instant, usual, lesser): (Instant, MessageText.Key, MessageText.Key) in [
            ("2026-06-10", .grace, .graceChanging), ("2026-06-20", .hold, .holdChanging),
        ] {
            let key = isLesser ? lesser : usual
            #expect(try self.key(life, at: instant) == key)
            let prompt = AdviceTests.history([life]).snapshot(at: instant).prompt
            #expect(prompt?.wording.screen.key == key)
            // The payment ends the present access, too.
            #expect((prompt?.until == nil) == (isLesser || usual == .hold))
        }
        #expect(
            Wording(.holdChanging).message.hasSuffix("continues with the plan that you chose.")
        )
    }

    @Test func `a trial runs, then ends soon, tested on both sides of its last day`() throws {
        let cancelBy: Instant = "2026-05-03"
        for renews in [true, nil] {
            let life = trial(renews: renews)
            #expect(try key(life, at: "2026-05-01") == .trialRunning)
            #expect(try key(life, at: cancelBy.justBefore) == .trialRunning)
            #expect(try key(life, at: cancelBy) == .trialEnding)
            #expect(try key(life, at: Self.end.justBefore) == .trialEnding)
        }
        let cancelled = trial(renews: false)
        #expect(try key(cancelled, at: "2026-05-01") == .trialCancelled)
        #expect(try key(cancelled, at: Self.end.justBefore) == .trialCancelled)
        #expect(try key(cancelled, at: Self.end) == .expired)
    }

    @Test func `a running trial contains its days and the following price`() throws {
        var life = trial(renews: true)
        life.priceRenewal(AdviceTests.eightEuros)
        let wording = try #require(try AdviceTests.guidance([life], at: "2026-05-01").wording)
        #expect(
            wording.message
                == "It lasts until 4 May 2026. After that it costs 7.99 EUR per month, unless you "
                + "cancel by 3 May 2026."
        )
        let days = wording.screen.arguments.first { $0.name == .daysLeft }?.value
        #expect(days == .number(3))
    }

    @Test func `a trial whose higher price awaits consent has no price and no promise`() throws {
        var life = trial(renews: true)
        var outlook = Outlook(renewalDate: Self.end, productId: "monthly", willRenew: true)
        outlook.priceIncreasePending = true
        life.say(.outlook(outlook), at: "2026-05-02")
        #expect(try key(life, at: "2026-05-02") == .priceConsent)
        #expect(try key(life, at: Self.end.justBefore) == .priceConsent)
        outlook.willRenew = false
        life.say(.outlook(outlook), at: "2026-05-02T12:00:00Z")
        #expect(try key(life, at: "2026-05-03") == .trialCancelled)
        (outlook.willRenew, outlook.priceIncreasePending) = (true, false)
        life.say(.outlook(outlook), at: "2026-05-03T12:00:00Z")
        #expect(try key(life, at: "2026-05-03T13:00:00Z") == .trialEnding)
    }

    @Test func `a trial that is cancelled after its first charge goes on to the paid end`() throws {
        var life = trial(renews: true)
        let charged: Instant = "2026-05-03T06:00:00Z"
        let paidUntil: Instant = "2026-06-04"
        life.term("2", from: Self.end, to: paidUntil, signed: charged)
        life.outlook(end: paidUntil, signed: charged)
        #expect(try key(life, at: charged) == .trialEnding)
        life.outlook(end: paidUntil, signed: "2026-05-03T12:00:00Z", renews: false)
        let guidance = try AdviceTests.guidance([life], at: "2026-05-03T12:00:00Z")
        #expect(guidance.wording?.screen == .cancelled(until: paidUntil))
        #expect(guidance.advice?.kind == .reEnableRenewal)
        #expect(guidance.advice?.chargedAt == paidUntil)
        let events = life.told(until: "2026-05-03T18:00:00Z").transitions
        #expect(events.map(\.kind) == [.trialStarted])
    }

    @Test func `the words change with a failing payment to its end`() throws {
        let life = StandingTests.failing()
        for (instant, before, after): (Instant, MessageText.Key?, MessageText.Key?) in [
            ("2026-06-01", nil, .grace), ("2026-06-17", .grace, .hold),
            ("2026-07-31", .hold, .expired),
        ] {
            #expect(try key(life, at: instant.justBefore) == before)
            #expect(try key(life, at: instant) == after)
            let shared = AdviceTests.shared(life)
            let others: [MessageText.Key: MessageText.Key] = [
                .grace: .graceShared, .hold: .holdShared, .expired: .expiredShared,
            ]
            #expect(try key(shared, at: instant) == after.flatMap { others[$0] })
        }
    }

    @Test func `the store's silence is mentioned when access is lost, not before`() throws {
        let due: Instant = "2026-06-01"
        let over = due + .hours(24)
        #expect(try key(StandingTests.monthly(), at: over.justBefore) == nil)
        #expect(try key(StandingTests.monthly(), at: over) == .unconfirmed)
    }

    @Test func `a trial is offered to a customer who never had the entitlement`() throws {
        var life = Life()
        life.term("1", "basic", from: "2026-05-01", to: "2026-06-01", origin: .purchase)
        let wording = try #require(try AdviceTests.guidance([life], at: "2026-05-10").wording)
        #expect(wording.screen == .trialOffer(length: Period(days: 3), price: Self.price))
        #expect(wording.label == "Start free trial")
    }
}
