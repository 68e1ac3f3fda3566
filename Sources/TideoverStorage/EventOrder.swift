import TideoverCore

/// The events of one commit in the order of delivery: by their instants, and each customer's in the
/// order they were derived.
package struct EventOrder: Sendable {
    private struct Entry {
        let event: Event
        let row: CustomerRow
        /// The event's instant, or an earlier one of a following event of the same customer.
        var place: Instant
    }

    private var entries: [Entry] = []
    private var customerCount = 0

    package init() {}

    package mutating func add(_ events: [Event], of row: CustomerRow) {
        guard !events.isEmpty else { return }
        customerCount += 1
        var place = Instant.distantFuture
        var added: [Entry] = []
        for event in events.reversed() {
            place = min(place, event.at)
            added.append(Entry(event: event, row: row, place: place))
        }
        entries += added.reversed()
    }

    package var inOrder: [(event: Event, row: CustomerRow)] {
        guard customerCount > 1 else { return entries.map { ($0.event, $0.row) } }
        return entries.enumerated().sorted {
            ($0.element.place, $0.offset) < ($1.element.place, $1.offset)
        }.map { ($0.element.event, $0.element.row) }
    }
}
