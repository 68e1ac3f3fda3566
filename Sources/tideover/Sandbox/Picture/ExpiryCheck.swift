import TideoverCore
import TideoverDashboard
import TideoverSandbox

/// The answers of an expiry-date check about one customer, during a story.
struct ExpiryCheck: Sendable {
    /// The check's data from each instant on, earliest first.
    private var knowledge: [(from: Instant, check: NaiveCheck)] = []

    /// Collects the check's data from readings about the customer, in the order of the story.
    init(_ readings: some Sequence<Reading>) {
        for reading in readings where reading.naive != knowledge.last?.check {
            knowledge.append((Instant(millisecondsSince1970: reading.at), reading.naive))
        }
    }

    /// Whether the check would grant the customer access at an instant.
    func serves(at instant: Instant) -> Bool {
        let known = knowledge.last { $0.from <= instant }
        return known?.check.serves(at: instant.millisecondsSince1970) ?? false
    }

    /// The instants at which the check's answer can change.
    var boundaries: Set<Instant> {
        let ends = knowledge.compactMap(\.check.expiresDate)
        return Set(knowledge.map(\.from) + ends.map(Instant.init(millisecondsSince1970:)))
    }

    /// The delivery time of a message. Shorter differences are ignored.
    static let messageTime = Milliseconds.minutes(5)

    /// Returns where the check's answer differs from a customer's course, until an instant.
    func mistakes(beside track: [ValueInterval<Phase>], until end: Instant) -> [ValueInterval<
        Mistake
    >] {
        let all = boundaries.union(track.map(\.from)).union(track.map(\.until))
        let instants = all.filter { $0 < end }.sorted() + [end]
        var mistakes: [ValueInterval<Mistake>] = []
        for (from, until) in zip(instants, instants.dropFirst()) {
            let isEntitled = track.contains {
                $0.value.hasAccess && $0.meets(from: from, until: until)
            }
            guard serves(at: from) != isEntitled else { continue }
            let mistake = isEntitled ? Mistake.lockedOut : .servedUnpaid
            mistakes.append(joining: ValueInterval(value: mistake, from: from, until: until))
        }
        return mistakes.filter { $0.length > Self.messageTime }
    }
}
