/// The event corrections that receivers need when late facts changed the past. They list sent
/// events that did not happen, and events that were not sent.
///
/// Nothing is patched. The timeline is recomputed from all facts and compared with the sent events.
/// An event that is undone and later true again is sent under its ID with a number appended.
public struct Corrections: Hashable, Sendable {
    /// Ordered by when the undone events were sent.
    public let corrected: [Correction]
    /// Events never sent, or sent and undone since, oldest first. Includes late and new ones.
    public let unsent: [Transition]

    /// An event that undoes another one.
    public struct Correction: Hashable, Sendable, Identifiable {
        /// The value of `kind` for a correction.
        public static let kind = "corrected"
        public let id: String
        /// The ID of the event that did not happen.
        public let undone: String
    }

    /// Compares two lists of events. `sent` contains the IDs of all sent events, corrections
    /// included. `timeline` contains the transitions that are now known to have happened.
    public init(sent: some Sequence<String>, timeline: some Sequence<Transition>) {
        let happened = Array(timeline)
        let told = Told(sent)
        corrected = told.undone(
            where: Set(happened.map(\.id) + happened.flatMap(\.formerIDs))
        )
        unsent = happened.compactMap { transition in
            told.nextID(of: transition).map { id in
                var again = transition
                again.id = id
                return again
            }
        }
    }
}

/// The IDs of the sent events, corrections included.
struct Told {
    private let ids: [String]
    private let known: Set<String>
    private let hasCorrections: Bool

    init(_ ids: some Sequence<String>) {
        self.ids = Array(ids)
        known = Set(self.ids)
        hasCorrections = self.ids.contains(where: Self.isCorrection)
    }

    /// Returns corrections for the events that did not happen, in the order of sending. `happened`
    /// contains the IDs of the events that did.
    func undone(where happened: Set<String>) -> [Corrections.Correction] {
        var undone = Set<String>()
        return ids.compactMap { id in
            // Most happened, and were sent once.
            guard !happened.contains(id), !happened.contains(Self.first(of: id)),
                !Self.isCorrection(id)
            else { return nil }
            let correction = Corrections.Correction(id: Self.correction(of: id), undone: id)
            guard !known.contains(correction.id), undone.insert(id).inserted else { return nil }
            return correction
        }
    }

    /// Returns the ID under which to send an event; nil if it was sent and not undone.
    func nextID(of happening: String) -> String? {
        var id = happening
        var count = 1
        while hasCorrections, known.contains(Self.correction(of: id)) {
            count += 1
            id = "\(happening)-\(count)"
        }
        return known.contains(id) ? nil : id
    }

    /// Returns the ID under which to send a transition; nil if it was sent under any of its IDs and
    /// not undone.
    func nextID(of transition: Transition) -> String? {
        for former in transition.formerIDs where nextID(of: former) == nil { return nil }
        return nextID(of: transition.id)
    }

    private static let mark = "-corrected"

    private static func correction(of id: String) -> String { id + mark }

    private static func isCorrection(_ id: String) -> Bool { id.hasSuffix(mark) }

    /// Returns the ID as first sent, without the appended number.
    private static func first(of id: String) -> String {
        id.utf8.firstIndex(of: UInt8(ascii: "-")).map { String(id[..<$0]) } ?? id
    }
}
