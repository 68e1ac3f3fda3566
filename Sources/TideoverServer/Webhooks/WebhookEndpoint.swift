package import TideoverConfiguration
package import TideoverCore
package import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// A receiver of an app's events.
package struct WebhookEndpoint: Sendable {
    package let app: String
    /// Unique in the app.
    package let id: String
    package let url: String
    package let events: WebhookFilter
    /// The environments with the events; all if empty.
    package let environments: [Environment]
    /// Networks that are not public but allowed.
    package let allowNetworks: [IPNetwork]
    package let signer: WebhookSigner
    package let format: WebhookFormat
    /// The value of the `Authorization` header of each message; nil for none.
    let authorization: String?
    /// Whether it is in the configuration, not only in the storage.
    package let isConfigured: Bool

    /// Creates a configured receiver.
    package init(
        app: String,
        id: String,
        url: String,
        events: WebhookFilter,
        environments: [Environment] = [],
        allowNetworks: [IPNetwork],
        signer: WebhookSigner,
        format: WebhookFormat = .tideover,
        authorization: String? = nil
    ) {
        self.app = app
        self.id = id
        self.url = url
        self.events = events
        self.environments = environments
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
        environments: [Environment],
        secret: WebhookSecret,
        format: WebhookFormat = .tideover,
        authorization: String? = nil
    ) {
        self.app = app
        self.id = id
        self.url = url
        self.events = events
        self.environments = environments
        allowNetworks = []
        signer = WebhookSigner(secrets: [secret])
        self.format = format
        self.authorization = authorization
        isConfigured = false
    }

    /// Reads an added receiver from the storage; nil for a configured one.
    init?(_ record: WebhookRecord) {
        guard let root = try? JSONDocument(record.form, limits: .local).root,
            let stored = try? Stored(form: root, "webhook"),
            let events = WebhookFilter(stored.events),
            let secret = WebhookSecret(stored.secret)
        else { return nil }
        self.init(
            app: record.key.app,
            id: record.key.id,
            url: stored.url,
            events: events,
            environments: stored.environments,
            secret: secret,
            format: stored.format,
            authorization: stored.authorization
        )
    }

    /// What is stored of an added receiver.
    private struct Stored: FormObject {
        let url: String
        let events: [String]
        let environments: [Environment]
        let secret: String
        let format: WebhookFormat
        let authorization: String?

        static func form<Fields: FormFields>(
            _ fields: inout Fields,
            _ stored: Self?
        ) throws(Fields.Failure) -> Self {
            Self(
                url: try fields.required("url", stored?.url),
                events: try fields.optional("events", stored?.events) ?? [],
                environments: try fields.optional(
                    "environments",
                    stored?.environments,
                    else: []
                ),
                secret: try fields.required("secret", stored?.secret),
                format: try fields.optional("format", stored?.format) ?? .tideover,
                authorization: try fields.optional("authorization", stored?.authorization)
            )
        }
    }

    var key: WebhookKey { WebhookKey(app: app, id: id) }

    /// Returns whether an event is sent. RevenueCat has none for those that are not about one
    /// purchase, except a transfer and a change of the answer by an extension.
    func receives(_ event: OutboxEvent) -> Bool {
        let (kind, environment) = (event.event.kind, event.customer.environment)
        guard events.matches(kind), environments.isEmpty || environments.contains(environment)
        else { return false }
        switch format {
        case .tideover: return true
        case .revenueCat:
            guard ![ChangeEvents.kind, PurchaseMove.eventKind].contains(kind) else { return true }
            return Transition.Kind(rawValue: kind).map { $0 != .cleanupDue } ?? false
        }
    }

    /// The stored form. The secrets of a configured receiver stay in their files.
    var form: [UInt8] {
        JSONWriter.object { writer in
            guard !isConfigured, let secret = signer.secrets.first else { return }
            let stored = Stored(
                url: url,
                events: events.patterns,
                environments: environments,
                secret: secret.text,
                format: format,
                authorization: authorization
            )
            stored.writeFields(to: &writer)
        }
    }
}

extension WebhookFormat: FormWord {}

/// Sends the messages of webhooks over the network.
package struct WebhookSending: Sendable {
    /// Sends a request to a URL. Redirects are not followed, time and size are limited, and the
    /// host's address must be public or of an allowed network.
    package typealias Send =
        @Sendable (
            _ url: String, _ allowNetworks: [IPNetwork], _ request: Request
        ) async -> WebhookResult

    /// The real time, which receivers compare with their own, even if the service's is simulated.
    let clock: Clock
    let send: Send

    package init(clock: @escaping Clock, send: @escaping Send) {
        self.clock = clock
        self.send = send
    }
}

/// The configured receivers, and the connection to them.
package struct WebhookSetup: Sendable {
    let configured: [WebhookEndpoint]
    /// Nil if this service sends nothing.
    let sending: WebhookSending?

    package init(configured: [WebhookEndpoint] = [], sending: WebhookSending? = nil) {
        self.configured = configured
        self.sending = sending
    }
}
