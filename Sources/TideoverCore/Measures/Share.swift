/// A range that contains the true value with a stated confidence.
public struct Interval: Hashable, Sendable {
    public var lower: Double
    public var upper: Double

    public init(lower: Double, upper: Double) {
        self.lower = lower
        self.upper = upper
    }

    /// The two-sided 95 % quantile of the normal distribution: half the width of an interval in
    /// standard errors.
    public static let confidence95 = 1.959963984540054
}

/// A ratio that stores its denominator.
public struct Share: Hashable, Sendable {
    public var part: Int
    public var whole: Int

    /// Creates a share. Requires `part` between 0 and `whole`.
    public init(_ part: Int, of whole: Int) {
        precondition(0 <= part && part <= whole, "a share is a part of its whole")
        self.part = part
        self.whole = whole
    }

    /// The ratio, 0 to 1; nil if `whole` is 0.
    public var value: Double? {
        whole == 0 ? nil : Double(part) / Double(whole)
    }

    /// Returns Wilson's score interval, which stays between 0 and 1 and is accurate for small
    /// numbers. Nil if `whole` is 0. `z` is the quantile of the normal distribution for the
    /// required confidence.
    public func interval(z: Double = Interval.confidence95) -> Interval? {
        guard let value else { return nil }
        let n = Double(whole)
        let square = z * z
        let centre = value + square / (2 * n)
        let half = z * (value * (1 - value) / n + square / (4 * n * n)).squareRoot()
        let scale = 1 + square / n
        return Interval(
            lower: part == 0 ? 0 : max(0, (centre - half) / scale),
            upper: part == whole ? 1 : min(1, (centre + half) / scale)
        )
    }
}

/// The difference between two shares: the effect of a treatment compared with a holdout group.
public struct ShareDifference: Hashable, Sendable {
    public var treatment: Share
    public var control: Share

    public init(treatment: Share, control: Share) {
        self.treatment = treatment
        self.control = control
    }

    /// Treatment minus control, -1 to 1; nil if either share has a whole of 0.
    public var value: Double? {
        guard let a = treatment.value, let b = control.value else { return nil }
        return a - b
    }

    /// Returns Newcombe's hybrid score interval, from the two Wilson intervals. Nil if either share
    /// has a whole of 0.
    public func interval(z: Double = Interval.confidence95) -> Interval? {
        guard let a = treatment.value, let b = control.value,
            let ofA = treatment.interval(z: z), let ofB = control.interval(z: z)
        else { return nil }
        let below = Self.hypotenuse(a - ofA.lower, ofB.upper - b)
        let above = Self.hypotenuse(ofA.upper - a, b - ofB.lower)
        return Interval(lower: max(-1, a - b - below), upper: min(1, a - b + above))
    }

    private static func hypotenuse(_ a: Double, _ b: Double) -> Double {
        (a * a + b * b).squareRoot()
    }
}
