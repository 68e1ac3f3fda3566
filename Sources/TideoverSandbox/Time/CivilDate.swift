/// A day of the proleptic Gregorian calendar in UTC.
package struct CivilDate: Hashable, Sendable {
    /// The year; 0 is the year before 1.
    package let year: Int
    /// 1 to 12.
    package let month: Int
    /// 1 to 31.
    package let day: Int

    /// The length of every day in UTC.
    package static let millisecondsPerDay: Int64 = 86_400_000

    /// Returns nil unless the day exists.
    package init?(year: Int, month: Int, day: Int) {
        guard (1...12).contains(month), day >= 1,
            day <= CivilDate.length(ofMonth: month, year: year)
        else { return nil }
        self.init(checkedYear: year, month: month, day: day)
    }

    /// Creates the day this many days after 1 January 1970.
    package init(daysSince1970 days: Int) {
        // Years are counted from March, so that the leap day is the last of its year, in eras of
        // 400 years.
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        self.init(
            checkedYear: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
            month: month,
            day: dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        )
    }

    private init(checkedYear: Int, month: Int, day: Int) {
        year = checkedYear
        self.month = month
        self.day = day
    }

    /// The number of days from 1 January 1970 to this day.
    package var daysSince1970: Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = floorDivide(shiftedYear, 400)
        let yearOfEra = shiftedYear - era * 400
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// Returns the same day some months later, or the last day of a shorter month.
    package func adding(months: Int) -> CivilDate {
        let count = year * 12 + (month - 1) + months
        let year = floorDivide(count, 12)
        let month = count - year * 12 + 1
        let length = CivilDate.length(ofMonth: month, year: year)
        return CivilDate(checkedYear: year, month: month, day: min(day, length))
    }

    private static func length(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func isLeap(_ year: Int) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }
}

/// Divides and rounds towards minus infinity, as calendars need it before 1970.
func floorDivide<Number: BinaryInteger>(_ value: Number, _ divisor: Number) -> Number {
    let quotient = value / divisor
    return value % divisor < 0 ? quotient - 1 : quotient
}
