package import TideoverCore
import TideoverJSON

/// The drifts of one app and environment by direction and cause, and how long they took to heal.
package struct DriftReport: Hashable, Sendable {
    /// The sum of all groups.
    package private(set) var all = Group()
    /// The groups by direction and cause; those without drifts are absent.
    package private(set) var groups: [Kind: Group] = [:]

    package struct Kind: Hashable, Sendable, Comparable {
        package var direction: Drift.Direction
        package var cause: Drift.Cause

        package init(_ direction: Drift.Direction, _ cause: Drift.Cause) {
            self.direction = direction
            self.cause = cause
        }

        package static func < (a: Kind, b: Kind) -> Bool {
            (a.direction.rawValue, a.cause.rawValue) < (b.direction.rawValue, b.cause.rawValue)
        }
    }

    package struct Group: Hashable, Sendable {
        package private(set) var found = 0
        package private(set) var open = 0
        /// When the oldest drift that is still open was found.
        package private(set) var openSince: Instant?
        package private(set) var healers: [Drift.Healer: Int] = [:]
        package private(set) var healing = DelayDistribution()
        /// For ended drifts, how long one side denied access that both later granted.
        package private(set) var lockout = Milliseconds.zero

        fileprivate mutating func add(_ drift: Drift) {
            found += 1
            guard let healing = drift.healing, let length = drift.timeToHeal else {
                open += 1
                openSince = min(openSince ?? drift.openedAt, drift.openedAt)
                return
            }
            healers[healing.by, default: 0] += 1
            self.healing.add(length)
            lockout = lockout + (drift.lockout ?? .zero)
        }
    }

    package init() {}

    package mutating func add(_ drift: Drift) {
        all.add(drift)
        groups[Kind(drift.direction, drift.cause), default: Group()].add(drift)
    }
}

// MARK: - JSON

extension DriftReport {
    func writeFields(to writer: inout JSONWriter) {
        all.writeFields(to: &writer)
        writer.field("kinds", objects: groups.sorted(by: { $0.key < $1.key })) { row, writer in
            let (kind, group) = row
            writer.field("direction", kind.direction.rawValue)
            writer.field("cause", kind.cause.rawValue)
            group.writeFields(to: &writer)
        }
    }
}

extension DriftReport.Group {
    fileprivate func writeFields(to writer: inout JSONWriter) {
        writer.field("found", found)
        writer.field("open", open)
        writer.field("openSince", openSince?.rfc3339)
        writer.field(
            "healedBy",
            object: { writer in
                for healer in Drift.Healer.allCases {
                    writer.field(healer.rawValue, healers[healer] ?? 0)
                }
            }
        )
        writer.field("lockoutMinutes", Double(lockout.count) / 60_000)
        writer.field(
            "timeToHeal",
            object: { writer in
                writer.field("of", healing.count)
                writer.field("medianSeconds", healing.quantile(percent: 50)?.seconds)
                writer.field("p90Seconds", healing.quantile(percent: 90)?.seconds)
            }
        )
    }
}
