/// What receivers of a customer's events are to be told: what they were not, and what must be taken
/// back. Told again from all facts and compared with what was sent, it is the same however often and
/// whenever it is asked for.
public struct CustomerNews: Hashable, Sendable {
    /// In the order in which the undone events were sent.
    public let corrected: [Corrections.Correction]
    /// What happened and was not sent, or was sent and undone since, oldest first.
    public let unsent: [Happening]
    /// The next instant at which there is something to tell if no more is learned; nil for none.
    public let nextAt: Instant?

    /// Something that happened, or a reminder that fell due.
    public enum Happening: Hashable, Sendable, Identifiable {
        case transition(Transition)
        case reminder(Reminder)

        public var id: String {
            switch self {
            case .transition(let transition): transition.id
            case .reminder(let reminder): reminder.id
            }
        }

        /// The word for it: that of the transition, or of the reminder's deadline.
        public var kind: String {
            switch self {
            case .transition(let transition): transition.kind.rawValue
            case .reminder(let reminder): reminder.deadline.kind.rawValue
            }
        }

        /// When it took effect.
        public var at: Instant {
            switch self {
            case .transition(let transition): transition.at
            case .reminder(let reminder): reminder.deadline.at
            }
        }

        fileprivate func told(under id: String) -> Happening {
            switch self {
            case .transition(var transition):
                transition.id = id
                return .transition(transition)
            case .reminder(var reminder):
                reminder.deadline.id = id
                return .reminder(reminder)
            }
        }
    }
}

extension CustomerTimeline {
    /// How far a clock is set back at most. What was told and lies further ahead was told too early, by
    /// what was known then.
    private static let clockStep = Milliseconds.hours(2)

    /// The news by the instant that it was told until, for receivers who were sent the events of
    /// these ids, corrections included.
    public func news(since sent: some Sequence<String>) -> CustomerNews {
        let told = Told(sent)
        let reminders = reminders
        let due = reminders.filter { $0.deadline.at <= until }
        let ahead = lineages.flatMap(\.expected)
        // What is about to happen is not undone: a clock that was set back makes it look so.
        let soon = until + Self.clockStep
        let happened = Set(
            transitions.map(\.id) + ahead.filter { $0.at <= soon }.map(\.id)
                + reminders.filter { $0.deadline.at <= soon }.map(\.id)
        )
        let happenings =
            due.isEmpty
            ? transitions.map(CustomerNews.Happening.transition)
            : Self.merged(transitions, due)
        return CustomerNews(
            corrected: told.undone(where: happened),
            unsent: happenings.compactMap { happening in
                told.nextID(of: happening.id).map(happening.told(under:))
            },
            nextAt: (ahead.map(\.at) + reminders.map(\.deadline.at).filter { $0 > until }).min()
        )
    }

    private static func merged(
        _ transitions: [Transition],
        _ reminders: [Reminder]
    ) -> [CustomerNews.Happening] {
        let all =
            transitions.map(CustomerNews.Happening.transition)
            + reminders.map(CustomerNews.Happening.reminder)
        // Stable where instants are equal: a transition is told before a reminder.
        return all.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
            .map(\.element)
    }
}
