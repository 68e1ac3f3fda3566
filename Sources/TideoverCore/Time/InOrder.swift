extension RandomAccessCollection where Index == Int {
    /// Returns the end of the elements that meet a condition, by binary search. Requires that no
    /// later element meets it.
    package func endOfPrefix(where isMet: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if isMet(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension [Instant] {
    /// The instants oldest first, without duplicates.
    var inOrder: [Instant] {
        let all = sorted()
        var once: [Instant] = []
        once.reserveCapacity(all.count)
        for instant in all where instant != once.last { once.append(instant) }
        return once
    }
}
