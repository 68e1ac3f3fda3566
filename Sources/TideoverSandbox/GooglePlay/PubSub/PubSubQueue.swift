import TideoverJSON

/// A subscription whose messages wait until they are pulled, and come again until they are acknowledged.
/// Instants are milliseconds since 1970. https://cloud.google.com/pubsub/docs/pull
public struct PubSubQueue: Codable, Sendable {
    /// `projects/P/subscriptions/S`
    public let name: String
    private let habits: PubSubHabits
    private var waiting: [Waiting] = []
    private var random: SeededRandom

    private struct Waiting: Codable, Sendable {
        let message: PlayMessage
        /// From when on it can be pulled; while somebody has it, when their time is up.
        var from: Int64
        /// With what it is acknowledged; nil while nobody has it.
        var acknowledgementId: String?

        func isHeld(by ids: [String], at now: Int64) -> Bool {
            guard let acknowledgementId, from > now else { return false }
            return ids.contains(acknowledgementId)
        }
    }

    /// What a pull brings.
    struct Received: Sendable {
        let acknowledgementId: String
        let message: PlayMessage

        /// With its instants by another clock than the store's.
        func resource(_ dial: StoreDial) -> JSONObject {
            let message = message.dated(by: dial)
            return ["ackId": .string(acknowledgementId), "message": .object(message.resource)]
        }
    }

    /// A subscription without messages.
    public init(
        name: String = "projects/tideover-rehearsal/subscriptions/pull",
        seed: UInt64,
        habits: PubSubHabits = PubSubHabits()
    ) {
        self.name = name
        self.habits = habits
        random = SeededRandom(seed: seed ^ 0x7075_6C6C)
    }

    /// The ids of the messages not acknowledged, oldest first.
    public var unacknowledged: [String] { waiting.map(\.message.id) }

    mutating func publish(_ message: PlayMessage) {
        forget(at: message.publishedAt)
        waiting.append(Waiting(message: message, from: message.publishedAt + habits.lag))
    }

    /// Hands out what can be had now, oldest first and `count` at most.
    mutating func pull(_ count: Int, at now: Int64) -> [Received] {
        forget(at: now)
        var received: [Received] = []
        for index in waiting.indices where received.count < count && waiting[index].from <= now {
            let id = random.drawHex(48)
            waiting[index].acknowledgementId = id
            waiting[index].from = now + habits.acknowledgementDeadline
            received.append(Received(acknowledgementId: id, message: waiting[index].message))
        }
        return received
    }

    private mutating func forget(at now: Int64) {
        waiting.removeAll { $0.message.publishedAt + habits.retention <= now }
    }

    /// Forgets the messages that these ids were handed out with. An id whose time is up does nothing,
    /// and is no error.
    mutating func acknowledge(_ ids: [String], at now: Int64) {
        waiting.removeAll { $0.isHeld(by: ids, at: now) }
    }

    /// Gives so many seconds from now on for acknowledging; none puts a message back.
    mutating func setDeadline(of ids: [String], seconds: Int64, at now: Int64) {
        for index in waiting.indices where waiting[index].isHeld(by: ids, at: now) {
            waiting[index].from = now + seconds * 1000
            if seconds == 0 { waiting[index].acknowledgementId = nil }
        }
    }
}
