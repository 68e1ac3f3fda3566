package import TideoverCore
import TideoverStorage

/// Our own lockouts that became known between two instants: those visible with all facts known at
/// the second, minus those visible at the first.
package struct LockoutNews: Hashable, Sendable {
    package let since: Instant
    package let now: Instant
    /// The number of purchases with a longer denial than known before.
    package private(set) var purchases = 0
    package private(set) var causes: [Lockouts.Cause: Milliseconds] = [:]

    /// Shorter denials are the normal delay of a message, and are ignored.
    private static let shortest = Milliseconds.minutes(5)

    package init(since: Instant, now: Instant) {
        self.since = since
        self.now = now
    }

    mutating func add(_ lineageRecord: LineageRecord, _ history: PolicyHistory) {
        guard lineageRecord.facts.contains(where: { since < $0.learnedAt && $0.learnedAt <= now })
        else {
            return
        }
        let former = lineageRecord.facts.filter { $0.learnedAt <= since }
        var isLonger = false
        for entitlement in history.catalogue.entitlements(namedIn: lineageRecord.facts) {
            let before = denials(former, lineageRecord.lineage, entitlement, until: since, history)
            let after = denials(
                lineageRecord.facts,
                lineageRecord.lineage,
                entitlement,
                until: now,
                history
            )
            for (cause, length) in after {
                let more = length - (before[cause] ?? 0)
                guard more > 0 else { continue }
                causes[cause] = Milliseconds((causes[cause]?.count ?? 0) + more)
                isLonger = true
            }
        }
        if isLonger { purchases += 1 }
    }

    /// Returns the denials in milliseconds.
    private func denials(
        _ facts: [Fact],
        _ lineage: Lineage,
        _ entitlement: String,
        until instant: Instant,
        _ history: PolicyHistory
    ) -> [Lockouts.Cause: Int64] {
        let lockouts = Lockouts(
            lineage: lineage,
            facts: facts,
            entitlement: entitlement,
            until: instant,
            catalogue: history.catalogue,
            policy: history.policy
        )
        var denials: [Lockouts.Cause: Int64] = [:]
        for stretch in lockouts.stretches
        where stretch.judge == .ours && stretch.length >= Self.shortest {
            let known = denials[stretch.cause] ?? 0
            denials[stretch.cause] = known.addingSaturated(stretch.length.count)
        }
        return denials
    }

    /// The text for the log.
    var sentence: String {
        let minutes = causes.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { "\($0.key.rawValue) \($0.value.count / Milliseconds.minutes(1).count) min" }
        return "purchases \(purchases), \(minutes.joined(separator: ", ")), known since "
            + "\(since.rfc3339); see `tideover report lockouts`"
    }
}
