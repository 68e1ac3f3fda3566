import TideoverCalendar

/// The renewal speed of a sandbox: the length of a month. Production allows only real time.
public enum RenewalRate: String, CaseIterable, Hashable, Codable, Sendable {
    case realTime = "real"
    case threeMinutes = "3min"
    case fiveMinutes = "5min"
    case fifteenMinutes = "15min"
    case thirtyMinutes = "30min"
    case oneHour = "1h"

    /// Minutes of a week and of a month; other lengths are multiples of the month.
    /// https://developer.apple.com/help/app-store-connect/test-in-app-purchases/manage-sandbox-apple-account-settings
    fileprivate var minutes: (week: Int64, month: Int64)? {
        switch self {
        case .realTime: nil
        case .threeMinutes: (3, 3)
        case .fiveMinutes: (3, 5)
        case .fifteenMinutes: (5, 15)
        case .thirtyMinutes: (10, 30)
        case .oneHour: (15, 60)
        }
    }
}

/// The durations of periods, grace and retries in a store's environment, in milliseconds.
struct StoreBillingSpeed: Hashable, Codable, Sendable {
    private static let minute: Int64 = 60_000
    private static let week = 7 * CivilDate.millisecondsPerDay

    /// The maximum number of renewals of a purchase.
    let mostRenewals: Int?
    /// A gap in paid service longer than this begins a new run (`recentSubscriptionStartDate`).
    let longestGap: Int64
    private let rate: RenewalRate

    init(_ environment: AppStoreEnvironment, _ rate: RenewalRate) {
        switch environment {
        case .production:
            precondition(rate == .realTime, "only a sandbox renews faster than in real time")
            mostRenewals = nil
            longestGap = 60 * CivilDate.millisecondsPerDay
        case .sandbox:
            mostRenewals = 12
            longestGap =
                rate == .realTime
                ? 60 * CivilDate.millisecondsPerDay : 10 * StoreBillingSpeed.minute
        }
        self.rate = rate
    }

    /// Returns a period in the environment's length. A length without months is a part of a week,
    /// which Apple's table does not list.
    func period(_ period: StorePeriod) -> StorePeriod {
        guard let minutes = rate.minutes else { return period }
        let months = Int64(period.months) * minutes.month * StoreBillingSpeed.minute
        let rest =
            period.milliseconds * minutes.week * StoreBillingSpeed.minute / StoreBillingSpeed.week
        return StorePeriod(text: period.text, milliseconds: months + rest)
    }

    /// Apple retries a failed payment for 60 days in all, grace included. A fast sandbox retries
    /// for two of its months.
    var retryLength: Int64 {
        guard let minutes = rate.minutes else { return 60 * CivilDate.millisecondsPerDay }
        return 2 * minutes.month * StoreBillingSpeed.minute
    }

    /// Returns the length of billing grace; nil without grace. A weekly subscription gets 6 days at
    /// most. A fast sandbox ignores the app's setting: grace lasts half a month, or 6 days of a
    /// week. https://developer.apple.com/documentation/storekittest/sktestsession/timerate
    func grace(of product: AppStoreProduct) -> Int64? {
        guard let days = product.grace.days else { return nil }
        let isWeekly =
            product.period.months == 0 && product.period.milliseconds <= StoreBillingSpeed.week
        guard let minutes = rate.minutes else {
            return Int64(isWeekly ? min(days, 6) : days) * CivilDate.millisecondsPerDay
        }
        return isWeekly
            ? minutes.week * StoreBillingSpeed.minute * 6 / 7
            : minutes.month * StoreBillingSpeed.minute / 2
    }
}
