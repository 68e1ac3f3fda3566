import TideoverCore
import TideoverLocks

/// A queue of the due work for each Google Play lineage. It is built from the stored facts at
/// startup, and updated for each lineage with a commit. It contains no data of its own.
final class PollQueue: Sendable {
    /// The failed attempts to acknowledge a purchase.
    struct Tries: Equatable {
        var count = 0
        var lastAt = Instant.distantPast
    }

    /// The number of purchases that await acknowledgement.
    struct Reading: Equatable {
        var awaited = 0
        /// Those of them with most of their time passed.
        var late = 0
    }

    private struct Entry {
        let at: Instant
        let acknowledgements: [PlayPlan.Acknowledgement]
    }

    private struct State {
        var entries: [Lineage: Entry] = [:]
        /// A lower bound of all entries; computed again when it has passed.
        var earliest = Instant.distantFuture
        var changed: Set<Lineage> = []
        var tries: [Lineage: Tries] = [:]
        var alarmed: Set<PlayToken> = []
        /// The end of the store's throttling, before which nothing is due.
        var restsUntil = Instant.distantPast
    }

    private let state = Locked(State())

    /// Marks a lineage as changed by a commit, so that its plan is computed again.
    func note(_ lineage: Lineage) { state.withLock { _ = $0.changed.insert(lineage) } }

    func takeChanged() -> [Lineage] {
        state.withLock { state in
            defer { state.changed = [] }
            return state.changed.sorted()
        }
    }

    /// Stores a lineage's plan, not due before `notBefore`. `acknowledges` determines whether the
    /// server acknowledges purchases.
    func put(_ plan: PlayPlan, of lineage: Lineage, notBefore: Instant, acknowledges: Bool) {
        state.withLock { state in
            if plan.acknowledgements.isEmpty { state.tries[lineage] = nil }
            let telling =
                acknowledges && !plan.acknowledgements.isEmpty
                ? state.tries[lineage, default: Tries()].next : nil
            guard let at = [plan.nextQuestion, telling].compactMap(\.self).min() else {
                state.entries[lineage] = nil
                return
            }
            let entry = Entry(
                at: max(at, notBefore),
                acknowledgements: acknowledges ? plan.acknowledgements : []
            )
            state.entries[lineage] = entry
            state.earliest = min(state.earliest, entry.at)
        }
    }

    /// Delays a lineage until an instant.
    func putOff(_ lineage: Lineage, until instant: Instant) {
        state.withLock { state in
            let known = state.entries[lineage]?.acknowledgements ?? []
            state.entries[lineage] = Entry(at: instant, acknowledgements: known)
            state.earliest = min(state.earliest, instant)
        }
    }

    /// Returns the due lineages, those due longest first.
    func due(at now: Instant, limit: Int) -> [Lineage] {
        state.withLock { state in
            guard now >= max(state.earliest, state.restsUntil) else { return [] }
            let due = state.entries.filter { $0.value.at <= now }
                .sorted { ($0.value.at, $0.key) < ($1.value.at, $1.key) }
            if due.isEmpty {
                state.earliest = state.entries.values.map(\.at).min() ?? .distantFuture
            }
            return due.prefix(limit).map(\.key)
        }
    }

    /// When work is due next; nil if there is none.
    var next: Instant? {
        state.withLock { state in
            state.entries.values.map(\.at).min().map { max($0, state.restsUntil) }
        }
    }

    /// Prevents any work from falling due before an instant.
    func rest(until instant: Instant) {
        state.withLock { $0.restsUntil = max($0.restsUntil, instant) }
    }

    func isResting(at now: Instant) -> Bool { state.withLock { now < $0.restsUntil } }

    // MARK: Acknowledgements

    func mayTell(of lineage: Lineage, at now: Instant) -> Bool {
        state.withLock { now >= $0.tries[lineage, default: Tries()].next }
    }

    func toldInVain(of lineage: Lineage, at now: Instant) {
        state.withLock { state in
            var tries = state.tries[lineage, default: Tries()]
            tries.count += 1
            tries.lastAt = now
            state.tries[lineage] = tries
        }
    }

    /// Returns the acknowledgements that became late, each once.
    func newlyLate(at now: Instant) -> [PlayPlan.Acknowledgement] {
        state.withLock { state in
            guard state.entries.values.contains(where: { !$0.acknowledgements.isEmpty }) else {
                return []
            }
            return state.entries.values.flatMap(\.acknowledgements).filter {
                $0.isLate(at: now) && state.alarmed.insert($0.token).inserted
            }
        }
    }

    func reading(at now: Instant) -> Reading {
        state.withLock { state in
            state.entries.values.flatMap(\.acknowledgements).reduce(into: Reading()) {
                $0.awaited += 1
                if $1.isLate(at: now) { $0.late += 1 }
            }
        }
    }
}

extension PollQueue.Tries {
    private static let shortest = Milliseconds.minutes(1)
    private static let longest = Milliseconds.hours(1)

    /// When the next attempt is due. The intervals grow, and attempts never stop.
    fileprivate var next: Instant {
        guard count > 0 else { return .distantPast }
        let doubled = Milliseconds(Self.shortest.count << min(count - 1, 10))
        return lastAt + min(doubled, Self.longest)
    }
}
