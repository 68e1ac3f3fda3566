/// The events and corrections to send to receivers of a customer's events. They are recomputed from
/// all facts and compared with the sent events. So the result does not depend on when or how often
/// it is computed.
public struct CustomerNews: Hashable, Sendable {
    /// Ordered by when the undone events were sent.
    public let corrected: [Corrections.Correction]
    /// Events that were not sent, or were sent and undone since, oldest first.
    public let unsent: [Happening]
    /// The next instant with an event to send if no more is learned; nil if there is none.
    public let nextAt: Instant?

    /// A transition, a purchase's move to the customer, or a reminder or a planned message that is due.
    public enum Happening: Hashable, Sendable, Identifiable {
        case move(PurchaseMove)
        case transition(Transition)
        case reminder(Reminder)
        case message(PlannedMessage)

        public var id: String {
            switch self {
            case .move(let move): move.id
            case .transition(let transition): transition.id
            case .reminder(let reminder): reminder.id
            case .message(let message): message.id
            }
        }

        /// The kind of the event: that of the transition, or of the reminder's deadline.
        public var kind: String {
            switch self {
            case .move: PurchaseMove.eventKind
            case .transition(let transition): transition.kind.rawValue
            case .reminder(let reminder): reminder.deadline.kind.rawValue
            case .message: PlannedMessage.eventKind
            }
        }

        /// When it took effect.
        public var at: Instant {
            switch self {
            case .move(let move): move.at
            case .transition(let transition): transition.at
            case .reminder(let reminder): reminder.deadline.at
            case .message(let message): message.at
            }
        }

        fileprivate func told(under id: String) -> Happening {
            switch self {
            case .move(var move):
                move.id = id
                return .move(move)
            case .transition(var transition):
                transition.id = id
                return .transition(transition)
            case .reminder(var reminder):
                reminder.deadline.id = id
                return .reminder(reminder)
            case .message(var message):
                message.id = id
                return .message(message)
            }
        }
    }
}

extension CustomerTimeline {
    /// The largest step back of a clock. A sent event further ahead was sent too early, by the
    /// knowledge of that time.
    private static let clockStep = Milliseconds.hours(2)

    /// Returns the events to send up to `until`. `sent` contains the IDs of the sent events,
    /// corrections included. A planned message is sent while it is due and not suppressed; once
    /// sent, only a missing occasion undoes it.
    public func news(
        since sent: some Sequence<String>,
        of plan: MessagePlan = .none
    ) -> CustomerNews {
        let told = Told(sent)
        let (moves, reminders) = (moves, reminders)
        let ahead = lineages.count == 1 ? lineages[0].expected : lineages.flatMap(\.expected)
        let happened = happened(ahead, reminders, moves, plan)
        return CustomerNews(
            corrected: told.undone(where: happened),
            unsent: unsent(moves, reminders, plan, told),
            nextAt: (ahead.map(\.at) + reminders.map(\.deadline.at).filter { $0 > until }
                + plan.open(at: until).map(\.at).filter { $0 > until }).min()
        )
    }

    /// Returns the IDs of all events that happened, or are imminent. The latter are not undone,
    /// because a clock that was set back makes them look early.
    private func happened(
        _ ahead: [Transition],
        _ reminders: [Reminder],
        _ moves: [PurchaseMove],
        _ plan: MessagePlan
    ) -> Set<String> {
        let soon = until + Self.clockStep
        var ids = Set<String>(minimumCapacity: transitions.count + ahead.count + reminders.count)
        for position in transitions.indices {
            ids.insert(transitions[position].id)
            for former in transitions[position].formerIDs { ids.insert(former) }
        }
        for position in ahead.indices where ahead[position].at <= soon {
            ids.insert(ahead[position].id)
        }
        for reminder in reminders where reminder.deadline.at <= soon { ids.insert(reminder.id) }
        for message in plan.messages { ids.insert(message.id) }
        for move in moves { ids.insert(move.id) }
        return ids
    }

    /// Returns the events that happened by `until` and were not sent, oldest first, each under the
    /// ID to send it with.
    private func unsent(
        _ moves: [PurchaseMove],
        _ reminders: [Reminder],
        _ plan: MessagePlan,
        _ told: Told
    ) -> [CustomerNews.Happening] {
        var unsent: [CustomerNews.Happening] = []
        func add(
            _ id: String,
            as next: String?,
            _ happening: @autoclosure () -> CustomerNews.Happening
        ) {
            // Most were sent; they are not copied, because they are large.
            guard let next else { return }
            unsent.append(next == id ? happening() : happening().told(under: next))
        }
        func add(_ id: String, _ happening: @autoclosure () -> CustomerNews.Happening) {
            add(id, as: told.nextID(of: id), happening())
        }
        for move in moves where move.at <= until { add(move.id, .move(move)) }
        for position in transitions.indices {
            add(
                transitions[position].id,
                as: told.nextID(of: transitions[position]),
                .transition(transitions[position])
            )
        }
        for reminder in reminders where reminder.deadline.at <= until {
            add(reminder.id, .reminder(reminder))
        }
        for message in plan.due(at: until) { add(message.id, .message(message)) }
        // For equal instants, a move is sent before a transition, that before a reminder.
        return unsent.inOrder { $0.at < $1.at }
    }
}
