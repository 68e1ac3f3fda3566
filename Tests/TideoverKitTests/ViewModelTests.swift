import Testing
import TideoverCore
import TideoverKit

@Suite struct ViewModelTests {
    private let start = TestPurchases.start

    private func prompt(_ kind: Prompt.Kind) -> RecoveryPrompt {
        RecoveryPrompt(
            kind: kind,
            entitlement: "premium",
            words: ScreenWords(key: "hold", title: "Payment", message: "Update it.", label: "Fix"),
            url: "https://apps.apple.com/account/billing"
        )
    }

    @Test func `the gate shows neither content nor a paywall before the first answer`() {
        #expect(EntitlementGateModel(Entitlement(name: "premium")) == .waiting)
    }

    @Test func `the gate asks a recoverable customer to fix the payment, not to buy`() {
        var held = Entitlement(name: "premium", access: .denied, state: .hold)
        #expect(EntitlementGateModel(held) == .paywall)
        held.prompt = prompt(.soft)
        #expect(EntitlementGateModel(held) == .paywall)
        held.prompt = prompt(.hard)
        guard case .recovery(let banner) = EntitlementGateModel(held) else {
            Issue.record("a hold is recoverable")
            return
        }
        #expect(banner.isHard)
        #expect(banner.accessibilityLabel == "Payment. Update it.")
    }

    @Test func `the gate shows content in grace`() {
        var grace = Entitlement(name: "premium", access: .granted, state: .grace)
        grace.prompt = prompt(.soft)
        #expect(EntitlementGateModel(grace) == .content)
    }

    @Test func `an app can delay soft prompts, never hard ones`() {
        #expect(RecoveryBannerModel(prompt(.soft), delaysSoftPrompts: true) == nil)
        #expect(RecoveryBannerModel(prompt(.soft)) != nil)
        #expect(RecoveryBannerModel(prompt(.hard), delaysSoftPrompts: true) != nil)
        #expect(RecoveryBannerModel(nil) == nil)
    }

    @Test(arguments: [
        (Milliseconds.zero, Int64(3), false, "Your free trial is running"),
        (.hours(30), 2, false, "Your free trial is running"),
        (.hours(48), 1, true, "Your free trial ends soon"),
    ])
    func `a trial shows its remaining days`(
        after delay: Milliseconds,
        days: Int64,
        isUrgent: Bool,
        title: String
    ) {
        var entitlement = Entitlement(name: "premium", access: .granted, state: .active)
        entitlement.trial = RunningTrial(
            startedAt: start,
            endsAt: start + .days(3),
            cancelBy: start + .days(2)
        )
        let model = TrialCountdownModel(entitlement, at: start + delay)
        #expect(model?.daysLeft == days)
        #expect(model?.isUrgent == isUrgent)
        #expect(model?.title == title)
        #expect(TrialCountdownModel(entitlement, at: start + .days(3)) == nil)
    }

    @Test func `a trial's stated words follow the time`() throws {
        var entitlement = Entitlement(name: "premium", access: .granted, state: .active)
        entitlement.trial = RunningTrial(
            startedAt: start,
            endsAt: start + .days(3),
            cancelBy: start + .days(2)
        )
        entitlement.words = ScreenWords(
            key: "trial.running",
            title: "Stated",
            message: "Cancel by 3 May.",
            arguments: [
                "daysLeft": .number(3),
                "price": .price(Price(amount: Money(milliunits: 9990, currency: "EUR"))),
            ]
        )
        var translated: [ScreenWords] = []
        let second = try #require(
            TrialCountdownModel(entitlement, at: start + .hours(30)) { words in
                translated.append(words)
                return words
            }
        )
        #expect(second.title == "Stated")
        #expect(translated.map { $0.arguments["daysLeft"] } == [.number(2)])
        let last = try #require(TrialCountdownModel(entitlement, at: start + .hours(48)))
        #expect(last.isUrgent)
        #expect(last.title == "Your free trial ends soon")
        #expect(last.message.contains("9.99"))
        entitlement.words?.key = "trial.cancelled"
        #expect(TrialCountdownModel(entitlement, at: start + .hours(48))?.title == "Stated")
    }

    @Test func `views show the app's own words`() {
        let words: ScreenTranslation = {
            ScreenWords(key: $0.key, title: "Zahlung", message: "Bitte ändern.", label: "Ändern")
        }
        let banner = RecoveryBannerModel(prompt(.soft), translation: words)
        #expect(banner?.title == "Zahlung")
        #expect(banner?.label == "Ändern")
        #expect(banner?.accessibilityLabel == "Zahlung. Bitte ändern.")
        var entitlement = Entitlement(name: "premium", access: .granted, state: .active)
        entitlement.trial = RunningTrial(
            startedAt: start,
            endsAt: start + .days(3),
            cancelBy: start + .days(2)
        )
        let countdown = TrialCountdownModel(entitlement, at: start, translation: words)
        #expect(countdown?.accessibilityLabel == "Zahlung. Bitte ändern.")
        var held = Entitlement(name: "premium", access: .denied, state: .hold)
        held.prompt = prompt(.hard)
        guard case .recovery(let notice) = EntitlementGateModel(held, translation: words) else {
            Issue.record("a hold is recoverable")
            return
        }
        #expect(notice.message == "Bitte ändern.")
    }
}
