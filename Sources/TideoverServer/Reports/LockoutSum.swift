package import TideoverCore
import TideoverJSON

/// The sum of the lockouts of several purchases, in total and by the version of policy and
/// catalogue in effect.
package struct LockoutSum: Hashable, Sendable {
    package private(set) var total = Figures()
    /// By when the version took effect; nil for the first.
    private var versions: [Instant?: Figures] = [:]

    package struct Figures: Hashable, Sendable {
        /// The number of purchases that the store granted access for.
        package private(set) var purchases = 0
        /// How long the store granted access: the denominator.
        package private(set) var entitled = Milliseconds.zero
        private var judges: [Lockouts.Judge: Part] = [:]
    }

    /// The lockouts that one judge would have caused.
    package struct Part: Hashable, Sendable {
        /// The number of purchases it denied at some time.
        package var purchases = 0
        package var causes: [Lockouts.Cause: Milliseconds] = [:]

        package var total: Milliseconds { causes.values.reduce(.zero, +) }
    }

    package init() {}

    /// Adds the lockouts of a purchase, one for each entitlement, unless the store never granted
    /// access for it.
    package mutating func add(_ lockouts: [Lockouts]) {
        total.add(lockouts.map { ($0.entitled, $0.total) })
        let periods = Dictionary(grouping: lockouts.flatMap(\.periods), by: \.since)
        for (since, periods) in periods {
            versions[since, default: Figures()].add(periods.map { ($0.entitled, $0.total) })
        }
    }

    /// A sentence about our own denials; nil if they are shorter than a minute.
    var reply: String? { Lockouts.reply(denied: total[.ours].total) }
}

extension LockoutSum.Figures {
    package subscript(_ judge: Lockouts.Judge) -> LockoutSum.Part {
        judges[judge] ?? LockoutSum.Part()
    }

    /// The time that the store granted access, and the part of it that a judge denied, in total or
    /// for one cause.
    fileprivate typealias Times = (
        entitled: Milliseconds,
        denied: (Lockouts.Judge, Lockouts.Cause?) -> Milliseconds
    )

    /// Adds one purchase, with the times of each of its entitlements.
    fileprivate mutating func add(_ purchase: [Times]) {
        let granted = purchase.filter { $0.entitled > .zero }
        guard !granted.isEmpty else { return }
        purchases += 1
        entitled = granted.map(\.entitled).reduce(entitled, +)
        for judge in Lockouts.Judge.allCases {
            let denied = granted.map(\.denied).filter { $0(judge, nil) > .zero }
            guard !denied.isEmpty else { continue }
            var part = self[judge]
            part.purchases += 1
            for cause in Lockouts.Cause.allCases {
                let time = denied.map { $0(judge, cause) }.reduce(.zero, +)
                guard time > .zero else { continue }
                part.causes[cause] = (part.causes[cause] ?? .zero) + time
            }
            judges[judge] = part
        }
    }
}

// MARK: - JSON

extension LockoutSum {
    /// Writes the total, and a row in `policies` for each version that decided while the store
    /// granted access, oldest first.
    func writeFields(of history: PolicyHistory, to writer: inout JSONWriter) {
        total.writeFields(to: &writer)
        let inOrder = versions.sorted { ($0.key ?? .distantPast) < ($1.key ?? .distantPast) }
        writer.field("policies", objects: inOrder) { row, writer in
            let (since, figures) = row
            history.writeVersion(at: since ?? .distantPast, to: &writer)
            figures.writeFields(to: &writer)
        }
    }
}

extension LockoutSum.Figures {
    /// Writes the fields, with times in minutes.
    func writeFields(to writer: inout JSONWriter) {
        writer.field("purchases", purchases)
        writer.field("entitledMinutes", entitled.minutes)
        for judge in Lockouts.Judge.allCases {
            let part = self[judge]
            writer.field(
                judge.rawValue,
                object: { writer in
                    writer.field("minutes", part.total.minutes)
                    writer.field("purchases", part.purchases)
                    writer.field(
                        "causes",
                        object: { writer in
                            for cause in Lockouts.Cause.allCases {
                                writer.field(cause.rawValue, (part.causes[cause] ?? .zero).minutes)
                            }
                        }
                    )
                }
            )
        }
    }
}

extension Milliseconds {
    var minutes: Double { Double(count) / 60_000 }
}
