import TideoverAppStore
package import TideoverConfiguration
package import TideoverCore
package import TideoverJSON

// Findings that compare the store's settings and purchases with the catalogue.

extension Finding {
    /// Checks that the catalogue lists every product bought, from a response to `GET
    /// /v1/apps/{app}/survey`; nil if it is not one.
    package static func catalogue(
        of app: Configuration.App,
        in environment: Environment,
        _ answer: JSONNode
    ) -> Finding? {
        guard let survey = StoreSurvey(answer) else { return nil }
        let isPlay = answer["store"]?.string == Store.googlePlay.rawValue
        let subject = "\(app.id) \(environment.rawValue)" + (isPlay ? " googlePlay" : "")
        let unknown = survey.terms.filter { app.catalogue[$0.key] == nil }.sorted {
            $0.key < $1.key
        }
        guard let first = unknown.first else {
            let count = survey.terms.count
            return Finding(
                .catalogue,
                of: subject,
                .ok,
                count == 0
                    ? "nothing was bought yet"
                    : "it has every product that was bought: \(count)"
            )
        }
        let more = unknown.count > 1 ? ", and \(unknown.count - 1) more" : ""
        return Finding(
            .catalogue,
            of: subject,
            .problem,
            "\(Finding.counted(first.value, "period")) of \(first.key) "
                + "\(first.value == 1 ? "was" : "were") bought, but it lacks that product\(more)",
            advice: "Add it to apps[].products. Until then policy.unknownProduct decides, with "
                + "the reason `unknownProduct`."
        )
    }

    /// Reports why the purchases could not be read.
    package static func catalogue(of subject: String, unknown reason: String) -> Finding {
        Finding(.catalogue, of: subject, .warning, "the purchases are unknown: \(reason)")
    }

    /// Checks that the store's billing grace period matches the catalogue. It uses App Store
    /// Connect, or the failures in a response to `GET /v1/apps/{app}/survey`.
    package static func grace(
        of app: Configuration.App,
        in environment: Environment,
        _ setting: GraceSetting,
        _ answer: JSONNode
    ) -> [Finding] {
        let comparison = GraceComparison(
            subject: "\(app.id) \(environment.rawValue)",
            environment: environment,
            products: app.catalogue.products.filter {
                $0.value.kind == .autoRenewable && app.catalogue.sells($0.key, in: .appStore)
            }.sorted { $0.key < $1.key }
        )
        switch setting {
        case .stated(let setting): return comparison.findings(setting)
        case .untold(let reason):
            guard let survey = StoreSurvey(answer) else { return [] }
            return [comparison.untold(reason)] + comparison.findings(survey)
        }
    }
}

/// Compares the grace period of each product in the catalogue with the store's.
private struct GraceComparison {
    let subject: String
    let environment: Environment
    let products: [(key: String, value: Product)]

    /// A sandbox has its own setting, and no money depends on it.
    private var mismatch: Finding.Verdict { environment == .sandbox ? .warning : .problem }

    private func finding(
        _ verdict: Finding.Verdict,
        _ detail: String,
        advice: String? = nil
    ) -> Finding {
        Finding(.billingGrace, of: subject, verdict, detail, advice: advice)
    }

    func untold(_ reason: String) -> Finding {
        finding(
            .ok,
            "App Store Connect does not report the setting: \(reason); the stored failures are "
                + "used instead"
        )
    }

    // MARK: From the setting

    func findings(_ setting: BillingGraceSetting) -> [Finding] {
        let isOn = environment == .sandbox ? setting.sandboxOptIn : setting.optIn
        guard let isOn else {
            return [
                finding(.warning, "App Store Connect does not report whether grace is on")
            ]
        }
        guard !isOn else { return findings(lengths: setting) }
        let expecting = products.filter { $0.value.grace != nil }.map(\.key)
        guard !expecting.isEmpty else {
            return [finding(.ok, "App Store Connect grants no grace, and the catalogue has none")]
        }
        return [
            finding(
                mismatch,
                "App Store Connect grants no grace, and the catalogue has one for "
                    + expecting.joined(separator: ", "),
                advice:
                    "Turn the billing grace period on in App Store Connect, or remove `grace` "
                    + "from the catalogue."
            )
        ]
    }

    private func findings(lengths setting: BillingGraceSetting) -> [Finding] {
        guard let days = setting.days else {
            return [
                finding(.warning, "App Store Connect grants a length unknown to this version")
            ]
        }
        let wrong = products.compactMap { id, product -> Finding? in
            let days = product.isWeekly ? min(days, 6) : days
            guard product.graceDays != days else { return nil }
            return finding(
                mismatch,
                "App Store Connect grants \(id) \(Finding.counted(days, "day")), and the catalogue "
                    + "has \(product.graceWords)",
                advice: "Write grace: \"P\(days)D\" there, or change the setting."
            )
        }
        guard wrong.isEmpty else { return wrong }
        let limit = setting.isForPaidOnly ? ", and none after a free trial" : ""
        return [
            finding(
                .ok,
                "App Store Connect grants \(Finding.counted(days, "day"))\(limit), like the "
                    + "catalogue"
            )
        ]
    }

    // MARK: From failed payments

    func findings(_ survey: StoreSurvey) -> [Finding] {
        guard !survey.failures.isEmpty else {
            let offers =
                survey.failuresAfterOffers == 0
                ? "" : "; \(survey.failuresAfterOffers) failed after an offer, which proves little"
            return [
                finding(
                    .ok,
                    "no payment for a full period has failed, so the setting is unknown\(offers)"
                )
            ]
        }
        return products.compactMap { id, product in
            survey.failures[id].flatMap { judge(id, product, $0) }
        }
    }

    /// Judges by the newest failure, because the setting may have changed.
    private func judge(
        _ id: String,
        _ product: Product,
        _ failures: [StoreSurvey.Grace: StoreSurvey.Failures]
    ) -> Finding? {
        let newest = failures.max { ($0.value.newest, $0.key) < ($1.value.newest, $1.key) }
        guard let newest else { return nil }
        let all = failures.values.reduce(0) { $0 + $1.count }
        let when = "the newest failure of \(id), at \(newest.value.newest.rfc3339),"
        let alike = "like \(newest.value.count) of \(all)"
        switch newest.key {
        case .absent where product.grace == nil:
            return finding(.ok, "\(when) came without grace, \(alike), and the catalogue has none")
        case .absent:
            return finding(
                mismatch,
                "\(when) came without grace, \(alike), and the catalogue has \(product.graceWords)",
                advice:
                    "Turn the billing grace period on in App Store Connect, or remove `grace` "
                    + "from the catalogue."
            )
        case .granted where product.grace == nil, .days where product.grace == nil:
            return finding(
                mismatch,
                "\(when) came with grace, \(alike), and the catalogue has none",
                advice: "Add `grace` to the product."
            )
        case .granted: return finding(.ok, "\(when) came with grace, \(alike)")
        case .days(let days) where days == product.graceDays:
            let days = Finding.counted(days, "day")
            return finding(.ok, "\(when) came with \(days), \(alike), like the catalogue")
        case .days(let days):
            return finding(
                mismatch,
                "\(when) came with \(Finding.counted(days, "day")), \(alike), and the catalogue "
                    + "has \(product.graceWords)",
                advice:
                    "Write grace: \"P\(days)D\" there, or change the setting in App Store Connect."
            )
        }
    }
}

extension Product {
    /// The length of the grace period in days.
    fileprivate var graceDays: Int64? {
        grace.map {
            $0.length(from: Instant(millisecondsSince1970: 0)).count / Milliseconds.days(1).count
        }
    }

    fileprivate var graceWords: String { graceDays.map { Finding.counted($0, "day") } ?? "none" }

    /// The App Store grants weekly subscriptions at most six days.
    fileprivate var isWeekly: Bool {
        guard let period else { return false }
        return period.length(from: Instant(millisecondsSince1970: 0)) <= .days(7)
    }
}
