/// A day of the proleptic Gregorian calendar in UTC.
///
/// Day numbers after Howard Hinnant's published algorithms (`days_from_civil`).
// Only a type that is usable from inline has members that other modules can inline.
@usableFromInline
package struct CivilDate: Hashable, Sendable {
    /// The year; 0 is the year before 1.
    @usableFromInline package let year: Int64
    /// 1 to 12.
    @usableFromInline package let month: Int64
    /// 1 to 31.
    @usableFromInline package let day: Int64

    /// The length of every day in UTC.
    @inlinable
    package static var millisecondsPerDay: Int64 { 86_400_000 }

    /// Returns nil unless the day exists.
    @inlinable
    package init?(year: Int64, month: Int64, day: Int64) {
        guard (1...12).contains(month), day >= 1,
            day <= Self.length(ofMonth: month, year: year)
        else { return nil }
        self.init(checkedYear: year, month: month, day: day)
    }

    /// Creates the day this many days after 1 January 1970.
    @inlinable
    package init(daysSince1970 days: Int64) {
        // Years are counted from March, so that the leap day is the last of its year, in eras of
        // 400 years.
        let shifted = days + 719_468
        let era = shifted.flooredQuotient(by: 146_097)
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

    @inlinable
    init(checkedYear: Int64, month: Int64, day: Int64) {
        year = checkedYear
        self.month = month
        self.day = day
    }

    /// The number of days from 1 January 1970 to this day.
    @inlinable
    package var daysSince1970: Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = shiftedYear.flooredQuotient(by: 400)
        let yearOfEra = shiftedYear - era * 400
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The first day of the month.
    @inlinable
    package var startOfMonth: CivilDate {
        CivilDate(checkedYear: year, month: month, day: 1)
    }

    /// Returns the same day some months later, or the last day of a shorter month.
    @inlinable
    package func adding(months: Int64) -> CivilDate {
        let count = year * 12 + (month - 1) + months
        let year = count.flooredQuotient(by: 12)
        let month = count - year * 12 + 1
        let length = Self.length(ofMonth: month, year: year)
        return CivilDate(checkedYear: year, month: month, day: min(day, length))
    }

    @inlinable
    package static func length(ofMonth month: Int64, year: Int64) -> Int64 {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    @inlinable
    package static func isLeap(_ year: Int64) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }
}
