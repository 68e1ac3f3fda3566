/// When something next falls due for each of many who are numbered from 0. Whose turn is first is known
/// without asking all of them: a change takes as many steps as their number has binary digits.
package struct Agenda: Hashable, Codable, Sendable {
    private static let never = Int64.max

    /// A tournament: the places of a round stand behind each other, from the final at 1 to those numbered
    /// from `size` on, and each place holds the earlier of the instants at twice its index and behind.
    private var places = [never, never]
    private var size = 1

    /// An agenda on which nothing stands.
    package init() {}

    /// What is due first, in milliseconds since 1970, and for whom; of several at one instant the one of
    /// the lowest number.
    package var first: (at: Int64, number: Int)? {
        guard places[1] != Agenda.never else { return nil }
        var place = 1
        while place < size {
            place *= 2
            if places[place] != places[1] { place += 1 }
        }
        return (places[1], place - size)
    }

    /// Notes when something is due for one of them; nil for never.
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

    /// Makes room for as many again.
    private mutating func double() {
        let entered = places[size...]
        size *= 2
        places = Array(repeating: Agenda.never, count: 2 * size)
        places.replaceSubrange(size..<size + entered.count, with: entered)
        for place in (1..<size).reversed() { decide(place) }
    }
}
