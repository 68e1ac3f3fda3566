import TideoverCalendar

/// Days, weeks and months in UTC.
package enum CalendarUnit: String, Hashable, Sendable, CaseIterable {
    case day
    /// Begins on Monday.
    case week
    case month

    /// Returns the starts of this unit in a range, without the range's own ends. Nil if there are
    /// more than `most`.
    package func starts(in range: Range<Instant>, atMost most: Int) -> [Instant]? {
        var starts: [Instant] = []
        var start = next(after: range.lowerBound)
        while start < range.upperBound {
            guard starts.count < most else { return nil }
            starts.append(start)
            start = next(after: start)
        }
        return starts
    }

    private func next(after instant: Instant) -> Instant {
        let date = instant.civil.date
        switch self {
        case .day: return Instant(date) + .days(1)
        case .week:
            // 1 January 1970 was a Thursday, three days after a Monday.
            let weekday = (date.daysSince1970 + 3).flooredRemainder(by: 7)
            return Instant(date) + .days(7 - weekday)
        case .month: return Instant(date.startOfMonth) + Period(months: 1)
        }
    }
}
