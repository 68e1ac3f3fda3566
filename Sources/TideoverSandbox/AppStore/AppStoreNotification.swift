public import TideoverJSON

/// A server notification (V2) before its parts are signed. Apple's page:
/// https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2decodedpayload
public struct AppStoreNotification: Hashable, Sendable {
    /// The instant of the event in the store, in milliseconds since 1970.
    public let at: Int64
    /// The date of the outer signature, later than `at` by the time that signing took.
    public let signedDate: Int64
    /// The same in every delivery; receivers use it to detect repeats.
    public let uuid: String
    /// The event.
    public let event: AppStoreEvent
    /// The name of the customer it is about, if it is about one.
    public let customer: String?
    /// The payload's `data` without the two signed parts.
    public let data: JSONObject
    /// The replacement of `data` if it is about no single subscription.
    public let summary: JSONObject?
    /// The content of `signedTransactionInfo`.
    public let transaction: JSONObject?
    /// The content of `signedRenewalInfo`.
    public let renewal: JSONObject?

    init(
        at: Int64,
        signedDate: Int64,
        uuid: String,
        event: AppStoreEvent,
        customer: String?,
        data: JSONObject = [:],
        summary: JSONObject? = nil,
        transaction: JSONObject? = nil,
        renewal: JSONObject? = nil
    ) {
        self.at = at
        self.signedDate = signedDate
        self.uuid = uuid
        self.event = event
        self.customer = customer
        self.data = data
        self.summary = summary
        self.transaction = transaction
        self.renewal = renewal
    }

    /// The whole content as JSON, with the two signed parts as plain objects. It contains
    /// everything that a receiver learns. Unlike signatures, it is the same for the same seed.
    public var unsigned: [UInt8] {
        let parts = (transaction.map(JSONValue.object), renewal.map(JSONValue.object))
        return JSONValue.object(payload(transaction: parts.0, renewal: parts.1)).encoded()
    }

    /// Returns the outer payload with these two parts.
    package func payload(transaction: JSONValue?, renewal: JSONValue?) -> JSONObject {
        var data = data
        data["signedTransactionInfo"] = transaction
        data["signedRenewalInfo"] = renewal
        var payload: JSONObject = [:]
        payload["notificationType"] = .string(event.notificationType)
        payload["subtype"] = event.subtype.map(JSONValue.string)
        payload["notificationUUID"] = .string(uuid)
        if let summary {
            payload["summary"] = .object(summary)
        } else {
            payload["data"] = .object(data)
        }
        payload["version"] = "2.0"
        payload["signedDate"] = .integer(signedDate)
        return payload
    }
}
