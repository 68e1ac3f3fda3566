package import TideoverCore
import TideoverJSON

/// The sum of the lockouts of several purchases.
package struct LockoutSum: Hashable, Sendable {
    /// The number of purchases that the store ever granted access for.
    package private(set) var purchases = 0
    /// How long the store granted access: the denominator.
    package private(set) var entitled = Milliseconds.zero
    private var judges: [Lockouts.Judge: Part] = [:]

    /// The lockouts that one judge would have caused.
    package struct Part: Hashable, Sendable {
        /// The number of purchases it denied at some time.
        package var purchases = 0
        package var causes: [Lockouts.Cause: Milliseconds] = [:]

        package var total: Milliseconds { causes.values.reduce(.zero, +) }
    }

    package init() {}

    /// Adds the lockouts of a purchase, unless the store never granted access for it.
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

    /// A sentence about our own denials; nil if they are shorter than a minute.
    var reply: String? { Lockouts.reply(denied: self[.ours].total) }
}

// MARK: - JSON

extension LockoutSum {
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
