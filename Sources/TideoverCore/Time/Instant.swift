/// A point on the UTC time line, in whole milliseconds since 1970-01-01T00:00:00Z.
///
/// Arithmetic saturates at the ends of the range instead of trapping, because dates come from
/// outside.
public struct Instant: Hashable, Comparable, Sendable {
    public var millisecondsSince1970: Int64

    public init(millisecondsSince1970: Int64) {
        self.millisecondsSince1970 = millisecondsSince1970
    }

    public static let distantPast = Instant(millisecondsSince1970: .min)
    public static let distantFuture = Instant(millisecondsSince1970: .max)

    /// The instants that RFC 3339 can write, 0000-01-01 to 9999-12-31; a store's date outside is
    /// malformed.
    public static let writable =
        Instant(
            millisecondsSince1970: -62_167_219_200_000
        )...Instant(millisecondsSince1970: 253_402_300_799_999)

    public static func < (a: Instant, b: Instant) -> Bool {
        a.millisecondsSince1970 < b.millisecondsSince1970
    }

    public static func + (instant: Instant, length: Milliseconds) -> Instant {
        Instant(
            millisecondsSince1970: instant.millisecondsSince1970.addingSaturated(length.count)
        )
    }

    public static func - (instant: Instant, length: Milliseconds) -> Instant {
        instant + Milliseconds(length.count == .min ? .max : -length.count)
    }

    /// Returns the time from `b` to `a`; negative if `a` is earlier.
    public static func - (a: Instant, b: Instant) -> Milliseconds {
        let (difference, overflow) = a.millisecondsSince1970.subtractingReportingOverflow(
            b.millisecondsSince1970
        )
        guard overflow else { return Milliseconds(difference) }
        return Milliseconds(a < b ? .min : .max)
    }

    /// Returns whether two instants are at most `tolerance` apart.
    public func isWithin(_ tolerance: Milliseconds, of other: Instant) -> Bool {
        let distance = self - other
        return tolerance >= .zero && distance.count.magnitude <= tolerance.count.magnitude
    }
}

/// A length of time in whole milliseconds. Arithmetic saturates at the ends of the range.
public struct Milliseconds: Hashable, Comparable, Sendable {
    public var count: Int64

    public init(_ count: Int64) {
        self.count = count
    }

    public static let zero = Milliseconds(0)
    /// How far in the future a signature may be dated.
    package static let clockTolerance = Milliseconds.minutes(5)

    public static func seconds(_ n: Int64) -> Milliseconds { of(n, each: 1000) }
    public static func minutes(_ n: Int64) -> Milliseconds { of(n, each: 60_000) }
    public static func hours(_ n: Int64) -> Milliseconds { of(n, each: 3_600_000) }
    public static func days(_ n: Int64) -> Milliseconds { of(n, each: 86_400_000) }

    private static func of(_ n: Int64, each length: Int64) -> Milliseconds {
        Milliseconds(n.multipliedSaturated(by: length))
    }

    public static func + (a: Milliseconds, b: Milliseconds) -> Milliseconds {
        Milliseconds(a.count.addingSaturated(b.count))
    }

    public static func < (a: Milliseconds, b: Milliseconds) -> Bool { a.count < b.count }

    /// Reads a length in configuration syntax: `500ms`, `30s`, `15m`, `24h`, `3d`. Nil for any
    /// other text, a negative number or more than 100 years.
    public init?(text: some StringProtocol) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let units: [(String, Int64)] = [
            ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
        ]
        guard let number = Int64(digits),
            let unit = units.first(where: { $0.0 == text.dropFirst(digits.count) })
        else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: unit.1)
        guard !overflow, product <= Milliseconds.days(36_525).count else { return nil }
        self.init(product)
    }

    /// The length in configuration syntax, in the largest unit that divides it.
    public var text: String {
        for (unit, size) in [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000)]
        where count != 0 && count % Int64(size) == 0 {
            return "\(count / Int64(size))\(unit)"
        }
        return "\(count)ms"
    }
}

/// The speed of a lineage: the actual divided by the nominal length of a period. It is 1 in
/// production; a sandbox month of five minutes has 1/8640. Every bound and reminder is multiplied
/// by it.
public struct Pace: Hashable, Sendable {
    public let actual: Milliseconds
    public let nominal: Milliseconds

    public static let real = Pace(actual: Milliseconds(1), nominal: Milliseconds(1))

    /// Creates a pace. Both lengths must be positive; a pace over 1 is not meaningful and becomes
    /// 1.
    public init(actual: Milliseconds, nominal: Milliseconds) {
        let valid = actual.count > 0 && nominal.count > 0 && actual < nominal
        self.actual = valid ? actual : Milliseconds(1)
        self.nominal = valid ? nominal : Milliseconds(1)
    }

    /// Creates the pace of a period. A period that is only slightly short has real pace.
    init(of actual: Milliseconds, nominally nominal: Milliseconds) {
        guard actual.count > 0, actual.count <= nominal.count / 2 else {
            self = .real
            return
        }
        self.init(actual: actual, nominal: nominal)
    }

    /// Returns `length` at this pace, rounded towards zero.
    public func scale(_ length: Milliseconds) -> Milliseconds {
        guard actual != nominal else { return length }
        let product = length.count.multipliedFullWidth(by: actual.count)
        return Milliseconds(nominal.count.dividingFullWidth(product).quotient)
    }

    static func slower(_ a: Pace, _ b: Pace) -> Pace {
        // Cross-multiplied. Both products fit, because periods are bounded by the writable range.
        let left = a.actual.count.multipliedFullWidth(by: b.nominal.count)
        let right = b.actual.count.multipliedFullWidth(by: a.nominal.count)
        return (left.high, left.low) < (right.high, right.low) ? a : b
    }
}
