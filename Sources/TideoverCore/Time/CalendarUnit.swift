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
        var date = CivilDate(instant)
        date.time = 0
        switch self {
        case .day: return date.instant + .days(1)
        case .week:
            // 1 January 1970 was a Thursday, three days after a Monday.
            let days = date.instant.millisecondsSince1970 / CivilDate.dayLength + 3
            let weekday = ((days % 7) + 7) % 7
            return date.instant + .days(7 - weekday)
        case .month:
            date.day = 1
            return date.instant + Period(months: 1)
        }
    }
}
