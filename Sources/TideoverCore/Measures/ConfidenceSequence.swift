/// A 95 % interval for a difference that holds at every look at once, however often and whenever
/// one looks.
///
/// An ordinary interval holds at one look that was fixed in advance. This one is the normal mixture
/// boundary of Robbins (1970), which is wider at each look. Product-limit estimates of a growing
/// study behave as sums of independent increments in the scale of their information (Lin, Shen,
/// Ying and Breslow 1996), as the boundary requires. Both hold for large numbers, so there is no
/// interval for small ones.
public struct ConfidenceSequence: Hashable, Sendable {
    /// The squared probability to be wrong at any look, from 5 %.
    private static let squaredError = 0.0025
    /// The information, relative to the mixture's, at which the interval is narrowest: Howard and
    /// others (2021), 2 log(1/0.05) + log(1 + 2 log(1/0.05)).
    private static let best = 7.936

    /// The information of the mixture's prior.
    private let prior: Double
    /// The information at which the interval is as narrow as the smallest effect.
    public let neededInformation: Double

    /// Creates a sequence that is narrowest where its half width is `effect`, the smallest
    /// difference that matters: over 0, at most 1.
    public init(effect: Double) {
        let scale = (1 + 1 / Self.best) * naturalLogarithm((Self.best + 1) / Self.squaredError)
        neededInformation = scale / (effect * effect)
        prior = neededInformation / Self.best
    }

    /// Returns half the width of the interval for a standard error over 0.
    public func halfWidth(standardError: Double) -> Double {
        let information = 1 / (standardError * standardError)
        let sum = information + prior
        let bound = (sum * naturalLogarithm(sum / (prior * Self.squaredError))).squareRoot()
        return bound / information
    }
}

/// Returns the natural logarithm of a number over 0, by the series of the inverse hyperbolic
/// tangent. The core imports no library of the platform.
private func naturalLogarithm(_ number: Double) -> Double {
    let ratio = (number.significand - 1) / (number.significand + 1)
    let square = ratio * ratio
    var power = ratio
    var sum = 0.0
    for term in stride(from: 1.0, through: 29, by: 2) {
        sum += power / term
        power *= square
    }
    return Double(number.exponent) * 0.693147180559945309 + 2 * sum
}
