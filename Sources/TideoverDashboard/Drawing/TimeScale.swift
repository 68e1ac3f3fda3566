package import TideoverCore

/// Divides a period into places of equal length.
package struct TimeScale: Hashable, Sendable {
    package let from: Instant
    package let until: Instant
    package let places: Int

    package init(from: Instant, until: Instant, places: Int) {
        self.from = from
        self.until = until
        self.places = places
    }

    /// Returns the start of a place. `places` gives the end of the last one.
    package func start(of place: Int) -> Instant {
        from + Milliseconds((until - from).count * Int64(place) / Int64(places))
    }

    /// Returns the place that contains an instant.
    package func place(of instant: Instant) -> Int {
        Int((instant - from).count * Int64(places) / max(1, (until - from).count))
    }

    /// The months that begin within the period, with their starts.
    package var months: [(name: String, start: Instant)] {
        let first = from.rfc3339
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
        Instant(rfc3339: "\(year)-\(month < 10 ? "0" : "")\(month)-01T00:00:00Z")
    }
}
