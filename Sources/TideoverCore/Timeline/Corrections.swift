/// What receivers of events must be told when late facts changed the past: which events they were
/// sent never happened after all, and which they were not sent.
///
/// Nothing is patched: the story is told again from all facts and compared with what was sent. An
/// event that is undone and later true again goes out under its id with a number behind it.
public struct Corrections: Hashable, Sendable {
    /// In the order in which the undone events were sent.
    public let corrected: [Correction]
    /// Happenings never sent, or sent and undone since, oldest first: late ones and new ones.
    public let unsent: [Transition]

    /// An event that takes back another one.
    public struct Correction: Hashable, Sendable, Identifiable {
        /// The word for it beside the kinds of transition.
        public static let kind = "corrected"
        public let id: String
        /// The id of the event that did not happen after all.
        public let undone: String
    }

    /// `sent` has the ids of all events that went out so far, corrections included; `timeline` what
    /// is known now to have happened.
    public init(sent: some Sequence<String>, timeline: some Sequence<Transition>) {
        let happened = Array(timeline)
        let told = Told(sent)
        corrected = told.undone(where: Set(happened.map(\.id)))
        unsent = happened.compactMap { transition in
            told.nextID(of: transition.id).map { id in
                var again = transition
                again.id = id
                return again
            }
        }
    }
}

/// The ids of the events that went out so far, corrections included.
struct Told {
    private let ids: [String]
    private let known: Set<String>
    private let hasCorrections: Bool

    init(_ ids: some Sequence<String>) {
        self.ids = Array(ids)
        known = Set(self.ids)
        hasCorrections = self.ids.contains(where: Self.isCorrection)
    }

    /// The events that did not happen after all, in the order in which they were sent; `happened` has
    /// the ids of what did.
    func undone(where happened: Set<String>) -> [Corrections.Correction] {
        var undone = Set<String>()
        return ids.compactMap { id in
            guard !happened.contains(Self.first(of: id)), !Self.isCorrection(id) else { return nil }
            let correction = Corrections.Correction(id: Self.correction(of: id), undone: id)
            guard !known.contains(correction.id), undone.insert(id).inserted else { return nil }
            return correction
        }
    }

    /// Under which id a happening is to be sent; nil where it was sent and not taken back.
    func nextID(of happening: String) -> String? {
        var id = happening
        var count = 1
        while hasCorrections, known.contains(Self.correction(of: id)) {
            count += 1
            id = "\(happening)-\(count)"
        }
        return known.contains(id) ? nil : id
    }

    private static let mark = "-corrected"

    private static func correction(of id: String) -> String { id + mark }

    private static func isCorrection(_ id: String) -> Bool { id.hasSuffix(mark) }

    /// The id as it was first sent, without the number behind it.
    private static func first(of id: String) -> String {
        id.utf8.firstIndex(of: UInt8(ascii: "-")).map { String(id[..<$0]) } ?? id
    }
}
