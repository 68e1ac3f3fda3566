import TideoverCalendar

/// Formats instants as HTTP dates, in whole seconds: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110,
/// 5.6.7).
package enum HTTPDateText {
    /// Formats an instant, in milliseconds since 1970, in a year of four digits.
    package static func write(_ instant: Int64) -> String {
        let days = instant.flooredQuotient(by: CivilDate.millisecondsPerDay)
        let date = CivilDate(daysSince1970: days)
        let seconds = instant.flooredQuotient(by: 1000) - days * 86_400
        let clock = [seconds / 3600, seconds / 60 % 60, seconds % 60].map(padded)
        // The first of January 1970 was a Thursday.
        let weekday = weekdays[Int((days + 4).flooredRemainder(by: 7))]
        let month = months[Int(date.month - 1)]
        return "\(weekday), \(padded(date.day)) \(month) \(date.year) "
            + clock.joined(separator: ":") + " GMT"
    }

    private static func padded(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
