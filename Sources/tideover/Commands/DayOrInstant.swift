import TideoverCommandLine
import TideoverCore

/// The end of a day (UTC) that a date without a time means.
enum EdgeOfDay {
    case start, end
}

extension ValueForm<Instant> {
    /// A time, or a date that means one end of its day.
    static func instant(ofDay edge: EdgeOfDay) -> ValueForm<Instant> {
        ValueForm("a date such as 2026-05-06 or a time such as 2026-05-06T10:00:00Z") { text in
            if let instant = Instant(rfc3339: text) { return instant }
            guard text.utf8.count == 10, let start = Instant(rfc3339: "\(text)T00:00:00Z") else {
                return nil
            }
            return edge == .start ? start : start + .days(1)
        }
    }
}
