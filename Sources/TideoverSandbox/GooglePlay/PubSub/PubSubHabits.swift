/// How Pub/Sub delivers, and how far it falls short of one delivery of each message in order, which it
/// does not promise. Lengths of time are in milliseconds.
/// https://cloud.google.com/pubsub/docs/subscription-properties
public struct PubSubHabits: Hashable, Codable, Sendable {
    /// How long after a message was published it is first delivered.
    public var lag: Int64 = 1000
    /// How much longer that may take, drawn for each message: one may overtake another.
    public var scatter: Int64 = 0
    /// Of a hundred messages, how many are never delivered.
    public var lost: Int64 = 0
    /// Of a hundred messages that were acknowledged, how many are delivered once more all the same.
    public var redelivered: Int64 = 0
    /// Of a hundred events, how many are published twice, as two messages.
    public var republished: Int64 = 0
    /// The wait after the first attempt that failed; it doubles with each.
    public var shortestWait: Int64 = 10_000
    /// The longest wait between attempts.
    public var longestWait: Int64 = 600_000
    /// How long a message is kept that nobody acknowledges.
    public var retention: Int64 = 7 * 86_400_000
    /// How long whoever pulled a message has for acknowledging it.
    public var acknowledgementDeadline: Int64 = 10_000

    /// Each message once and in order, as nearly always.
    public init() {}
}
