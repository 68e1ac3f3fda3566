import TideoverCore

/// A period with one value.
struct ValueInterval<Value: Hashable & Sendable>: Hashable, Sendable {
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
    mutating func append<Value>(joining interval: ValueInterval<Value>)
    where Element == ValueInterval<Value> {
        if let last, last.until == interval.from, last.value == interval.value {
            self[count - 1].until = interval.until
        } else {
            append(interval)
        }
    }

    /// Returns the stretches without those of at most a given length. The stretch before each
    /// continues instead.
    func withoutFlicker<Value>(upTo length: Milliseconds) -> [ValueInterval<Value>]
    where Element == ValueInterval<Value> {
        reduce(into: []) { settled, interval in
            if let last = settled.last, interval.length <= length {
                settled[settled.count - 1] = ValueInterval(
                    value: last.value,
                    from: last.from,
                    until: interval.until
                )
            } else {
                settled.append(joining: interval)
            }
        }
    }

    /// The total length of the stretches.
    func total<Value>() -> Milliseconds where Element == ValueInterval<Value> {
        Milliseconds(reduce(0) { $0 + $1.length.count })
    }
}
