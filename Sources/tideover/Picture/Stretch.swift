import TideoverCore

/// A time through which one thing held.
struct Stretch<Value: Hashable & Sendable>: Hashable, Sendable {
    let value: Value
    let from: Instant
    /// The first instant after it.
    var until: Instant

    var length: Milliseconds { until - from }

    /// Whether it has any time in common with another time.
    func meets(from start: Instant, until end: Instant) -> Bool { from < end && start < until }
}

extension Array {
    /// Adds a stretch, as a part of the last one where they touch and say the same.
    mutating func append<Value>(joining stretch: Stretch<Value>) where Element == Stretch<Value> {
        if let last, last.until == stretch.from, last.value == stretch.value {
            self[count - 1].until = stretch.until
        } else {
            append(stretch)
        }
    }

    /// The same without what lasts no longer than a length: the stretch before it goes on instead.
    func withoutFlicker<Value>(upTo length: Milliseconds) -> [Stretch<Value>]
    where Element == Stretch<Value> {
        reduce(into: []) { settled, stretch in
            if let last = settled.last, stretch.length <= length {
                settled[settled.count - 1] = Stretch(
                    value: last.value,
                    from: last.from,
                    until: stretch.until
                )
            } else {
                settled.append(joining: stretch)
            }
        }
    }

    /// How long the stretches are together.
    func total<Value>() -> Milliseconds where Element == Stretch<Value> {
        Milliseconds(reduce(0) { $0 + $1.length.count })
    }
}
