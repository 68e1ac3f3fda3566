public import TideoverJSON

/// How a store's time shows on the clock that its back ends go by: one instant of the store falls on one
/// there, and a month of the store, which is 30 days, takes as long there as is chosen. Everything that
/// leaves the store bears the time of that clock, and everything that comes in is meant by it; inside the
/// store nothing changes. Instants and lengths are in milliseconds, instants since 1970.
public struct StoreDial: Sendable {
    /// A month of the store.
    public static let month = 30 * CivilDate.millisecondsPerDay
    /// Shows the store's time as it is.
    public static let identity = StoreDial(from: 0, at: 0, month: month)

    private let start: Int64
    private let shownStart: Int64
    private let shownMonth: Int64
    /// What the other clock shows now; nil for the store's own.
    private let clock: (@Sendable () -> Int64)?

    private var isIdentity: Bool { start == shownStart && shownMonth == Self.month }

    /// A dial on which `start` of the store falls on `shownStart`.
    ///
    /// - Parameters:
    ///   - start: An instant of the store.
    ///   - shownStart: What the other clock shows then.
    ///   - shownMonth: How long a month of the store takes, at least a millisecond.
    ///   - clock: The clock that it is read from, which nothing signed now may be ahead of; without one
    ///     that clock shows the store's time.
    public init(
        from start: Int64,
        at shownStart: Int64,
        month shownMonth: Int64,
        clock: (@Sendable () -> Int64)? = nil
    ) {
        precondition(shownMonth > 0, "time passes")
        self.start = start
        self.shownStart = shownStart
        self.shownMonth = shownMonth
        self.clock = clock
    }

    /// What the other clock shows at an instant of the store: never the less of a later one, and rounded
    /// down, so that what has happened in the store lies ahead of nobody.
    public func shown(_ instant: Int64) -> Int64 {
        if isIdentity { return instant }
        let passed = Int128(instant) - Int128(start)
        let shown = floorDivide(passed * Int128(shownMonth), Int128(Self.month))
        return Int64(clamping: Int128(shownStart) + shown)
    }

    /// The first instant of the store at which the other clock shows this one or later.
    public func first(at shown: Int64) -> Int64 {
        if isIdentity { return shown }
        let passed = Int128(shown) - Int128(shownStart)
        let instant = -floorDivide(-passed * Int128(Self.month), Int128(shownMonth))
        return Int64(clamping: Int128(start) + instant)
    }

    /// The last instant of the store at which the other clock shows this one or earlier.
    public func last(at shown: Int64) -> Int64 {
        if isIdentity { return shown }
        let next = first(at: shown == .max ? shown : shown + 1)
        return next == .min ? next : next - 1
    }

    /// What the other clock shows now, when the store's stands at an instant. The store's stands still
    /// until something happens; the other does not.
    func present(at instant: Int64) -> Int64 { max(shown(instant), clock?() ?? .min) }
}

// MARK: - Documents

extension StoreDial {
    /// A document of the store's as the other clock has it. Apple writes instants as numbers in fields
    /// named `...Date`, Google as RFC 3339, or as digits in fields named `...Millis`.
    public func dated(_ value: JSONValue) -> JSONValue {
        guard !isIdentity || clock != nil else { return value }
        switch value {
        case .object(let object): return .object(dated(object))
        case .array(let elements): return .array(elements.map { dated($0) })
        case .string(let text):
            return InstantText.read(text).map { .string(InstantText.write(shown($0))) } ?? value
        case .null, .bool, .integer, .double: return value
        }
    }

    /// The same of an object.
    func dated(_ object: JSONObject) -> JSONObject {
        guard !isIdentity || clock != nil else { return object }
        return object.reduce(into: [:]) { told, member in
            told[member.key] = dated(member.value, of: member.key)
        }
    }

    private func dated(_ value: JSONValue, of field: String) -> JSONValue {
        switch value {
        // Signing took a moment of the store's time, which may not have passed.
        case .integer(let instant) where field == "signedDate":
            return .integer(min(shown(instant), clock?() ?? .max))
        case .integer(let instant) where field.hasSuffix("Date"): return .integer(shown(instant))
        case .string(let text) where field.hasSuffix("Millis"):
            return Int64(text).map { .string(String(shown($0))) } ?? value
        default: return dated(value)
        }
    }
}
