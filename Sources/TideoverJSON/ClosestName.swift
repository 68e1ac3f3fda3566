/// The name that was probably meant by one that nobody knows: the closest of the candidates within
/// one edit in three characters, and three at most, letter case aside. Nil if none is that close;
/// of equally close ones, the first.
///
/// An edit inserts, deletes or replaces a character, or swaps two neighbours.
public func closestName(to name: String, among candidates: some Sequence<String>) -> String? {
    let name = Array(name.lowercased().unicodeScalars)
    let tolerance = min(3, max(1, name.count / 3))
    var closest: (name: String, distance: Int)?
    for candidate in candidates {
        let scalars = Array(candidate.lowercased().unicodeScalars)
        // Lengths this far apart spare the comparison; a candidate replaced whole is no likeness.
        guard abs(scalars.count - name.count) <= tolerance else { continue }
        let distance = editDistance(name, scalars)
        guard distance <= tolerance, distance < max(name.count, scalars.count) else { continue }
        if distance < closest?.distance ?? .max { closest = (candidate, distance) }
    }
    return closest?.name
}

/// The Damerau-Levenshtein distance in which no part is edited twice (optimal string alignment).
private func editDistance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in a.indices {
        var row = [i + 1]
        for j in b.indices {
            var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
            if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
                best = min(best, beforeLast[j - 1] + 1)
            }
            row.append(best)
        }
        (beforeLast, last) = (last, row)
    }
    return last[b.count]
}
