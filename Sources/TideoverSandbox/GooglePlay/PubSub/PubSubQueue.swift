import TideoverJSON

/// A pull subscription: it redelivers messages until they are acknowledged. Instants are in
/// milliseconds since 1970. https://cloud.google.com/pubsub/docs/pull
public struct PubSubQueue: Codable, Sendable {
    /// `projects/P/subscriptions/S`
    public let name: String
    private let habits: PubSubDeliveryFaults
    private var waiting: [Waiting] = []
    private var random: SeededRandom

    private struct Waiting: Codable, Sendable {
        let message: PlayMessage
        /// When it can be pulled; for a message in use, the acknowledgement deadline.
        var from: Int64
        /// The id with which it is acknowledged; nil while no receiver has it.
        var acknowledgementId: String?

        func isHeld(by ids: [String], at now: Int64) -> Bool {
            guard let acknowledgementId, from > now else { return false }
            return ids.contains(acknowledgementId)
        }
    }

    /// A pulled message.
    struct Received: Sendable {
        let acknowledgementId: String
        let message: PlayMessage

        /// Returns it with its instants on another clock than the store's.
        func resource(_ dial: StoreTimeScale) -> JSONObject {
            let message = message.dated(by: dial)
            return ["ackId": .string(acknowledgementId), "message": .object(message.resource)]
        }
    }

    /// Creates a subscription without messages.
    public init(
        name: String = "projects/tideover-rehearsal/subscriptions/pull",
        seed: UInt64,
        habits: PubSubDeliveryFaults = PubSubDeliveryFaults()
    ) {
        self.name = name
        self.habits = habits
        random = SeededRandom(seed: seed ^ 0x7075_6C6C)
    }

    /// The ids of the unacknowledged messages, oldest first.
    public var unacknowledged: [String] { waiting.map(\.message.id) }

    mutating func publish(_ message: PlayMessage) {
        forget(at: message.publishedAt)
        waiting.append(Waiting(message: message, from: message.publishedAt + habits.lag))
    }

    /// Returns the messages that are available now, oldest first, at most `count`.
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

    /// Removes the messages with these acknowledgement ids. An expired id has no effect and is no
    /// error.
    mutating func acknowledge(_ ids: [String], at now: Int64) {
        waiting.removeAll { $0.isHeld(by: ids, at: now) }
    }

    /// Sets the acknowledgement deadline to this many seconds from now; zero returns a message to
    /// the queue.
    mutating func setDeadline(of ids: [String], seconds: Int64, at now: Int64) {
        for index in waiting.indices where waiting[index].isHeld(by: ids, at: now) {
            waiting[index].from = now + seconds * 1000
            if seconds == 0 { waiting[index].acknowledgementId = nil }
        }
    }
}
