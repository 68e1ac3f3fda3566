extension RandomAccessCollection where Index == Int {
    /// Where the elements end that meet a condition; none behind them may meet it. Found without
    /// looking at all of them.
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
    /// Oldest first, each once.
    var inOrder: [Instant] {
        let all = sorted()
        var once: [Instant] = []
        once.reserveCapacity(all.count)
        for instant in all where instant != once.last { once.append(instant) }
        return once
    }
}
