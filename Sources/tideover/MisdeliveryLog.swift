import TideoverSandbox

/// What a back end did not take of what stores sent it while nobody looked: each way of it is told when it
/// happens first, and how often in the end, however often stores try again. It names no customer.
struct MisdeliveryLog {
    /// How often each happened, the first one first.
    private var counts: [(words: String, count: Int)] = []
    private static let mostWays = 12

    /// What is new in moments, a line each.
    mutating func lines(of moments: [Moment]) -> [String] {
        var lines: [String] = []
        for moment in moments {
            guard let words = moment.misdelivery else { continue }
            if let known = counts.firstIndex(where: { $0.words == words }) {
                counts[known].count += 1
            } else if counts.count < Self.mostWays {
                counts.append((words, 1))
                lines.append("\(InstantText.writeForPeople(moment.at))  \(words)")
            }
        }
        return lines
    }

    /// How often happened what happened again.
    var sums: [String] {
        counts.filter { $0.count > 1 }.map { "\($0.words): \($0.count) times in all" }
    }
}
