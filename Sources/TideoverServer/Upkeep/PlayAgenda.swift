import TideoverCore
import TideoverLocks

/// What is to be done about each lineage of Google Play and when: made from the stored facts at the start,
/// and again for each lineage of which something is committed. Nothing is lost with it.
final class PlayAgenda: Sendable {
    /// How often it was tried in vain to tell the store something.
    struct Tries: Equatable {
        var count = 0
        var lastAt = Instant.distantPast
    }

    /// Purchases of which the store has not been told that they were granted.
    struct Reading: Equatable {
        var awaited = 0
        /// Those among them for which most of the time has gone by.
        var late = 0
    }

    private struct Entry {
        let at: Instant
        let acknowledgements: [PlayPlan.Acknowledgement]
    }

    private struct State {
        var entries: [Lineage: Entry] = [:]
        /// Not later than any entry; looked for again when it has passed.
        var earliest = Instant.distantFuture
        var changed: Set<Lineage> = []
        var tries: [Lineage: Tries] = [:]
        var alarmed: Set<PlayToken> = []
        /// Until when nothing is due: the store wants to be left alone.
        var restsUntil = Instant.distantPast
    }

    private let state = Locked(State())

    /// Something was committed of a lineage: its plan may be another now.
    func note(_ lineage: Lineage) { state.withLock { _ = $0.changed.insert(lineage) } }

    func takeChanged() -> [Lineage] {
        state.withLock { state in
            defer { state.changed = [] }
            return state.changed.sorted()
        }
    }

    /// Takes a lineage's plan in, nothing of it before `notBefore`; `acknowledges` says whether the store
    /// is told of what was granted.
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

    /// Leaves a lineage alone until an instant.
    func putOff(_ lineage: Lineage, until instant: Instant) {
        state.withLock { state in
            let known = state.entries[lineage]?.acknowledgements ?? []
            state.entries[lineage] = Entry(at: instant, acknowledgements: known)
            state.earliest = min(state.earliest, instant)
        }
    }

    /// The lineages of which something is due, those due longest first.
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

    /// When the next thing is due; nil where nothing is to be done.
    var next: Instant? {
        state.withLock { state in
            state.entries.values.map(\.at).min().map { max($0, state.restsUntil) }
        }
    }

    /// Has nothing fall due before an instant.
    func rest(until instant: Instant) {
        state.withLock { $0.restsUntil = max($0.restsUntil, instant) }
    }

    func isResting(at now: Instant) -> Bool { state.withLock { now < $0.restsUntil } }

    // MARK: Telling the store

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

    /// Those that are late, each once.
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

extension PlayAgenda.Tries {
    private static let shortest = Milliseconds.minutes(1)
    private static let longest = Milliseconds.hours(1)

    /// When it is tried next: ever later, and never given up.
    fileprivate var next: Instant {
        guard count > 0 else { return .distantPast }
        let doubled = Milliseconds(Self.shortest.count << min(count - 1, 10))
        return lastAt + min(doubled, Self.longest)
    }
}
