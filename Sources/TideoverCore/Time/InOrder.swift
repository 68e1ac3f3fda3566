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

extension Array {
    /// Returns the elements in order; equal ones keep theirs. Elements that are in order already,
    /// as most are, are not copied.
    func inOrder(by isBefore: (Element, Element) -> Bool) -> [Element] {
        inOrderOfPositions { isBefore(self[$0], self[$1]) }
    }

    /// Returns the same for elements that are large to copy: the closure compares by position.
    func inOrderOfPositions(by isBefore: (Int, Int) -> Bool) -> [Element] {
        let isInOrder = indices.dropFirst().allSatisfy { !isBefore($0, $0 - 1) }
        guard !isInOrder else { return self }
        return indices.sorted { a, b in
            if isBefore(a, b) { return true }
            return a < b && !isBefore(b, a)
        }.map { self[$0] }
    }
}
