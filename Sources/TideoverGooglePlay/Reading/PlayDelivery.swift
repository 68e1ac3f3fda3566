import TideoverCore
import TideoverJSON

/// A notification in the form stored as evidence. It includes the responses it prompted and the
/// lineages of its tokens, so that its facts can be derived again.
package struct PlayDelivery: Sendable {
    /// The Pub/Sub message ID, if known.
    package let messageId: String?
    /// The text of the ``DeveloperNotification``.
    package let notification: [UInt8]
    /// Whether the store was to be queried. If not, the facts come from the notification type
    /// alone.
    package let isAskedAbout: Bool
    package let reads: [PlayRead]
    package let chains: PlayChains

    package init(
        _ message: PubSubMessage,
        isAskedAbout: Bool,
        reads: [PlayRead],
        chains: PlayChains
    ) {
        messageId = message.messageId
        notification = message.data
        self.isAskedAbout = isAskedAbout
        self.reads = reads
        self.chains = chains
    }
}

extension PlayDelivery {
    /// The stored form. It contains the notification and the responses unchanged.
    package var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("googlePlay", "notification")
            writer.field("messageId", messageId)
            writer.field("isAskedAbout", isAskedAbout)
            writer.key("notification")
            writer.raw(notification)
            writer.field("reads", array: { for read in reads { $0.raw(read.bytes) } })
            writer.field("chains", array: { for link in chains.links { link.write(to: &$0) } })
        }
        return writer.bytes
    }

    /// Parses the stored form.
    package init(_ bytes: [UInt8]) throws(PlayRefusal) {
        let fields = try WireFields(JSONDocument(google: bytes, limits: .local).root)
        guard try fields.string("googlePlay") == "notification" else {
            throw fields.malformed("googlePlay")
        }
        guard let notification = try fields.fields("notification") else {
            throw fields.missing("notification")
        }
        messageId = try fields.text("messageId")
        self.notification = Array(notification.source)
        isAskedAbout = try fields.flag("isAskedAbout") ?? false
        reads = try fields.list("reads") { read throws(PlayRefusal) in
            try PlayRead(Array(read.source))
        }
        chains = try PlayChains(links: fields)
    }
}

extension PlayReader {
    /// Reads a stored delivery. Returns the facts of each response, or those of the notification
    /// type if the store was not queried.
    package func read(_ delivery: PlayDelivery) throws(PlayRefusal) -> [PlayReading] {
        guard delivery.isAskedAbout else {
            let document = try JSONDocument(google: delivery.notification)
            let notification = try DeveloperNotification(payload: document.root)
            return [try read(notification, chains: delivery.chains).presumed]
        }
        var readings: [PlayReading] = []
        for read in delivery.reads {
            readings.append(try self.read(read, chains: delivery.chains))
        }
        return readings
    }
}

extension PlayChains {
    /// One token and its lineage.
    struct Link {
        let token: PlayToken
        let lineage: Lineage

        func write(to writer: inout JSONWriter) {
            writer.object { writer in
                writer.field("token", token.id)
                writer.field("environment", lineage.environment.rawValue)
                writer.field("lineage", lineage.id)
            }
        }
    }

    /// The links, sorted by token.
    var links: [Link] {
        tokens.map { Link(token: $0.key, lineage: $0.value) }.sorted { $0.token < $1.token }
    }

    /// Reads the token links of a stored piece of evidence.
    init(links fields: WireFields) throws(PlayRefusal) {
        let links = try fields.list("chains", Link.init)
        self.init(Dictionary(links.map { ($0.token, $0.lineage) }) { first, _ in first })
    }
}

extension PlayChains.Link {
    init(_ fields: WireFields) throws(PlayRefusal) {
        guard let token = try fields.text("token") else { throw fields.missing("token") }
        guard let id = try fields.text("lineage") else { throw fields.missing("lineage") }
        let environment = try fields.value("environment") {
            $0.string.flatMap(Environment.init)
        }
        guard let environment else { throw fields.missing("environment") }
        self.token = PlayToken(token)
        lineage = Lineage(store: .googlePlay, environment: environment, id: id)
    }
}
