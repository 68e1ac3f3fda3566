import TideoverCore

/// A period with one value.
struct Stretch<Value: Hashable & Sendable>: Hashable, Sendable {
    let value: Value
    let from: Instant
    /// The first instant after the period.
    var until: Instant

    var length: Milliseconds { until - from }

    /// Whether the period overlaps another one.
    func meets(from start: Instant, until end: Instant) -> Bool { from < end && start < until }
}

extension Array {
    /// Appends a stretch. Extends the last one instead if they touch and have equal values.
    mutating func append<Value>(joining stretch: Stretch<Value>) where Element == Stretch<Value> {
        if let last, last.until == stretch.from, last.value == stretch.value {
            self[count - 1].until = stretch.until
        } else {
            append(stretch)
        }
    }

    /// Returns the stretches without those of at most a given length. The stretch before each
    /// continues instead.
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

    /// The total length of the stretches.
    func total<Value>() -> Milliseconds where Element == Stretch<Value> {
        Milliseconds(reduce(0) { $0 + $1.length.count })
    }
}
