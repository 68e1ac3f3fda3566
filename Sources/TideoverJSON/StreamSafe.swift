extension String {
    /// The number of combining marks that may follow each other. UAX #15 defines the limit for its
    /// Stream-Safe Text Format; no word of any language has so many.
    package static let mostMarks = 30

    /// Whether no more than `mostMarks` combining marks follow each other.
    ///
    /// Swift compares and hashes strings in a normal form, for which it sorts such marks. The time
    /// for that grows with the square of their number.
    package var isStreamSafe: Bool {
        // Up to U+02FF no scalar is a mark, and all later ones begin with a byte from 0xCC on.
        guard !allBytes({ $0 < 0xCC }) else { return true }
        var marks = 0
        for scalar in unicodeScalars {
            if scalar.value < 0x300 || scalar.properties.canonicalCombiningClass == .notReordered {
                marks = 0
            } else {
                marks += 1
                if marks > Self.mostMarks { return false }
            }
        }
        return true
    }

    /// Whether all bytes of the text satisfy a condition. Reading them in memory takes a fraction
    /// of the time of reading the view.
    @inlinable
    package func allBytes(_ condition: (UInt8) -> Bool) -> Bool {
        utf8.withContiguousStorageIfAvailable { $0.allSatisfy(condition) }
            ?? utf8.allSatisfy(condition)
    }
}
