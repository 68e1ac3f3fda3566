/// The time until an event, estimated from lives that are partly still open.
///
/// A life that was observed for ten days is no evidence for day eleven. Excluding young lives
/// wastes their data; counting them as failures is wrong. The product-limit estimate of Kaplan and
/// Meier uses each life for as long as it was observed.
public struct KaplanMeier: Hashable, Sendable {
    /// A life: how long it was observed, and whether it ended with the event.
    public struct Observation: Hashable, Sendable {
        public var time: Milliseconds
        public var happened: Bool

        public init(_ time: Milliseconds, happened: Bool) {
            self.time = time
            self.happened = happened
        }
    }

    /// A time at which the event happened to at least one life.
    public struct Step: Hashable, Sendable {
        public var time: Milliseconds
        /// Lives observed until just before this time.
        public var atRisk: Int
        /// The number of events at this time.
        public var events: Int
        /// The estimated share without the event just after this time.
        public var remaining: Double
        /// Greenwood's variance of `remaining`.
        public var variance: Double
    }

    /// Ordered by time, earliest first.
    public let steps: [Step]
    /// How long each life was observed, shortest first.
    private let watched: [Milliseconds]

    /// The number of lives.
    public var count: Int { watched.count }
    /// The longest time that any life was observed. Nothing is known beyond it.
    public var watchedFor: Milliseconds? { watched.last }

    /// Creates an estimate. The order of the observations does not matter. At equal times an event
    /// counts before a life drops out.
    public init(_ observations: some Sequence<Observation>) {
        let sorted = observations.sorted { $0.time < $1.time }
        watched = sorted.map(\.time)
        steps = Self.steps(of: sorted)
    }

    private static func steps(of sorted: [Observation]) -> [Step] {
        var steps: [Step] = []
        var remaining = 1.0
        var greenwood = 0.0
        var next = 0
        while next < sorted.count {
            let time = sorted[next].time
            let atRisk = sorted.count - next
            var events = 0
            while next < sorted.count, sorted[next].time == time {
                if sorted[next].happened { events += 1 }
                next += 1
            }
            guard events > 0 else { continue }
            let (risk, hit) = (Double(atRisk), Double(events))
            remaining *= (risk - hit) / risk
            if atRisk > events { greenwood += hit / (risk * (risk - hit)) }
            steps.append(
                Step(
                    time: time,
                    atRisk: atRisk,
                    events: events,
                    remaining: remaining,
                    variance: remaining * remaining * greenwood
                )
            )
        }
        return steps
    }

    /// An estimated share with the event by some time.
    public struct Estimate: Hashable, Sendable {
        /// 0 to 1.
        public var value: Double
        /// Greenwood's standard error.
        public var standardError: Double
        /// Lives observed for that long without an earlier event: the base of the estimate.
        public var atRisk: Int

        /// Returns the estimate plus and minus `z` standard errors, limited to 0 and 1.
        public func interval(z: Double = Interval.confidence95) -> Interval {
            Interval(
                lower: max(0, value - z * standardError),
                upper: min(1, value + z * standardError)
            )
        }
    }

    /// Returns the share with the event by a time, inclusive. Nil if no life was observed for that
    /// long, unless the event happened to all of them.
    public func happened(by time: Milliseconds) -> Estimate? {
        guard let watchedFor else { return nil }
        let position = steps.firstPosition { $0.time > time }
        let last = position > 0 ? steps[position - 1] : nil
        guard time <= watchedFor || last?.remaining == 0 else { return nil }
        return Estimate(
            value: 1 - (last?.remaining ?? 1),
            standardError: last?.variance.squareRoot() ?? 0,
            atRisk: count - watched.firstPosition { $0 >= time }
        )
    }

    /// The time by which half of the lives had the event; nil if fewer did.
    public var median: Milliseconds? {
        steps.first { $0.remaining <= 0.5 }?.time
    }
}

extension Array {
    /// Returns the first position at which a condition is true. Once true, it must stay true to the
    /// end.
    fileprivate func firstPosition(where holds: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
