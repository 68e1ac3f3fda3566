import TideoverCalendar

/// The durations of Google Play's periods, grace, hold and others, in milliseconds. A licence
/// tester's purchases last minutes instead. https://developer.android.com/google/play/billing/test
struct GooglePlayBillingSpeed: Hashable, Codable, Sendable {
    static let day = CivilDate.millisecondsPerDay
    private static let minute: Int64 = 60_000

    let isTest: Bool

    /// The maximum number of renewals of a purchase.
    var mostRenewals: Int? { isTest ? 6 : nil }

    /// Returns a period of service. A length outside of Google's table counts as the next longer
    /// one.
    func period(_ period: StorePeriod) -> StorePeriod {
        guard isTest else { return period }
        return minutes(by: [(1, 5), (3, 10), (6, 15)], beyond: 30, period)
    }

    func trial(_ period: StorePeriod) -> StorePeriod {
        guard isTest else { return period }
        return StorePeriod(text: period.text, milliseconds: 3 * GooglePlayBillingSpeed.minute)
    }

    func pause(_ period: StorePeriod) -> StorePeriod {
        guard isTest else { return period }
        return minutes(by: [(1, 5), (2, 10)], beyond: 15, period)
    }

    /// Returns the length of the reported grace after a failed payment.
    func grace(of plan: GooglePlayBasePlan) -> Int64 {
        guard isTest else { return plan.graceDays * GooglePlayBillingSpeed.day }
        return plan.graceDays == 0 ? 0 : 5 * GooglePlayBillingSpeed.minute
    }

    /// During grace the store moves the expiry by this much at a time.
    var graceStep: Int64 { isTest ? 5 * GooglePlayBillingSpeed.minute : GooglePlayBillingSpeed.day }

    /// Without grace, the store retries the payment for a day without a notification. Google does
    /// not document this length for a test.
    var silentGrace: Int64 { isTest ? GooglePlayBillingSpeed.minute : GooglePlayBillingSpeed.day }

    func hold(of plan: GooglePlayBasePlan) -> Int64 {
        guard isTest else { return plan.holdDays * GooglePlayBillingSpeed.day }
        return plan.holdDays == 0 ? 0 : 10 * GooglePlayBillingSpeed.minute
    }

    /// Returns the time a developer has to acknowledge: three days, or half of a prepaid plan that
    /// is shorter than a week.
    func acknowledgement(ofPrepaid length: Int64?) -> Int64 {
        if isTest { return 5 * GooglePlayBillingSpeed.minute }
        guard let length, length < 7 * GooglePlayBillingSpeed.day else {
            return 3 * GooglePlayBillingSpeed.day
        }
        return length / 2
    }

    /// How long after its expiry a token can be read.
    static let readableAfterExpiry = 60 * day
    /// How long the replacement of an item is reported.
    static let replacementIsTold = 60 * day

    private func minutes(
        by table: [(months: Int, minutes: Int64)],
        beyond: Int64,
        _ period: StorePeriod
    ) -> StorePeriod {
        let months = period.months + Int(period.milliseconds / (31 * GooglePlayBillingSpeed.day))
        let isEven = period.milliseconds % (31 * GooglePlayBillingSpeed.day) == 0
        let count = isEven ? months : months + 1
        let minutes = table.first { count <= $0.months }?.minutes ?? beyond
        return StorePeriod(text: period.text, milliseconds: minutes * GooglePlayBillingSpeed.minute)
    }
}
