/// Division that rounds towards minus infinity, as calendars need it before 1970.
extension FixedWidthInteger {
    @inlinable
    package func flooredQuotient(by divisor: Self) -> Self {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }

    /// Returns the remainder, which is never negative for a positive divisor.
    @inlinable
    package func flooredRemainder(by divisor: Self) -> Self {
        let remainder = self % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}
