import TideoverJSON

/// JSON that the store has written, saved as its text in a state.
struct KeptJSON: Codable {
    let object: JSONObject

    init(_ object: JSONObject) { self.object = object }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let object = JSONValue(try JSONDocument(Array(text.utf8)).root).object else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "this is no object"
            )
        }
        self.object = object
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(String(decoding: JSONValue.object(object).encoded(), as: UTF8.self))
    }
}

/// A document that the store has signed, saved as its text.
private struct KeptDocument: Codable {
    let value: JSONValue

    init(_ value: JSONValue) { self.value = value }

    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        value = JSONValue(try JSONDocument(Array(text.utf8)).root)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(String(decoding: value.encoded(), as: UTF8.self))
    }
}

extension AppStoreNotification: Codable {
    private enum Key: String, CodingKey {
        case at, signedDate, uuid, event, customer, data, summary, transaction, renewal
    }

    /// Reads the output of `encode`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.init(
            at: try container.decode(Int64.self, forKey: .at),
            signedDate: try container.decode(Int64.self, forKey: .signedDate),
            uuid: try container.decode(String.self, forKey: .uuid),
            event: try container.decode(AppStoreEvent.self, forKey: .event),
            customer: try container.decodeIfPresent(String.self, forKey: .customer),
            data: try container.decode(KeptJSON.self, forKey: .data).object,
            summary: try container.decodeIfPresent(KeptJSON.self, forKey: .summary)?.object,
            transaction: try container.decodeIfPresent(KeptJSON.self, forKey: .transaction)?.object,
            renewal: try container.decodeIfPresent(KeptJSON.self, forKey: .renewal)?.object
        )
    }

    /// Writes it for a saved state; a receiver gets another format.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(at, forKey: .at)
        try container.encode(signedDate, forKey: .signedDate)
        try container.encode(uuid, forKey: .uuid)
        try container.encode(event, forKey: .event)
        try container.encodeIfPresent(customer, forKey: .customer)
        try container.encode(KeptJSON(data), forKey: .data)
        try container.encodeIfPresent(summary.map(KeptJSON.init), forKey: .summary)
        try container.encodeIfPresent(transaction.map(KeptJSON.init), forKey: .transaction)
        try container.encodeIfPresent(renewal.map(KeptJSON.init), forKey: .renewal)
    }
}

extension AppStoreConsumption: Codable {
    private enum Key: String, CodingKey {
        case at, transactionId, body
    }

    /// Reads the output of `encode`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.init(
            at: try container.decode(Int64.self, forKey: .at),
            transactionId: try container.decode(String.self, forKey: .transactionId),
            body: try container.decode(KeptJSON.self, forKey: .body).object
        )
    }

    /// Writes it for a saved state.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(at, forKey: .at)
        try container.encode(transactionId, forKey: .transactionId)
        try container.encode(KeptJSON(body), forKey: .body)
    }
}

extension AppStoreDevicePurchase: Codable {
    private enum Key: String, CodingKey {
        case productId, originalTransactionId, transactionId, end, isRevoked
        case signedTransaction, signedRenewalInfo
    }

    /// Reads the output of `encode`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.init(
            productId: try container.decode(String.self, forKey: .productId),
            originalTransactionId: try container.decode(
                String.self,
                forKey: .originalTransactionId
            ),
            transactionId: try container.decode(String.self, forKey: .transactionId),
            end: try container.decodeIfPresent(Int64.self, forKey: .end),
            isRevoked: try container.decode(Bool.self, forKey: .isRevoked),
            signedTransaction: try container.decode(
                KeptDocument.self,
                forKey: .signedTransaction
            ).value,
            signedRenewalInfo: try container.decodeIfPresent(
                KeptDocument.self,
                forKey: .signedRenewalInfo
            )?.value
        )
    }

    /// Writes it for a saved state.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(productId, forKey: .productId)
        try container.encode(originalTransactionId, forKey: .originalTransactionId)
        try container.encode(transactionId, forKey: .transactionId)
        try container.encodeIfPresent(end, forKey: .end)
        try container.encode(isRevoked, forKey: .isRevoked)
        try container.encode(KeptDocument(signedTransaction), forKey: .signedTransaction)
        try container.encodeIfPresent(
            signedRenewalInfo.map(KeptDocument.init),
            forKey: .signedRenewalInfo
        )
    }
}

extension PlayMessage: Codable {
    private enum Key: String, CodingKey {
        case id, publishedAt, data, customer
    }

    /// Reads the output of `encode`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.init(
            id: try container.decode(String.self, forKey: .id),
            publishedAt: try container.decode(Int64.self, forKey: .publishedAt),
            data: Array(try container.decode(String.self, forKey: .data).utf8),
            customer: try container.decodeIfPresent(String.self, forKey: .customer)
        )
    }

    /// Writes it for a saved state, with its data as text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(id, forKey: .id)
        try container.encode(publishedAt, forKey: .publishedAt)
        try container.encode(String(decoding: data, as: UTF8.self), forKey: .data)
        try container.encodeIfPresent(customer, forKey: .customer)
    }
}
