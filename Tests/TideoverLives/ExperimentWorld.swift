package import TideoverCore

/// A year of customers with failed payments, some of whom recover because they are asked.
///
/// The truth is planted: the share that recovers within 30 days differs between the arms by
/// `effect`. The report sees only what happened by the instant of a look.
package struct ExperimentWorld: Sendable {
    package static let start: Instant = "2026-01-01"

    package let experiment: Experiment
    private let lives: [PlantedLife]

    private struct PlantedLife: Sendable {
        var arm: String
        var failedAt: Instant
        /// Nil for never.
        var recoveredAfter: Milliseconds?
        var refundedAfter: Milliseconds?
    }

    /// Creates a world of customers. `lockoutHarm` is an additional share of customers in the
    /// treated arm who ask for a refund.
    package init(
        seed: UInt64,
        customers: Int,
        effect: Double,
        harm: Double = 0
    ) {
        let experiment = Experiment(
            id: "words-\(seed)",
            entitlement: "premium",
            start: Self.start,
            arms: [.init("holdout", isHoldout: true), .init("asked")]
        )
        var random = SeededRandom(seed: seed)
        lives = (0..<customers).compactMap { number in
            CustomerID("customer-\(number)").map { customer in
                let arm = experiment.arm(of: customer).name
                return PlantedLife(
                    arm: arm,
                    failedAt: Self.start
                        + .minutes(Int64.random(in: 0..<525_600, using: &random)),
                    recoveredAfter: Self.recovery(
                        within30: 0.55 + (arm == "asked" ? effect : 0),
                        &random
                    ),
                    refundedAfter: Self.chance(0.05 + (arm == "asked" ? harm : 0), &random)
                        ? .hours(Int64.random(in: 1...480, using: &random)) : nil
                )
            }
        }
        self.experiment = experiment
    }

    /// Returns what is known at an instant, one entry for each customer who has failed by then.
    package func entries(at instant: Instant) -> [ExperimentEntry] {
        lives.filter { $0.failedAt < instant }.map { life in
            let watched = instant - life.failedAt
            func seen(_ time: Milliseconds?) -> KaplanMeier.Observation {
                let isSeen = time.map { $0 <= watched } ?? false
                return KaplanMeier.Observation(isSeen ? time ?? watched : watched, happened: isSeen)
            }
            let isLost = life.recoveredAfter.map { $0 > .days(16) } ?? true
            return ExperimentEntry(
                arm: life.arm,
                recovery: seen(life.recoveredAfter),
                lockout: seen(isLost ? .days(16) : nil),
                refund: seen(life.refundedAfter)
            )
        }
    }

    /// Returns the report of a look.
    package func report(at instant: Instant) -> ExperimentReport {
        ExperimentReport(of: entries(at: instant), in: experiment, asOf: instant)
    }

    /// Most recover within days, by the retries of the store; a few after the horizon.
    private static func recovery(
        within30 share: Double,
        _ random: inout SeededRandom
    ) -> Milliseconds? {
        if chance(share, &random) {
            let first = Int64.random(in: 1...720, using: &random)
            let second = Int64.random(in: 1...720, using: &random)
            return .hours(min(first, second))
        }
        return chance(0.05, &random) ? .hours(Int64.random(in: 721...1440, using: &random)) : nil
    }

    private static func chance(_ share: Double, _ random: inout SeededRandom) -> Bool {
        Double.random(in: 0..<1, using: &random) < share
    }
}

/// What the reports of many worlds say, looked at again and again for 13 months.
package struct ExperimentTrial: Sendable {
    package private(set) var worlds = 0
    /// Worlds in which an interval of any look missed the planted difference.
    package private(set) var missed = 0
    /// Worlds in which a difference was reported at any look.
    package private(set) var found = 0
    /// Worlds in which the ordinary interval of any look missed the planted difference.
    package private(set) var missedByOrdinary = 0
    /// Worlds without any interval.
    package private(set) var silent = 0

    package init() {}

    /// Adds a world, looked at every `days` days.
    package mutating func add(_ world: ExperimentWorld, effect: Double, every days: Int64) {
        worlds += 1
        let looks = stride(from: days, through: 395, by: Int64.Stride(days)).compactMap { day in
            world.report(at: ExperimentWorld.start + .days(day)).rows[1].difference
        }
        if looks.isEmpty { silent += 1 }
        if looks.contains(where: { !$0.interval.contains(effect) }) { missed += 1 }
        if looks.contains(where: \.isFound) { found += 1 }
        let ordinary = Interval.confidence95
        if looks.contains(where: { abs($0.value - effect) > ordinary * $0.standardError }) {
            missedByOrdinary += 1
        }
    }
}

extension Interval {
    fileprivate func contains(_ value: Double) -> Bool { lower <= value && value <= upper }
}
