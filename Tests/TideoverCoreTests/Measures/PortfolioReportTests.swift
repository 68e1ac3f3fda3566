import Testing
import TideoverCore
import TideoverLives

@Suite struct PortfolioReportTests {
    private static func report(
        _ lives: [Diary],
        until day: Int64,
        at days: [Int64] = []
    ) -> PortfolioReport {
        let timelines = lives.map { $0.timeline(until: day) }
        return PortfolioReport(
            of: timelines,
            issues: timelines.flatMap(\.issues),
            over: Diary.day(0)..<Diary.day(day),
            at: days.map(Diary.day)
        )
    }

    private static func usd(_ milliunits: Int64) -> Money {
        Money(milliunits: milliunits, currency: "USD")
    }

    // MARK: States

    private static let month = Diary("1").term(0, 30)
    private static let failed = month.outlook(of: 30, said: 30, failing: true, grace: 46)
    private static let cancelled = month.outlook(of: 30, said: 10, renews: false)
    private static let trial = Diary("2").term(0, 30, trial: true)
    private static let trialCancelled = trial.outlook(of: 30, said: 5, renews: false)

    private static let states: [(life: Diary, day: Int64, state: SubscriptionState)] = [
        (month, 20, .active), (cancelled, 9, .active), (cancelled, 20, .cancelled),
        (cancelled, 31, .expired), (failed, 35, .grace), (failed, 50, .hold),
        (trial, 20, .trial), (trialCancelled, 20, .trialCancelled),
        (trialCancelled, 40, .expired), (month, 60, .unconfirmed),
        (month.refund(of: 0, on: 25), 26, .expired),
    ]

    @Test(arguments: states.indices)
    func `each subscription is in one state`(position: Int) throws {
        let (life, day, state) = Self.states[position]
        let point = try #require(Self.report([life], until: day).points.last)
        #expect(point.counts == [state: 1])
        let isEnded = state == .expired || state == .unconfirmed
        #expect(point.subscribers == (isEnded ? 0 : 1))
    }

    @Test func `family members and purchases that did not begin are not counted`() throws {
        let lives = [
            Diary("a", ownership: .familyShared).term(0, 30), Diary("b").term(25, 55),
        ]
        let point = try #require(Self.report(lives, until: 20).points.last)
        #expect(point.counts.isEmpty)
        #expect(point.revenue.isEmpty)
    }

    @Test func `the days on which a state changes are exact`() throws {
        let life = Self.failed.outlook(of: 30, said: 55, renews: false, lapse: .billingError)
            .condition(.expired, of: 30, said: 55)
        let report = Self.report([life], until: 90, at: [0, 29, 30, 45, 46, 54, 55])
        let states = report.points.map { $0.counts.keys.map(\.rawValue) }
        #expect(
            states == [
                ["active"], ["active"], ["grace"], ["grace"], ["hold"], ["hold"], ["expired"],
                ["expired"],
            ]
        )
        #expect(report.points.map(\.at) == [0, 29, 30, 45, 46, 54, 55, 90].map(Diary.day))
    }

    // MARK: Revenue

    @Test func `a yearly price counts a twelfth, and is divided only once summed`() throws {
        let lives = (1...3).map { number in
            Diary("\(number)").term(0, 365, product: Diary.yearly, price: Self.usd(79_990))
        }
        // 239.97 a year are 19.9975 a month, and a half is rounded up.
        let three = try #require(Self.report(lives, until: 20).points.last?.revenue.first)
        #expect(three.recurring == 19_998)
        // 79.99 a year are 6.6658333; with 9.99 a month 16.6558333.
        let two = [lives[0], Diary("9").term(0, 30)]
        let sum = try #require(Self.report(two, until: 20).points.last?.revenue.first)
        #expect(sum.recurring == 16_656)
        // 1,000 of 0.01 a year are 0.8333 a month, not 1,000 times nothing.
        let many = (1...1_000).map { number in
            Diary("\(number)").term(0, 365, product: Diary.yearly, price: Self.usd(10))
        }
        let small = try #require(Self.report(many, until: 20).points.last?.revenue.first)
        #expect(small.recurring == 833)
    }

    @Test func `a week counts 365 of 84 parts of a month`() throws {
        let life = Diary("1").term(0, 7, product: Diary.weekly, price: Self.usd(1_990))
        let sum = try #require(Self.report([life], until: 5).points.last?.revenue.first)
        // 1.99 x 365 / 84 = 8.6470238
        #expect(sum.recurring == 8_647)
    }

    @Test func `currencies, and what is not paid, are apart`() throws {
        let lives = [
            Self.month, Self.failed, Self.trial, Self.cancelled,
            Diary("e").term(0, 365, product: Diary.yearly, price: nil),
            Diary("y").term(0, 30, price: Money(milliunits: 980_000, currency: "JPY")),
        ]
        let early = try #require(Self.report(lives, until: 20).points.last)
        // The euro price is the catalogue's: 60 a year.
        #expect(early.revenue.map(\.currency) == ["EUR", "JPY", "USD"])
        #expect(early.revenue.map(\.recurring) == [5_000, 980_000, 29_970])
        #expect(early.revenue.map(\.cancelled) == [0, 0, 9_990])
        let late = try #require(Self.report([Self.failed], until: 35).points.last)
        #expect(late.revenue.map(\.grace) == [9_990])
        #expect(late.revenue.map(\.recurring) == [0])
    }

    @Test(arguments: [("play", "9.99 USD", 11_980, 11_980), ("yearly", "79.99 USD", 8_656, 81_980)])
    func `an add-on counts with the product that it is sold with`(
        product: String,
        price: String,
        monthly: Int64,
        atRisk: Int64
    ) {
        var life = Life.play()
        func read(_ state: PlaySubscription.State, until expiry: Instant, at asked: Instant) {
            let items = [(product, price), ("play.extra", "1.99 USD")].map { product, price in
                PlayItem(
                    productId: product,
                    expiresAt: expiry,
                    plan: .autoRenewing(isOn: true),
                    orderId: "GPA.1",
                    price: Money(text: price)
                )
            }
            life.read(
                PlaySubscription(
                    token: PlayToken("a"),
                    askedAt: asked,
                    state: state,
                    items: items,
                    startedAt: "2026-05-01"
                ),
                at: asked
            )
        }
        read(.active, until: "2026-06-01", at: "2026-05-01")
        read(.inGrace, until: "2026-06-02", at: "2026-06-01")
        let end: Instant = "2026-06-01T12:00:00Z"
        let timeline = life.told(until: end)
        let report = PortfolioReport(
            of: [timeline],
            issues: timeline.issues,
            over: "2026-05-01"..<end,
            at: ["2026-05-15"]
        )
        #expect(report.points.map { $0.revenue.map(\.recurring) } == [[monthly], [0]])
        #expect(report.points.map { $0.revenue.map(\.grace) } == [[0], [monthly]])
        #expect(report.failures.money.map(\.atRisk) == [atRisk])
    }

    @Test(arguments: [nil, "yearly"])
    func `a deferred replacement does not fail at the present product's price`(next: String?) {
        var life = Life.play()
        func read(_ state: PlaySubscription.State, until expiry: Instant, at asked: Instant) {
            let item = PlayItem(
                productId: "play",
                expiresAt: expiry,
                plan: .autoRenewing(isOn: true),
                orderId: "GPA.1",
                price: Money(text: "9.99 USD"),
                replacement: next
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
        let timeline = life.told(until: "2026-06-01T12:00:00Z")
        let price = next == nil ? Money(text: "9.99 USD") : nil
        #expect(timeline.issues.map(\.moneyAtRisk) == [price])
    }

    /// A price is added when a state begins, and its negative when the state ends.
    @Test(arguments: [Int64.min, .max])
    func `the least and the greatest price can be counted`(price: Int64) {
        let life = Diary("1").term(0, 30, price: Self.usd(price))
        #expect(!Self.report([life], until: 40).points.isEmpty)
        #expect(price.negatedSaturated == (price == .min ? .max : -price))
    }

    @Test func `an introductory price counts as what it is, for its own period`() throws {
        let up = Offer(
            kind: .introductory,
            discount: .payUpFront,
            period: Period(iso8601: "P3M")
        )
        let go = Offer(kind: .introductory, discount: .payAsYouGo, period: Period(iso8601: "P3M"))
        let lives = [
            Diary("1").term(0, 90, offer: up, price: Self.usd(15_000)),
            Diary("2").term(0, 30, offer: go, price: Self.usd(2_990)),
            // The store states no price of the offer, and the catalogue's is another one.
            Diary("3").term(0, 365, product: Diary.yearly, offer: go, price: nil),
        ]
        let point = try #require(Self.report(lives, until: 20).points.last)
        #expect(point.revenue.map(\.recurring) == [5_000 + 2_990])
        #expect(point.withoutPrice == 1)
        #expect(point[.active] == 3)
    }

    @Test func `a failed renewal after an introductory period counts its full price`() throws {
        let go = Offer(kind: .introductory, discount: .payAsYouGo, period: Period(iso8601: "P1Y"))
        let price = Money(milliunits: 24_000, currency: "EUR")
        let life = Diary("1").term(0, 365, product: Diary.yearly, offer: go, price: price)
            .outlook(of: 365, said: 365, failing: true, grace: 381)
        let report = Self.report([life], until: 390, at: [20, 370])
        #expect(report.points.map { $0.revenue.map(\.recurring) } == [[2_000], [0], [0]])
        #expect(report.points.map { $0.revenue.map(\.grace) } == [[0], [5_000], [0]])
        #expect(report.points.map { $0.revenue.map(\.hold) } == [[0], [0], [5_000]])
        #expect(report.failures.money.map(\.atRisk) == [60_000])
    }

    @Test func `the price of a failed offer paid up front is for the period of the offer`() {
        let up = Offer(
            kind: .promotional,
            discount: .payUpFront,
            period: Period(iso8601: "P3M")
        )
        let life = Diary("1").term(0, 30).outlook(
            of: 30,
            said: 30,
            failing: true,
            grace: 46,
            price: Self.usd(15_000),
            offer: up
        )
        let report = Self.report([life], until: 35)
        #expect(report.points.last?.revenue.map(\.grace) == [5_000])
        #expect(report.failures.money.map(\.atRisk) == [15_000])
    }

    // MARK: The other reports

    @Test func `the running trials are those of the trial report`() {
        let converted = Diary("3").term(0, 30, trial: true).term(30, 60)
        let waiting = Diary("4").term(0, 30, trial: true)
            .outlook(of: 30, said: 30, failing: true, grace: 46)
        let lives = [Self.trial, Self.trialCancelled, converted, waiting, Self.month]
        for (day, running) in [(20, 4), (60, 0)] as [(Int64, Int)] {
            let timelines = lives.map { $0.timeline(until: day) }
            let trials = TrialReport(of: timelines, asOf: Diary.day(day))
            let point = Self.report(lives, until: day).points.last
            #expect(point.map { $0[.trial] + $0[.trialCancelled] } == running)
            #expect(trials.rows.map(\.running).reduce(0, +) == running)
        }
    }

    @Test func `the counts are those of churn for every generated life`() async {
        let late: Instant = "2099-01-01"
        for seed in ConvergenceTests.seeds.prefix(60) {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let life = GeneratedLife(&random).life
            for instant in life.history.boundaries(policy: life.policy).sorted().prefix(40) {
                let told = life.told(until: instant)
                let range = instant..<max(late, instant + .days(1))
                let report = PortfolioReport(
                    of: [told],
                    issues: told.issues,
                    over: Instant.distantPast..<instant
                )
                let churn = ChurnReport(of: [life.told(until: range.upperBound)], over: range)
                let paid = report.points.last?.counts.filter(\.key.isSubscribed).values
                #expect(
                    paid?.reduce(0, +) == churn.rows.map(\.atStart).reduce(0, +),
                    "seed \(seed) at \(instant.rfc3339)"
                )
                #expect(
                    report.failures.money
                        == RecoveryReport(
                            of: told.issues.filter { $0.enteredAt < instant },
                            asOf: instant
                        ).rows.first?.money ?? []
                )
            }
        }
    }

    // MARK: Calendar and rates

    @Test func `days, weeks and months begin in UTC, weeks on Monday`() {
        // 2026-01-01 is a Thursday.
        let range: Range<Instant> = "2026-01-01T10:00:00Z"..<"2026-02-02T00:00:00Z"
        let weeks = CalendarUnit.week.starts(in: range, atMost: 9)?.map { $0.rfc3339.prefix(10) }
        #expect(weeks == ["2026-01-05", "2026-01-12", "2026-01-19", "2026-01-26"])
        let months = CalendarUnit.month.starts(in: range, atMost: 9)
        #expect(months == ["2026-02-01T00:00:00Z"])
        #expect(CalendarUnit.day.starts(in: range, atMost: 31)?.count == 31)
        #expect(CalendarUnit.day.starts(in: range, atMost: 30) == nil)
        let old: Range<Instant> = "1969-12-24T00:00:00Z"..<"1970-01-06T00:00:00Z"
        let before = CalendarUnit.week.starts(in: old, atMost: 9)?.map { $0.rfc3339.prefix(10) }
        #expect(before == ["1969-12-29", "1970-01-05"])
    }

    @Test func `rates convert to the thousandth, and a missing one is no guess`() throws {
        let rates = try #require(ExchangeRates(to: "EUR", rates: "USD:0.92,JPY:0.006125"))
        #expect(rates.converted(9_990, of: "USD") == 9_191)
        #expect(rates.converted(980_000, of: "JPY") == 6_003)
        #expect(rates.converted(500, of: "EUR") == 500)
        #expect(rates.converted(500, of: "GBP") == nil)
        #expect(rates.converted(.max, of: "USD") == 8_485_502_273_906_393_742)
        #expect(rates.stated.map(\.rate) == ["0.006125", "0.92"])
    }

    @Test(arguments: [
        ("eur", "USD:1"), ("EUR", "USD"), ("EUR", "USD:"), ("EUR", "USD:-1"), ("EUR", "USD:0"),
        ("EUR", "USD:1.0000001"), ("EUR", "USD:1,USD:2"), ("EUR", "EUR:1"), ("EUR", "USD:1,"),
        ("EUR", "USD:1e3"), ("EUR", "USD:.5"),
    ])
    func `a rate that is none is refused`(currency: String, rates: String) {
        #expect(ExchangeRates(to: currency, rates: rates) == nil)
    }
}
