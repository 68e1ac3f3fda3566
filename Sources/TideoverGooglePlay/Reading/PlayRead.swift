package import TideoverCore
import TideoverJSON

/// One response of the Play Developer API in the form stored as evidence. Responses are not signed,
/// so the request and its time are stored too. It can be read again at any time.
package struct PlayRead: Hashable, Sendable {
    package let kind: Kind
    package let packageName: String
    /// The purchase token of the request, a secret; nil for lists.
    package let purchaseToken: String?
    package let exchange: StoreExchange
    /// The response as received.
    package let answer: [UInt8]

    /// The kind of request.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case subscription, product, voidedPurchases
        /// A subscription that ended too long ago for the store to answer.
        case endedSubscription
    }

    /// Creates a read from a response about a subscription, a one-time purchase or a list.
    package init<Content>(
        _ kind: Kind,
        of purchaseToken: String?,
        in packageName: String,
        _ answer: PlayAnswer<Content>
    ) {
        self.kind = kind
        self.packageName = packageName
        self.purchaseToken = purchaseToken
        exchange = answer.exchange
        self.answer = answer.body
    }

    /// Records that the store no longer answers for a subscription, because it ended more than 60
    /// days ago (410).
    package init(
        endedSubscription purchaseToken: String,
        in packageName: String,
        _ exchange: StoreExchange
    ) {
        kind = .endedSubscription
        self.packageName = packageName
        self.purchaseToken = purchaseToken
        self.exchange = exchange
        answer = Array("{}".utf8)
    }
}

extension PlayRead {
    /// The stored form. It contains the response unchanged.
    package var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("googlePlay", kind.rawValue)
            writer.field("packageName", packageName)
            writer.field("purchaseToken", purchaseToken)
            writer.field("askedAt", exchange.askedAt.rfc3339)
            writer.field("answeredAt", exchange.answeredAt.rfc3339)
            writer.field("dated", exchange.dated?.rfc3339)
            writer.key("answer")
            writer.raw(answer)
        }
        return writer.bytes
    }

    /// Parses the stored form.
    package init(_ bytes: [UInt8]) throws(PlayRefusal) {
        let fields = try WireFields(JSONDocument(google: bytes, limits: .local).root)
        guard let kind = try fields.value("googlePlay", { $0.string.flatMap(Kind.init) }) else {
            throw fields.missing("googlePlay")
        }
        guard let packageName = try fields.text("packageName") else {
            throw fields.missing("packageName")
        }
        guard let askedAt = try fields.date("askedAt") else { throw fields.missing("askedAt") }
        guard let answeredAt = try fields.date("answeredAt") else {
            throw fields.missing("answeredAt")
        }
        guard let answer = try fields.fields("answer") else { throw fields.missing("answer") }
        self.kind = kind
        self.packageName = packageName
        purchaseToken = try fields.text("purchaseToken")
        exchange = StoreExchange(
            askedAt: askedAt,
            answeredAt: answeredAt,
            dated: try fields.date("dated")
        )
        self.answer = Array(answer.source)
    }
}
