import TideoverSandbox

/// Reports messages of the stores that a back end took incorrectly while time passed by itself.
///
/// It reports each kind when it first happens, and the counts at the end, however often stores
/// retry. It names no customer.
struct MisdeliveryLog {
    /// The count of each kind, in order of first occurrence.
    private var counts: [(words: String, count: Int)] = []
    private static let mostWays = 12

    /// Returns one line for each new kind among the moments.
    mutating func lines(of moments: [TraceEntry]) -> [String] {
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

    /// The counts of kinds that happened more than once.
    var sums: [String] {
        counts.filter { $0.count > 1 }.map { "\($0.words): \($0.count) times in all" }
    }
}
