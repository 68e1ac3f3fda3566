package import TideoverCore
import TideoverJSON

/// Lockouts of several purchases taken together.
package struct LockoutSum: Hashable, Sendable {
    /// How many purchases the store ever vouched for.
    package private(set) var purchases = 0
    /// How long it did: the denominator.
    package private(set) var entitled = Milliseconds.zero
    private var judges: [Lockouts.Judge: Part] = [:]

    /// What one judge would have cost.
    package struct Part: Hashable, Sendable {
        /// How many purchases it denied for a while.
        package var purchases = 0
        package var causes: [Lockouts.Cause: Milliseconds] = [:]

        package var total: Milliseconds { causes.values.reduce(.zero, +) }
    }

    package init() {}

    /// Of a purchase that the store never vouched for nothing is counted.
    package mutating func add(_ lockouts: Lockouts) {
        guard lockouts.entitled > .zero else { return }
        purchases += 1
        entitled = entitled + lockouts.entitled
        for judge in Lockouts.Judge.allCases where lockouts.total(judge) > .zero {
            judges[judge, default: Part()].purchases += 1
            for cause in Lockouts.Cause.allCases where lockouts.total(judge, cause) > .zero {
                judges[judge, default: Part()].causes[cause, default: .zero] =
                    (judges[judge]?.causes[cause] ?? .zero) + lockouts.total(judge, cause)
            }
        }
    }

    package subscript(_ judge: Lockouts.Judge) -> Part { judges[judge] ?? Part() }

    /// A sentence on what we denied; nil where it is less than a minute.
    var reply: String? { Lockouts.reply(denied: self[.ours].total) }
}

// MARK: - JSON

extension LockoutSum {
    /// Times are in minutes.
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
