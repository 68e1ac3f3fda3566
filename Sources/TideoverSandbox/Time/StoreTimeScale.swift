import TideoverCalendar
public import TideoverJSON

/// Converts a store's time to the clock of its back ends. One instant of the store has a fixed time
/// there, and a month of the store (30 days) has a chosen length. All output of the store uses that
/// clock, and all input refers to it; the store's own state does not change. Instants and durations
/// are in milliseconds, instants since 1970.
public struct StoreTimeScale: Sendable {
    /// A month of the store.
    public static let month = 30 * CivilDate.millisecondsPerDay
    /// Shows the store's time unchanged.
    public static let identity = StoreTimeScale(from: 0, at: 0, month: month)

    private let start: Int64
    private let shownStart: Int64
    private let shownMonth: Int64
    /// The other clock; nil for the store's own.
    private let clock: (@Sendable () -> Int64)?

    private var isIdentity: Bool { start == shownStart && shownMonth == Self.month }

    /// Creates a dial that maps `start` of the store to `shownStart`.
    ///
    /// - Parameters:
    ///   - start: An instant of the store.
    ///   - shownStart: The time on the other clock at that instant.
    ///   - shownMonth: The length of a month of the store, at least a millisecond.
    ///   - clock: The other clock, which no new signature may be ahead of. By default, it shows the
    ///     store's time.
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

    /// Returns the other clock's time at an instant of the store. It never decreases, and is
    /// rounded down, so that no past event of the store appears to be in the future.
    public func shown(_ instant: Int64) -> Int64 {
        if isIdentity { return instant }
        let passed = Int128(instant) - Int128(start)
        let shown = (passed * Int128(shownMonth)).flooredQuotient(by: Int128(Self.month))
        return Int64(clamping: Int128(shownStart) + shown)
    }

    /// Returns the first instant of the store at which the other clock shows this time or later.
    public func first(at shown: Int64) -> Int64 {
        if isIdentity { return shown }
        let passed = Int128(shown) - Int128(shownStart)
        let instant = -(-passed * Int128(Self.month)).flooredQuotient(by: Int128(shownMonth))
        return Int64(clamping: Int128(start) + instant)
    }

    /// Returns the last instant of the store at which the other clock shows this time or earlier.
    public func last(at shown: Int64) -> Int64 {
        if isIdentity { return shown }
        let next = first(at: shown == .max ? shown : shown + 1)
        return next == .min ? next : next - 1
    }

    /// Returns the other clock's present time at an instant of the store. The store's clock stops
    /// until the next event; the other one does not.
    func present(at instant: Int64) -> Int64 { max(shown(instant), clock?() ?? .min) }
}

// MARK: - Documents

extension StoreTimeScale {
    /// Converts a document of the store to the other clock. Apple writes instants as numbers in
    /// fields named `...Date`. Google writes them as RFC 3339, or as digits in fields named
    /// `...Millis`.
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

    /// Converts an object in the same way.
    func dated(_ object: JSONObject) -> JSONObject {
        guard !isIdentity || clock != nil else { return object }
        return object.reduce(into: [:]) { told, member in
            told[member.key] = dated(member.value, of: member.key)
        }
    }

    private func dated(_ value: JSONValue, of field: String) -> JSONValue {
        switch value {
        // A signature takes a moment of the store's time, which may not have passed on the other
        // clock.
        case .integer(let instant) where field == "signedDate":
            return .integer(min(shown(instant), clock?() ?? .max))
        case .integer(let instant) where field.hasSuffix("Date"): return .integer(shown(instant))
        case .string(let text) where field.hasSuffix("Millis"):
            return Int64(text).map { .string(String(shown($0))) } ?? value
        default: return dated(value)
        }
    }
}
