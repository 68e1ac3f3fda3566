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
        #expect(EntitlementGateModel(Entitlement(name: "premium"), prompt: nil) == .waiting)
    }

    @Test func `the gate asks a recoverable customer to fix the payment, not to buy`() {
        let held = Entitlement(name: "premium", access: .denied, state: .hold)
        guard case .recovery(let banner) = EntitlementGateModel(held, prompt: prompt(.hard)) else {
            Issue.record("a hold is recoverable")
            return
        }
        #expect(banner.isHard)
        #expect(banner.accessibilityLabel == "Payment. Update it.")
        #expect(EntitlementGateModel(held, prompt: nil) == .paywall)
        let other = Entitlement(name: "other", access: .denied, state: .expired)
        #expect(EntitlementGateModel(other, prompt: prompt(.hard)) == .paywall)
    }

    @Test func `the gate shows content in grace`() {
        let grace = Entitlement(name: "premium", access: .granted, state: .grace)
        #expect(EntitlementGateModel(grace, prompt: prompt(.soft)) == .content)
    }

    @Test func `an app can delay soft prompts, never hard ones`() {
        #expect(RecoveryBannerModel(prompt(.soft), delaysSoftPrompts: true) == nil)
        #expect(RecoveryBannerModel(prompt(.soft)) != nil)
        #expect(RecoveryBannerModel(prompt(.hard), delaysSoftPrompts: true) != nil)
        #expect(RecoveryBannerModel(nil) == nil)
    }

    @Test(arguments: [
        (Milliseconds.zero, Int64(3), false, "3 days left"),
        (.hours(30), 2, false, "2 days left"),
        (.hours(48), 1, true, "Last day"),
    ])
    func `a trial shows its remaining days`(
        after delay: Milliseconds,
        days: Int64,
        isUrgent: Bool,
        text: String
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
        #expect(model?.text == text)
        #expect(TrialCountdownModel(entitlement, at: start + .days(3)) == nil)
    }
}
