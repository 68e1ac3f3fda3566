package import TideoverConfiguration
import TideoverCore
import TideoverGooglePlay

// Findings that compare the base plans of Google Play with the catalogue.

extension Finding {
    /// Checks that Google Play's base plans match the catalogue, and that their settings do not
    /// lock customers out without notice.
    package static func basePlans(
        of app: Configuration.App,
        _ settings: PlaySettings
    ) -> [Finding] {
        let comparison = BasePlanComparison(subject: "\(app.id) googlePlay", app.catalogue)
        switch settings {
        case .stated(let subscriptions): return comparison.findings(subscriptions)
        case .untold(let failure): return [comparison.untold(failure)]
        }
    }
}

/// Compares the catalogue's Google Play products with the settings there.
private struct BasePlanComparison {
    private let subject: String
    private let catalogue: Catalogue

    init(subject: String, _ catalogue: Catalogue) {
        (self.subject, self.catalogue) = (subject, catalogue)
    }

    private func finding(
        _ verdict: Finding.Verdict,
        _ detail: String,
        advice: String? = nil
    ) -> Finding {
        finding(.basePlans, verdict, detail, advice: advice)
    }

    private func finding(
        _ check: Finding.Check,
        _ verdict: Finding.Verdict,
        _ detail: String,
        advice: String? = nil
    ) -> Finding {
        Finding(check, of: subject, verdict, detail, advice: advice)
    }

    func untold(_ failure: PlayAPIFailure) -> Finding {
        var isForbidden = false
        if case .forbidden = failure.reason { isForbidden = true }
        return finding(
            .warning,
            "Google Play does not report their settings: \(failure.sentence.dropLast())",
            advice: isForbidden
                ? "In the Play Console, Users and permissions, let the service account view app "
                    + "information." : nil
        )
    }

    /// A base plan that is or was on sale, and its catalogue entry.
    private struct Plan {
        let productId: String
        let plan: SubscriptionOnSale.BasePlan
        let listed: (id: String, product: Product)?

        /// The name that the catalogue would use.
        var name: String { "\(productId):\(plan.basePlanId)" }
        var isOnSale: Bool { plan.state?.known == .active }

        /// Whether the entry covers several plans, or also a product of the App Store.
        var sharesItsEntry: Bool { listed.map { $0.id == productId } ?? false }
    }

    func findings(_ subscriptions: [SubscriptionOnSale]) -> [Finding] {
        let plans = subscriptions.flatMap { subscription in
            subscription.basePlans.filter { $0.state?.known != .draft }.map { plan in
                let own = PlayProduct(id: subscription.productId, basePlan: plan.basePlanId)
                let id = catalogue.id(of: own)
                return Plan(
                    productId: subscription.productId,
                    plan: plan,
                    listed: id.flatMap { id in catalogue[id].map { (id, $0) } }
                )
            }
        }
        let found =
            plans.flatMap { plan in plan.listed == nil ? [unknown(plan)] : settings(plan) }
            + unsold(plans)
        guard found.isEmpty else { return found }
        return [
            finding(
                .ok,
                plans.isEmpty
                    ? "Google Play sells no subscription"
                    : "the catalogue matches \(Finding.counted(plans.count, "base plan")) of "
                        + "Google Play"
            )
        ]
    }

    // MARK: Presence

    private func unknown(_ plan: Plan) -> Finding {
        finding(
            plan.isOnSale ? .problem : .warning,
            plan.isOnSale
                ? "\(plan.name) is on sale, and the catalogue does not have it"
                : "\(plan.name) is no longer on sale but may renew for existing customers, and "
                    + "the catalogue does not have it",
            advice: "Add \"\(plan.name)\" to apps[].products; until then it unlocks nothing."
        )
    }

    /// Reports catalogue entries that name a base plan which is not on sale.
    private func unsold(_ plans: [Plan]) -> [Finding] {
        let onSale = Set(plans.filter(\.isOnSale).map(\.name))
        let named = catalogue.products.keys.filter { $0.contains(":") }.sorted()
        return named.filter { !onSale.contains($0) }.map { name in
            finding(
                .warning,
                "the catalogue has \(name), which is not on sale in Google Play",
                advice: "Check its spelling in the Play Console, and that it is active there. Keep "
                    + "it in the catalogue if customers bought it earlier."
            )
        }
    }

    // MARK: Settings

    private func settings(_ plan: Plan) -> [Finding] {
        guard let product = plan.listed?.product else { return [] }
        let length = [period(plan, product)].compactMap(\.self)
        switch plan.plan.kind {
        case .autoRenewing, .installments:
            return length
                + [grace(plan, product), hold(plan), resubscribing(plan)].compactMap(\.self)
        case .prepaid:
            return length + [prepaid(plan, product), extending(plan)].compactMap(\.self)
        case nil:
            return length + [
                finding(.warning, "this version does not know the kind of \(plan.name)")
            ]
        }
    }

    private func period(_ plan: Plan, _ product: Product) -> Finding? {
        guard let stated = plan.plan.billingPeriod, let own = product.period else { return nil }
        // P7D and P1W are equal, so lengths are compared.
        let start = Instant(millisecondsSince1970: 0)
        guard stated.length(from: start) != own.length(from: start) else { return nil }
        return finding(
            .problem,
            "\(plan.name) lasts \(stated.iso8601) in Google Play, and \(own.iso8601) in the catalogue",
            advice: "Write period: \"\(stated.iso8601)\" \(entry(of: plan))."
        )
    }

    private func grace(_ plan: Plan, _ product: Product) -> Finding? {
        let own = product.grace.map {
            $0.length(from: Instant(millisecondsSince1970: 0)).count / Milliseconds.days(1).count
        }
        switch (plan.plan.graceDays, own) {
        case (nil, nil): return nil
        case (nil, let own?):
            return finding(
                .billingGrace,
                .warning,
                "Google Play states no grace for \(plan.name), so its default applies; the "
                    + "catalogue has \(Finding.counted(own, "day"))",
                advice: "Set the grace period of the base plan in the Play Console."
            )
        case (0, nil):
            return finding(
                .billingGrace,
                .warning,
                "Google Play grants \(plan.name) no grace: after a failed payment access lasts a "
                    + "day or two without any message, and then stops",
                advice: "Unless this is intended, set a grace period for the base plan in the Play "
                    + "Console, and `grace` \(entry(of: plan))."
            )
        case (0, let own?):
            return finding(
                .billingGrace,
                .problem,
                "Google Play grants \(plan.name) no grace, and the catalogue has "
                    + Finding.counted(own, "day"),
                advice:
                    "Set the grace period of the base plan in the Play Console, or remove "
                    + "`grace` from the catalogue."
            )
        case (let stated?, let own):
            guard stated != own else { return nil }
            return finding(
                .billingGrace,
                .problem,
                "Google Play grants \(plan.name) \(Finding.counted(stated, "day")) of grace; "
                    + "the catalogue has "
                    + (own.map { "\($0)" } ?? "none"),
                advice: "Write grace: \"P\(stated)D\" \(entry(of: plan)), or change the setting."
            )
        }
    }

    private func hold(_ plan: Plan) -> Finding? {
        guard plan.plan.holdDays == 0 else { return nil }
        return finding(
            .accountHold,
            .warning,
            "Google Play has no account hold for \(plan.name): an unpaid subscription ends with "
                + "its grace, and no later payment recovers it",
            advice:
                "Unless this is intended, set an account hold for the base plan in the Play "
                + "Console."
        )
    }

    private func resubscribing(_ plan: Plan) -> Finding? {
        guard plan.isOnSale, plan.plan.resubscribing?.known == .inactive else { return nil }
        return finding(
            .warning,
            "a customer whose \(plan.name) ended cannot resubscribe in Google Play",
            advice:
                "Unless this is intended, allow resubscribing for the base plan in the Play "
                + "Console."
        )
    }

    private func prepaid(_ plan: Plan, _ product: Product) -> Finding? {
        guard product.grace != nil else { return nil }
        return finding(
            .billingGrace,
            .problem,
            "\(plan.name) is prepaid and has no grace, and the catalogue has one",
            advice: "Remove `grace` \(entry(of: plan))."
        )
    }

    private func extending(_ plan: Plan) -> Finding? {
        guard plan.isOnSale, plan.plan.extending?.known == .inactive else { return nil }
        return finding(
            .warning,
            "\(plan.name) cannot be topped up in Google Play",
            advice:
                "Unless the app sells it, allow extending for the base plan in the Play Console."
        )
    }

    /// Returns where to write a setting that applies to one base plan.
    private func entry(of plan: Plan) -> String {
        plan.sharesItsEntry
            ? "in the catalogue, under \"\(plan.name)\" if it applies to this plan only"
            : "in the catalogue"
    }
}
