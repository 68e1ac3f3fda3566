package import TideoverCore

/// A period with one value.
package struct ValueInterval<Value: Hashable & Sendable>: Hashable, Sendable {
    package let value: Value
    package let from: Instant
    /// The first instant after the period.
    package var until: Instant

    package init(value: Value, from: Instant, until: Instant) {
        self.value = value
        self.from = from
        self.until = until
    }

    package var length: Milliseconds { until - from }

    /// Whether the period overlaps another one.
    package func meets(from start: Instant, until end: Instant) -> Bool {
        from < end && start < until
    }
}

extension Array {
    /// Appends an interval. Extends the last one instead if they touch and have equal values.
    package mutating func append<Value>(joining interval: ValueInterval<Value>)
    where Element == ValueInterval<Value> {
        if let last, last.until == interval.from, last.value == interval.value {
            self[count - 1].until = interval.until
        } else {
            append(interval)
        }
    }

    /// Returns the intervals without those of at most a given length. The interval before each
    /// continues instead.
    package func withoutFlicker<Value>(upTo length: Milliseconds) -> [ValueInterval<Value>]
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

    /// The total length of the intervals.
    package func total<Value>() -> Milliseconds where Element == ValueInterval<Value> {
        Milliseconds(reduce(0) { $0 + $1.length.count })
    }
}
