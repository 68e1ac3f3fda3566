import Testing
import TideoverCore
import TideoverDoctor
import TideoverLives
import TideoverStorage

/// What stored facts reveal about the store's settings.
@Suite struct StoreSurveyTests {
    /// Creates a failed monthly renewal with these assertions.
    private func lineageRecord(
        _ number: Int,
        end: Instant,
        offer: Offer? = nil,
        _ words: [Assertion]
    ) -> LineageRecord {
        let lineage = Lineage(store: .appStore, environment: .production, id: "\(number)")
        let term = Assertion.term(
            Term(
                transactionId: "\(number)",
                productId: "cards.pro.monthly",
                start: end - .days(30),
                end: end,
                offer: offer
            )
        )
        let facts = ([term] + words).map { word in
            Fact(
                lineage: lineage,
                assertion: word,
                effectiveAt: end,
                assertedAt: end,
                learnedAt: end,
                source: .appStoreNotification,
                evidence: EvidenceID(hex: "\(number)")
            )
        }
        return LineageRecord(lineage: lineage, facts: facts, owners: [])
    }

    private func graced(_ days: Int64, _ end: Instant) -> [Assertion] {
        [
            .outlook(Outlook(renewalDate: end, willRenew: true, graceEnd: end + .days(days))),
            .condition(
                Condition(status: .grace, notice: .failedToRenewInGrace, renewalDate: end)
            ),
        ]
    }

    private func denied(_ end: Instant) -> [Assertion] {
        [.condition(Condition(status: .retry, notice: .failedToRenew, renewalDate: end))]
    }

    @Test func `the newest failure shows the present setting, and failures after offers do not`() {
        let may: Instant = "2026-05-01T10:00:00Z"
        let june: Instant = "2026-06-01T10:00:00Z"
        let july: Instant = "2026-07-01T10:00:00Z"
        var survey = StoreSurvey()
        let catalogue = Catalogue(products: [
            "cards.pro.monthly": Product(
                entitlements: ["premium"],
                group: "pro",
                period: Period(months: 1)
            )
        ])
        survey.add(lineageRecord(1, end: june, graced(3, june)), catalogue)
        survey.add(lineageRecord(2, end: may, denied(may)), catalogue)
        let trial = Offer(kind: .introductory, discount: .freeTrial)
        survey.add(lineageRecord(3, end: july, offer: trial, denied(july)), catalogue)
        let failures = survey.failures["cards.pro.monthly"]
        #expect(failures?.keys.sorted() == [.absent, .days(3)])
        #expect(failures?.values.map(\.newest).max() == june)
        #expect(survey.failuresAfterOffers == 1)
        #expect(survey.terms == ["cards.pro.monthly": 3])
    }
}
