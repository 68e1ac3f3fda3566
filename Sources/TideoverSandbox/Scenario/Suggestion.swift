/// The known word that a mistyped one most likely means; nil if none is near.
func suggestion(for word: String, among known: [String]) -> String? {
    let nearest = known.map { (word: $0, distance: distance(from: word, to: $0)) }
        .min { $0.distance < $1.distance }
    guard let nearest, nearest.distance <= max(2, nearest.word.count / 3) else { return nil }
    return nearest.word
}

/// How many letters must be changed, put in, left out or swapped with their neighbour.
private func distance(from a: String, to b: String) -> Int {
    let a = Array(a.lowercased()), b = Array(b.lowercased())
    var rows = [[Int]](repeating: [Int](repeating: 0, count: b.count + 1), count: a.count + 1)
    for i in 0...a.count { rows[i][0] = i }
    for j in 0...b.count { rows[0][j] = j }
    for i in a.indices {
        for j in b.indices {
            let change = rows[i][j] + (a[i] == b[j] ? 0 : 1)
            var best = min(change, rows[i][j + 1] + 1, rows[i + 1][j] + 1)
            if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
                best = min(best, rows[i - 1][j - 1] + 1)
            }
            rows[i + 1][j + 1] = best
        }
    }
    return rows[a.count][b.count]
}
