import TideoverJSON

/// One message of the topic that Google Play publishes to.
/// https://cloud.google.com/pubsub/docs/reference/rest/v1/PubsubMessage
public struct PlayMessage: Hashable, Sendable {
    /// The id that all deliveries of the message share.
    public let id: String
    /// When it was published, in milliseconds since 1970.
    public let publishedAt: Int64
    /// The text of a `DeveloperNotification`.
    public let data: [UInt8]
    /// The customer's name in the scenario; never sent.
    public let customer: String?

    /// Returns the same message with its instants on another clock than the store's.
    func dated(by dial: StoreTimeScale) -> PlayMessage {
        let content = try? JSONDocument(data).root
        return PlayMessage(
            id: id,
            publishedAt: dial.shown(publishedAt),
            data: content.map { dial.dated(JSONValue($0)).encoded() } ?? data,
            customer: customer
        )
    }

    /// The message as JSON, each name in both of Google's spellings.
    var resource: JSONObject {
        let time = JSONValue.string(InstantText.write(publishedAt))
        return [
            "data": .string(Base64.encodeString(data, .standard)),
            "messageId": .string(id), "message_id": .string(id),
            "publishTime": time, "publish_time": time,
        ]
    }
}
