/// How Pub/Sub delivers, and how often it deviates from one delivery of each message in order,
/// which it does not guarantee. Durations are in milliseconds.
/// https://cloud.google.com/pubsub/docs/subscription-properties
public struct PubSubDeliveryFaults: Hashable, Codable, Sendable {
    /// The delay between the publication of a message and its first delivery.
    public var lag: Int64 = 1000
    /// The maximum additional delay, drawn for each message, so that one can overtake another.
    public var scatter: Int64 = 0
    /// The percentage of messages that are never delivered.
    public var lost: Int64 = 0
    /// The percentage of acknowledged messages that are delivered once more.
    public var redelivered: Int64 = 0
    /// The percentage of events that are published twice, as two messages.
    public var republished: Int64 = 0
    /// The wait after the first failed attempt; it doubles with each.
    public var shortestWait: Int64 = 10_000
    /// The longest wait between attempts.
    public var longestWait: Int64 = 600_000
    /// How long an unacknowledged message is kept.
    public var retention: Int64 = 7 * 86_400_000
    /// The time that a receiver has to acknowledge a pulled message.
    public var acknowledgementDeadline: Int64 = 10_000

    /// Creates the usual delivery: each message once and in order.
    public init() {}
}
