/// The compact form of figures: bytes of which a report reads millions.
///
/// Numbers are in groups of seven bits, the lowest first, and the sign is in the lowest bit.
/// Instants are differences from the one before. The form may change with any version: figures are
/// derived again under another stamp.
package enum FiguresForm {
    /// Incremented when the form or the meaning of figures changes.
    package static let revision = 5

    package static func bytes(of figures: ReportFigures) -> [UInt8] {
        var writer = FiguresWriter()
        writer.write(Int64(figures.subscription.spans.count))
        for span in figures.subscription.spans { writer.write(span) }
        writer.write(figures.lockouts)
        for failure in figures.failures { writer.write(failure) }
        return writer.bytes
    }

    /// Nil for other bytes than `bytes` returned.
    package static func figures(_ bytes: [UInt8]) -> ReportFigures? {
        var reader = FiguresReader(bytes)
        guard let count = reader.integer(), (0...Int64(bytes.count)).contains(count) else {
            return nil
        }
        var figures = ReportFigures()
        for _ in 0..<count {
            guard let span = reader.span() else { return nil }
            figures.subscription.spans.append(span)
        }
        guard let lockouts = reader.lockouts() else { return nil }
        figures.lockouts = lockouts
        while !reader.isAtEnd {
            guard let failure = reader.failure() else { return nil }
            figures.failures.append(failure)
        }
        return figures
    }

    fileprivate enum PriceKind {
        static let none: UInt8 = 0
        static let unknown: UInt8 = 1
        static let known: UInt8 = 2
    }

    /// A span's first byte has the state in its higher half, the kind of price in its lower one.
    fileprivate static let states = SubscriptionState.allCases
}

private struct FiguresWriter {
    var bytes: [UInt8] = []
    private var last: Int64 = 0

    mutating func write(_ span: SubscriptionFigures.Span) {
        let state = span.content.state.flatMap { FiguresForm.states.firstIndex(of: $0) }
        let high = UInt8(state.map { $0 + 1 } ?? 0) << 4
        switch span.content.price {
        case .none: bytes.append(high | FiguresForm.PriceKind.none)
        case .unknown: bytes.append(high | FiguresForm.PriceKind.unknown)
        case .known: bytes.append(high | FiguresForm.PriceKind.known)
        }
        write(span.from)
        guard case .known(let monthly) = span.content.price else { return }
        write(monthly.price)
        write(monthly.length.parts)
    }

    mutating func write(_ lockouts: [Lockouts.Cause: Milliseconds]) {
        write(Int64(lockouts.count))
        for (cause, length) in lockouts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            write(cause.rawValue)
            write(length.count)
        }
    }

    mutating func write(_ failure: FailureFigures) {
        write(failure.enteredAt)
        write(Int64(failure.changes.count))
        for change in failure.changes {
            write(change.at)
            bytes.append(change.state.rawValue)
        }
        bytes.append(
            failure.price == nil ? FiguresForm.PriceKind.unknown : FiguresForm.PriceKind.known
        )
        if let price = failure.price { write(price) }
    }

    private mutating func write(_ instant: Instant) {
        write(instant.millisecondsSince1970 &- last)
        last = instant.millisecondsSince1970
    }

    private mutating func write(_ money: Money) {
        write(money.milliunits)
        write(money.currency)
    }

    private mutating func write(_ text: String) {
        write(Int64(text.utf8.count))
        bytes += text.utf8
    }

    mutating func write(_ number: Int64) {
        var rest = UInt64(bitPattern: (number << 1) ^ (number >> 63))
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}

private struct FiguresReader {
    private let bytes: [UInt8]
    private var position = 0
    private var last: Int64 = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position == bytes.count }

    mutating func span() -> SubscriptionFigures.Span? {
        guard let head = byte(), let from = instant() else { return nil }
        let number = Int(head >> 4)
        guard number <= FiguresForm.states.count else { return nil }
        let state = number == 0 ? nil : FiguresForm.states[number - 1]
        let price: SubscriptionFigures.Price
        switch head & 0x0f {
        case FiguresForm.PriceKind.none: price = .none
        case FiguresForm.PriceKind.unknown: price = .unknown
        case FiguresForm.PriceKind.known:
            guard let money = money(), let parts = integer(),
                let length = MonthlyPrice.Length(parts: parts)
            else { return nil }
            price = .known(MonthlyPrice(price: money, length: length))
        default: return nil
        }
        return SubscriptionFigures.Span(
            from: from,
            content: SubscriptionFigures.Content(state: state, price: price)
        )
    }

    mutating func lockouts() -> [Lockouts.Cause: Milliseconds]? {
        guard let count = integer(), (0...Int64(bytes.count)).contains(count) else { return nil }
        var lockouts: [Lockouts.Cause: Milliseconds] = [:]
        for _ in 0..<count {
            guard let cause = text().flatMap(Lockouts.Cause.init), let length = integer() else {
                return nil
            }
            lockouts[cause] = Milliseconds(length)
        }
        return lockouts
    }

    mutating func failure() -> FailureFigures? {
        guard let enteredAt = instant(), let count = integer(),
            (0...Int64(bytes.count)).contains(count)
        else { return nil }
        var changes: [FailureFigures.Change] = []
        for _ in 0..<count {
            guard let at = instant(), let state = byte().flatMap(FailureState.init) else {
                return nil
            }
            changes.append(FailureFigures.Change(at: at, state: state))
        }
        switch byte() {
        case FiguresForm.PriceKind.unknown:
            return FailureFigures(enteredAt: enteredAt, price: nil, changes: changes)
        case FiguresForm.PriceKind.known:
            return money().map {
                FailureFigures(enteredAt: enteredAt, price: $0, changes: changes)
            }
        default: return nil
        }
    }

    private mutating func byte() -> UInt8? {
        guard position < bytes.count else { return nil }
        position += 1
        return bytes[position - 1]
    }

    mutating func integer() -> Int64? {
        var number: UInt64 = 0
        var shift: UInt64 = 0
        while let byte = byte(), shift < 64 {
            number |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return Int64(bitPattern: number >> 1) ^ -Int64(number & 1) }
            shift += 7
        }
        return nil
    }

    private mutating func instant() -> Instant? {
        guard let difference = integer() else { return nil }
        last = last &+ difference
        return Instant(millisecondsSince1970: last)
    }

    private mutating func money() -> Money? {
        guard let milliunits = integer(), let currency = text() else { return nil }
        return Money(milliunits: milliunits, currency: currency)
    }

    private mutating func text() -> String? {
        guard let length = integer(), length >= 0, length <= bytes.count - position else {
            return nil
        }
        defer { position += Int(length) }
        return String(decoding: bytes[position..<position + Int(length)], as: UTF8.self)
    }
}
