/// The lengths of time that Google Play gives periods, grace, hold and the rest, in milliseconds. A
/// licence tester's purchases have minutes instead.
/// https://developer.android.com/google/play/billing/test
struct GooglePlayTempo: Hashable, Codable, Sendable {
    static let day = CivilDate.millisecondsPerDay
    private static let minute: Int64 = 60_000

    let isTest: Bool

    /// How often a purchase renews at most.
    var mostRenewals: Int? { isTest ? 6 : nil }

    /// A period of service. Lengths that Google's table does not name count as the next longer one.
    func period(_ period: StorePeriod) -> StorePeriod {
        guard isTest else { return period }
        return minutes(by: [(1, 5), (3, 10), (6, 15)], beyond: 30, period)
    }

    func trial(_ period: StorePeriod) -> StorePeriod {
        guard isTest else { return period }
        return StorePeriod(text: period.text, milliseconds: 3 * GooglePlayTempo.minute)
    }

    func pause(_ period: StorePeriod) -> StorePeriod {
        guard isTest else { return period }
        return minutes(by: [(1, 5), (2, 10)], beyond: 15, period)
    }

    /// How long service goes on, said aloud, after a failed payment.
    func grace(of plan: GooglePlayBasePlan) -> Int64 {
        guard isTest else { return plan.graceDays * GooglePlayTempo.day }
        return plan.graceDays == 0 ? 0 : 5 * GooglePlayTempo.minute
    }

    /// In grace the store moves the expiry by as much at a time.
    var graceStep: Int64 { isTest ? 5 * GooglePlayTempo.minute : GooglePlayTempo.day }

    /// Without grace the store tries the payment again for a day and tells nobody. How long that takes
    /// for a test Google does not say.
    var silentGrace: Int64 { isTest ? GooglePlayTempo.minute : GooglePlayTempo.day }

    func hold(of plan: GooglePlayBasePlan) -> Int64 {
        guard isTest else { return plan.holdDays * GooglePlayTempo.day }
        return plan.holdDays == 0 ? 0 : 10 * GooglePlayTempo.minute
    }

    /// How long a developer may take to acknowledge: three days, or half of a prepaid plan that is
    /// shorter than a week.
    func acknowledgement(ofPrepaid length: Int64?) -> Int64 {
        if isTest { return 5 * GooglePlayTempo.minute }
        guard let length, length < 7 * GooglePlayTempo.day else { return 3 * GooglePlayTempo.day }
        return length / 2
    }

    /// A token can be read for as long after its expiry.
    static let readableAfterExpiry = 60 * day
    /// What an item replaced is told for as long.
    static let replacementIsTold = 60 * day

    private func minutes(
        by table: [(months: Int, minutes: Int64)],
        beyond: Int64,
        _ period: StorePeriod
    ) -> StorePeriod {
        let months = period.months + Int(period.milliseconds / (31 * GooglePlayTempo.day))
        let isEven = period.milliseconds % (31 * GooglePlayTempo.day) == 0
        let count = isEven ? months : months + 1
        let minutes = table.first { count <= $0.months }?.minutes ?? beyond
        return StorePeriod(text: period.text, milliseconds: minutes * GooglePlayTempo.minute)
    }
}
