/// The next due instant of many items, numbered from 0. The earliest is known without a scan: a
/// change takes as many steps as the number of items has binary digits.
package struct Agenda: Hashable, Codable, Sendable {
    private static let never = Int64.max

    /// A tournament tree: the final is at 1, and the items are from `size` on. Each node holds the
    /// earlier instant of its two children, at twice its index and the index after that.
    private var places = [never, never]
    private var size = 1

    /// Creates an empty agenda.
    package init() {}

    /// The first due instant, in milliseconds since 1970, and its item. At the same instant, the
    /// lowest number comes first.
    package var first: (at: Int64, number: Int)? {
        guard places[1] != Agenda.never else { return nil }
        var place = 1
        while place < size {
            place *= 2
            if places[place] != places[1] { place += 1 }
        }
        return (places[1], place - size)
    }

    /// Sets the due instant of an item; nil for never.
    package mutating func set(_ number: Int, to instant: Int64?) {
        while number >= size { double() }
        var place = size + number
        places[place] = instant ?? Agenda.never
        while place > 1 {
            place /= 2
            decide(place)
        }
    }

    private mutating func decide(_ place: Int) {
        places[place] = min(places[2 * place], places[2 * place + 1])
    }

    /// Doubles the capacity.
    private mutating func double() {
        let entered = places[size...]
        size *= 2
        places = Array(repeating: Agenda.never, count: 2 * size)
        places.replaceSubrange(size..<size + entered.count, with: entered)
        for place in (1..<size).reversed() { decide(place) }
    }
}
