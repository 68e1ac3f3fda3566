/// How long it takes until something happens, estimated from lives of which some are still young.
///
/// A life that was watched for ten days says nothing about day eleven. Leaving young lives out
/// wastes what they tell; counting them as failures is wrong. The product-limit estimate of Kaplan
/// and Meier uses each for as long as it was watched.
public struct KaplanMeier: Hashable, Sendable {
    /// A life: how long it was watched, and whether it ended because the thing happened.
    public struct Observation: Hashable, Sendable {
        public var time: Milliseconds
        public var happened: Bool

        public init(_ time: Milliseconds, happened: Bool) {
            self.time = time
            self.happened = happened
        }
    }

    /// A time at which it happened to somebody.
    public struct Step: Hashable, Sendable {
        public var time: Milliseconds
        /// Lives watched until just before this time.
        public var atRisk: Int
        /// To how many it happened at this time.
        public var events: Int
        /// The estimated share to which it has not happened yet, just after this time.
        public var remaining: Double
        /// Greenwood's variance of `remaining`.
        public var variance: Double
    }

    /// By time, earliest first.
    public let steps: [Step]
    /// How long each life was watched, shortest first.
    private let watched: [Milliseconds]

    /// Lives in all.
    public var count: Int { watched.count }
    /// The longest time any life was watched; beyond it nothing is known.
    public var watchedFor: Milliseconds? { watched.last }

    /// The order of the observations does not matter. At equal times what happened counts before a
    /// life drops out.
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

    /// An estimated share to which it has happened by some time.
    public struct Estimate: Hashable, Sendable {
        /// 0 to 1.
        public var value: Double
        /// Greenwood's standard error.
        public var standardError: Double
        /// Lives watched for that long without it happening before: what the estimate rests on.
        public var atRisk: Int

        /// The estimate and `z` standard errors to either side, cut at 0 and 1.
        public func interval(z: Double = Interval.confidence95) -> Interval {
            Interval(
                lower: max(0, value - z * standardError),
                upper: min(1, value + z * standardError)
            )
        }
    }

    /// The share to which it has happened by a time, that instant included. Nil when no life was
    /// watched for that long, unless it has happened to all of them.
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

    /// The time by which it has happened to half of the lives; nil when it has not.
    public var median: Milliseconds? {
        steps.first { $0.remaining <= 0.5 }?.time
    }
}

extension Array {
    /// The first position at which a condition holds that, once it holds, holds to the end.
    fileprivate func firstPosition(where holds: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
