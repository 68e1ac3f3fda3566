import TideoverCore
import TideoverStorage

/// Our own lockouts that became known when the figures of purchases were derived again.
struct LockoutNews: Hashable, Sendable {
    /// The number of purchases with a longer denial than known before.
    private(set) var purchases = 0
    private(set) var causes: [Lockouts.Cause: Milliseconds] = [:]

    /// Compares the figures of purchases with those they had. Figures in the form of another
    /// version are not compared.
    init(_ stale: [StaleFigures], _ derived: [FiguresSubject: ReportFigures?]) {
        for purchase in stale {
            guard let now = derived[purchase.subject]??.lockouts else { continue }
            var before: [Lockouts.Cause: Milliseconds] = [:]
            if let form = purchase.form {
                guard let figures = FiguresForm.figures(form) else { continue }
                before = figures.lockouts
            }
            add(now, before)
        }
    }

    private mutating func add(
        _ now: [Lockouts.Cause: Milliseconds],
        _ before: [Lockouts.Cause: Milliseconds]
    ) {
        var isLonger = false
        for (cause, length) in now {
            let known = before[cause] ?? .zero
            guard length > known else { continue }
            let more = Milliseconds(length.count - known.count)
            causes[cause] = (causes[cause] ?? .zero) + more
            isLonger = true
        }
        if isLonger { purchases += 1 }
    }

    /// The text for the log.
    var sentence: String {
        let minutes = causes.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { "\($0.key.rawValue) \($0.value.count / Milliseconds.minutes(1).count) min" }
        return "purchases \(purchases), \(minutes.joined(separator: ", ")); "
            + "see `tideover report lockouts`"
    }
}

/// The lockouts that an alarm counts: our own of five minutes or more that ended in a range of time.
/// Shorter ones are the normal delay of a message.
struct AlarmedLockouts {
    private static let shortest = Milliseconds.minutes(5)
    /// From the start of the alarms to now.
    let range: Range<Instant>
    let history: PolicyHistory

    /// Returns how long a purchase was denied, by cause.
    func total(_ lineage: Lineage, _ facts: [Fact]) -> [Lockouts.Cause: Milliseconds] {
        guard facts.contains(where: { range.lowerBound < $0.learnedAt }) else { return [:] }
        return total(
            history.catalogue.entitlements(namedIn: facts).map { entitlement in
                Lockouts(
                    lineage: lineage,
                    facts: facts,
                    entitlement: entitlement,
                    until: range.upperBound,
                    catalogue: history.catalogue,
                    policy: history.policy
                )
            }
        )
    }

    /// Returns how long a customer was denied by purchase and cause, without the time that other
    /// access covered.
    func totals(of record: CustomerRecord) -> [Lineage: [Lockouts.Cause: Milliseconds]] {
        let lockouts = record.catalogue.entitlements.flatMap {
            record.lockouts(of: $0, until: range.upperBound)
        }
        return Dictionary(grouping: lockouts, by: \.lineage).mapValues {
            total($0.map(\.lockouts))
        }
    }

    private func total(_ lockouts: [Lockouts]) -> [Lockouts.Cause: Milliseconds] {
        lockouts.flatMap(\.stretches).filter(counts).reduce(into: [:]) { denials, stretch in
            denials[stretch.cause] = (denials[stretch.cause] ?? .zero) + stretch.length
        }
    }

    private func counts(_ stretch: Lockouts.Stretch) -> Bool {
        stretch.judge == .ours && stretch.length >= Self.shortest
            && stretch.until > range.lowerBound
    }
}
