import TideoverCore
public import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// A receiver of an app's events.
public struct WebhookEndpoint: Sendable {
    public let app: String
    /// Unique in the app.
    public let id: String
    public let url: String
    public let events: WebhookFilter
    /// Networks that are not public but allowed.
    public let allowNetworks: [IPNetwork]
    public let signer: WebhookSigner
    public let format: WebhookFormat
    /// The value of the `Authorization` header of each message; nil for none.
    let authorization: String?
    /// Whether it is in the configuration, not only in the storage.
    public let isConfigured: Bool

    /// Creates a configured receiver.
    public init(
        app: String,
        id: String,
        url: String,
        events: WebhookFilter,
        allowNetworks: [IPNetwork],
        signer: WebhookSigner,
        format: WebhookFormat = .tideover,
        authorization: String? = nil
    ) {
        self.app = app
        self.id = id
        self.url = url
        self.events = events
        self.allowNetworks = allowNetworks
        self.signer = signer
        self.format = format
        self.authorization = authorization
        isConfigured = true
    }

    /// Creates a receiver that an operator added. Only public addresses are allowed.
    init(
        app: String,
        id: String,
        url: String,
        events: WebhookFilter,
        secret: WebhookSecret,
        format: WebhookFormat = .tideover,
        authorization: String? = nil
    ) {
        self.app = app
        self.id = id
        self.url = url
        self.events = events
        allowNetworks = []
        signer = WebhookSigner(secrets: [secret])
        self.format = format
        self.authorization = authorization
        isConfigured = false
    }

    /// Reads an added receiver from the storage; nil for a configured one.
    init?(_ record: WebhookRecord) {
        guard let root = try? JSONDocument(record.form, limits: .local).root,
            let url = root["url"]?.string,
            let events = WebhookFilter(root["events"]?.elements.compactMap(\.string) ?? []),
            let secret = root["secret"]?.string.flatMap({ WebhookSecret($0) }),
            let format = WebhookFormat(rawValue: root["format"]?.string ?? "tideover")
        else { return nil }
        self.init(
            app: record.key.app,
            id: record.key.id,
            url: url,
            events: events,
            secret: secret,
            format: format,
            authorization: root["authorization"]?.string
        )
    }

    var key: WebhookKey { WebhookKey(app: app, id: id) }

    /// Returns whether events of a kind are sent. RevenueCat has none for those that are not about
    /// one purchase.
    func receives(_ kind: String) -> Bool {
        guard events.matches(kind) else { return false }
        switch format {
        case .tideover: return true
        case .revenueCat:
            return Transition.Kind(rawValue: kind).map { $0 != .cleanupDue } ?? false
        }
    }

    /// The stored form. The secrets of a configured receiver stay in their files.
    var form: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            guard !isConfigured else { return }
            writer.field("url", url)
            writer.field("events", .array(events.patterns.map(JSONValue.string)))
            writer.field("secret", signer.secrets.first?.text)
            writer.field("format", format.rawValue)
            if let authorization { writer.field("authorization", authorization) }
        }
        return writer.bytes
    }
}

/// The rule for the URL of a receiver.
package enum WebhookURL {
    /// Whether a URL is `https`, or has an address of an allowed network as its host. Names are
    /// resolved later, and their addresses are checked at each connection.
    package static func isProtected(_ url: String, _ allowNetworks: [IPNetwork]) -> Bool {
        if url.hasPrefix("https://") { return true }
        let authority = url.dropFirst("http://".count).prefix { !"/?#".contains($0) }
        let host =
            authority.first == "["
            ? authority.dropFirst().prefix { $0 != "]" } : authority.prefix { $0 != ":" }
        guard let address = IPAddress(host) else { return false }
        return allowNetworks.contains { $0.contains(address) }
    }
}

/// Sends the messages of webhooks over the network.
public struct WebhookSending: Sendable {
    /// Sends a request to a URL. Redirects are not followed, time and size are limited, and the
    /// host's address must be public or of an allowed network.
    public typealias Send =
        @Sendable (
            _ url: String, _ allowNetworks: [IPNetwork], _ request: Request
        ) async -> WebhookResult

    /// The real time, which receivers compare with their own, even if the service's is simulated.
    let clock: Clock
    let send: Send

    public init(clock: @escaping Clock, send: @escaping Send) {
        self.clock = clock
        self.send = send
    }
}

/// The configured receivers, and the connection to them.
public struct WebhookSetup: Sendable {
    let configured: [WebhookEndpoint]
    /// Nil if this service sends nothing.
    let sending: WebhookSending?

    public init(configured: [WebhookEndpoint] = [], sending: WebhookSending? = nil) {
        self.configured = configured
        self.sending = sending
    }
}
