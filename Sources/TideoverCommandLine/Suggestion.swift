/// Finds what a person probably meant: for flags, commands, configuration keys, product ids.
public enum Suggestion {
    /// Longer words get no suggestion, so that hostile input costs nothing.
    static let longestWord = 64

    /// The candidate a mistyped word most probably stands for; nil when none is near enough.
    ///
    /// Near enough is an edit for every three characters, at least one, letter case aside; failing
    /// that, the only candidate that begins with the word. Of equally near ones the first wins.
    public static func closest(to word: String, among candidates: some Sequence<String>) -> String?
    {
        let typed = Array(word.lowercased())
        guard !typed.isEmpty, typed.count <= longestWord else { return nil }
        let candidates = candidates.filter { $0.count <= longestWord }
        let allowed = max(1, typed.count / 3)
        let nearest =
            candidates
            .map { (candidate: $0, distance: distance(typed, Array($0.lowercased()))) }
            .filter { $0.distance <= allowed && $0.distance < $0.candidate.count }
            .min { $0.distance < $1.distance }
        return nearest?.candidate ?? onlyOne(beginningWith: typed, among: candidates)
    }

    private static func onlyOne(
        beginningWith typed: [Character],
        among candidates: [String]
    ) -> String? {
        let letters = typed.count { $0 != "-" }
        guard letters >= 2 else { return nil }
        let longer = candidates.filter { $0.lowercased().starts(with: typed) }
        return longer.count == 1 ? longer.first : nil
    }

    /// The Damerau-Levenshtein distance of two words: insertions, deletions, replacements and swaps
    /// of neighbours, none of them touching the same place twice.
    public static func distance(_ one: String, _ other: String) -> Int {
        distance(Array(one), Array(other))
    }

    private static func distance(_ one: [Character], _ other: [Character]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...other.count)
        for row in one.indices {
            var current = [row + 1]
            for column in other.indices {
                let replacement = last[column] + (one[row] == other[column] ? 0 : 1)
                var best = min(replacement, last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, one[row] == other[column - 1], one[row - 1] == other[column]
                {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            (beforeLast, last) = (last, current)
        }
        return last[other.count]
    }
}
