/// Draws every token and number that the store generates from one seed.
struct GooglePlayIdentifiers: Codable, Sendable {
    private var random: SeededRandom

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    /// Draws a purchase token, in the shape of Google's.
    mutating func token() -> String {
        text(24, of: "abcdefghijklmnop") + ".AO-J1O"
            + text(32, of: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    }

    /// Draws the number of an order; renewals of a subscription append `..0`, `..1` and so on.
    mutating func order() -> String {
        "GPA.\(number(4))-\(number(4))-\(number(4))-\(number(5))"
    }

    /// Draws the id of a refund request, which responses to it contain.
    mutating func refund() -> String { text(32, of: "abcdefghijklmnopqrstuvwxyz0123456789") }

    private mutating func number(_ count: Int) -> String { text(count, of: "0123456789") }

    private mutating func text(_ count: Int, of alphabet: String) -> String {
        let characters = Array(alphabet)
        let last = Int64(characters.count - 1)
        return String((0..<count).map { _ in characters[Int(random.number(in: 0...last))] })
    }
}
