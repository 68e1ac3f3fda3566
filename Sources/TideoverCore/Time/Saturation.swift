extension FixedWidthInteger {
    /// Returns the sum; on overflow, the nearest representable number.
    package func addingSaturated(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        guard overflow else { return sum }
        return other < 0 ? .min : .max
    }

    /// Returns the negative; of the least number, which has none, the greatest.
    package var negatedSaturated: Self {
        let (negative, overflow) = Self.zero.subtractingReportingOverflow(self)
        guard overflow else { return negative }
        return self < 0 ? .max : .min
    }

    /// Returns the product; on overflow, the nearest representable number.
    package func multipliedSaturated(by other: Self) -> Self {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        guard overflow else { return product }
        return (self < 0) == (other < 0) ? .max : .min
    }
}
