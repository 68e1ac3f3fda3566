/// Returns the candidate closest to an unknown name; nil if none is close enough.
///
/// A candidate is close enough within one edit per three characters, and at most three, ignoring
/// case. Otherwise the only candidate that begins with the name is returned. Of equally close ones
/// the first is returned. An edit inserts, deletes or replaces a character, or swaps two
/// neighbours.
public func closestName(to name: String, among candidates: some Sequence<String>) -> String? {
    // Longer names get no suggestion, so that hostile input costs nothing.
    guard name.utf8.count <= 256 else { return nil }
    let name = Array(name.lowercased().unicodeScalars)
    let tolerance = min(3, max(1, name.count / 3))
    var closest: (name: String, distance: Int)?
    var beginning: [String] = []
    for candidate in candidates {
        let scalars = Array(candidate.lowercased().unicodeScalars)
        if scalars.starts(with: name) { beginning.append(candidate) }
        // Lengths that differ this much need no comparison; a completely replaced candidate is no
        // match.
        guard abs(scalars.count - name.count) <= tolerance else { continue }
        let distance = editDistance(name, scalars)
        guard distance <= tolerance, distance < max(name.count, scalars.count) else { continue }
        if distance < closest?.distance ?? .max { closest = (candidate, distance) }
    }
    let saysEnough = name.count { $0 != "-" } >= 2
    return closest?.name ?? (saysEnough && beginning.count == 1 ? beginning[0] : nil)
}

/// Returns the Damerau-Levenshtein distance that edits no part twice (optimal string alignment).
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
