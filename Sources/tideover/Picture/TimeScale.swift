import TideoverCore
import TideoverSandbox

/// Divides a period into places of equal length.
struct TimeScale: Hashable, Sendable {
    let from: Instant
    let until: Instant
    let places: Int

    /// Returns the start of a place. `places` gives the end of the last one.
    func start(of place: Int) -> Instant {
        from + Milliseconds((until - from).count * Int64(place) / Int64(places))
    }

    /// Returns the place that contains an instant.
    func place(of instant: Instant) -> Int {
        Int((instant - from).count * Int64(places) / max(1, (until - from).count))
    }

    /// The months that begin within the period, with their starts.
    var months: [(name: String, start: Instant)] {
        let first = InstantText.writeForPeople(from.millisecondsSince1970)
        guard var year = Int(first.prefix(4)), var month = Int(first.dropFirst(5).prefix(2)) else {
            return []
        }
        var months: [(name: String, start: Instant)] = []
        while let start = Self.start(year, month), start < until {
            if start >= from { months.append((Self.names[month - 1], start)) }
            (year, month) = month == 12 ? (year + 1, 1) : (year, month + 1)
        }
        return months
    }

    private static let names = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func start(_ year: Int, _ month: Int) -> Instant? {
        InstantText.read("\(year)-\(month < 10 ? "0" : "")\(month)-01T00:00:00Z")
            .map(Instant.init(millisecondsSince1970:))
    }
}
