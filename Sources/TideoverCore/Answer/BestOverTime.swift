/// The best standing over a customer's lineages, followed forwards in time.
///
/// At each instant only the lineages that may have changed are evaluated. So the cost grows with
/// the number of changes, not with the number of changes times the number of lineages.
package struct BestOverTime {
    /// An instant from which the standing of the lineage at a position may differ.
    package struct Change {
        package let at: Instant
        package let position: Int

        package init(at: Instant, position: Int) {
            self.at = at
            self.position = position
        }
    }

    /// The result over some of the lineages.
    private struct Node {
        /// The position of the best standing.
        var best: Int
        /// The latest end of confirmed access. It may belong to another purchase than the best
        /// one, which may be active but only presumed.
        var confirmedEnd: Instant
    }

    /// Ordered by instant.
    private let changes: [Change]
    /// How many of the changes are passed.
    private var passed = 0
    /// By position; nil for a lineage that the customer does not own.
    private var standings: [Standing?]
    /// The last instant at which each lineage was evaluated.
    private var evaluatedAt: [Instant?]
    /// A tree: the node at 1 is over all lineages, and each node is over those of the two at twice
    /// its place. The last nodes are those of single lineages.
    private var nodes: [Node]

    /// Creates it from the standings at one instant and the changes after it, in order.
    package init(_ standings: [Standing?], _ changes: [Change]) {
        self.standings = standings
        self.changes = changes
        evaluatedAt = standings.map { _ in nil }
        let leaves = standings.enumerated().map { position, standing in
            Node(best: position, confirmedEnd: standing.confirmedEnd)
        }
        nodes = leaves + leaves
        for place in stride(from: leaves.count - 1, to: 0, by: -1) { join(at: place) }
    }

    /// The instants of the changes.
    var instants: [Instant] { changes.map(\.at) }

    /// The best standing; of equal ones the first by position. Nil if no lineage is owned.
    package var best: Standing? { nodes.isEmpty ? nil : standings[nodes[1].best] }

    /// The latest end of confirmed access: the far future if it is permanent, the far past if no
    /// lineage gives confirmed access.
    package var confirmedEnd: Instant { nodes.isEmpty ? .distantPast : nodes[1].confirmedEnd }

    /// Moves to a later instant. `standing` evaluates the lineage at a position there, once for
    /// each one that may have changed.
    package mutating func move(to instant: Instant, _ standing: (Int) -> Standing?) {
        while passed < changes.count, changes[passed].at <= instant {
            let position = changes[passed].position
            passed += 1
            guard evaluatedAt[position] != instant else { continue }
            evaluatedAt[position] = instant
            set(standing(position), at: position)
        }
    }

    private mutating func set(_ standing: Standing?, at position: Int) {
        standings[position] = standing
        var place = standings.count + position
        nodes[place].confirmedEnd = standing.confirmedEnd
        while place > 1 {
            place /= 2
            join(at: place)
        }
    }

    private mutating func join(at place: Int) {
        let (one, other) = (nodes[2 * place], nodes[2 * place + 1])
        let (first, second) = (min(one.best, other.best), max(one.best, other.best))
        nodes[place] = Node(
            best: isBetter(second, than: first) ? second : first,
            confirmedEnd: max(one.confirmedEnd, other.confirmedEnd)
        )
    }

    private func isBetter(_ position: Int, than other: Int) -> Bool {
        guard let standing = standings[position] else { return false }
        return standings[other].map(standing.isBetter) ?? true
    }
}

extension Standing? {
    /// The end of confirmed access; the far past without it.
    fileprivate var confirmedEnd: Instant {
        guard let self, self.access, self.confidence == .confirmed else { return .distantPast }
        return self.accessUntil ?? .distantFuture
    }
}
