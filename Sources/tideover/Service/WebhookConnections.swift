import TideoverCommandLine
import TideoverConfiguration
import TideoverHTTP
import TideoverHTTPClient
import TideoverServer

/// Reads the keys of the configured webhooks, and connects to their receivers.
enum WebhookConnections {
    /// Opens the files with secrets, without any request to a receiver.
    ///
    /// - Throws: `CommandFailure` for a file that cannot be read or contains no key.
    static func setup(_ configuration: Configuration) throws -> WebhookSetup {
        WebhookSetup(
            configured: try configuration.webhooks.flatMap {
                endpoints(
                    of: $0,
                    in: configuration,
                    try signer(of: $0),
                    authorization: try authorization(of: $0)
                )
            },
            sending: WebhookSending(clock: SystemClock.now, send: try send())
        )
    }

    /// Returns the configured webhooks for a service that sends nothing; opens no file.
    static func withoutSending(_ configuration: Configuration) -> WebhookSetup {
        WebhookSetup(
            configured: configuration.webhooks.flatMap {
                endpoints(of: $0, in: configuration, WebhookSigner(secrets: []))
            }
        )
    }

    private static func endpoints(
        of webhook: Configuration.Webhook,
        in configuration: Configuration,
        _ signer: WebhookSigner,
        authorization: String? = nil
    ) -> [WebhookEndpoint] {
        let apps = webhook.apps.isEmpty ? configuration.apps.map(\.id) : webhook.apps
        return apps.map { app in
            WebhookEndpoint(
                app: app,
                id: webhook.id,
                url: webhook.url,
                events: webhook.events,
                environments: webhook.environments,
                allowNetworks: webhook.allowNetworks,
                signer: signer,
                format: webhook.format,
                authorization: authorization
            )
        }
    }

    /// Many receivers may not answer for seconds, so many exchanges run at once.
    private static var limits: HTTPClientLimits {
        var limits = HTTPClientLimits()
        limits.exchanges = 1_024
        limits.waiting = 8_192
        return limits
    }

    private static func send() throws -> WebhookSending.Send {
        let client = try HTTPClient(userAgent: "tideover/\(Tideover.version)", limits: limits)
        return { url, allowNetworks, request in
            do {
                let destination = Destination(
                    try HTTPURL(url),
                    addresses: .publicOnly(allow: allowNetworks),
                    limits: .onlyHead
                )
                let response = try await client.send(request, to: destination)
                return .response(
                    status: response.status,
                    retryAfter: response.headers["Retry-After"]
                )
            } catch {
                return .failure("\(error)")
            }
        }
    }

    // MARK: Keys

    private static func signer(of webhook: Configuration.Webhook) throws -> WebhookSigner {
        let files = [
            ("secretFile", webhook.secretFile),
            ("previousSecretFile", webhook.previousSecretFile),
        ]
        var secrets: [WebhookSecret] = []
        for case (let name, let file?) in files {
            secrets.append(
                try key(webhook, name, file, "whsec_ and 24 to 64 bytes in Base64") {
                    WebhookSecret($0)
                }
            )
        }
        let signingKey = try webhook.signingKeyFile.map { file in
            try key(webhook, "signingKeyFile", file, "whsk_ and an Ed25519 key in Base64") {
                WebhookSigningKey($0)
            }
        }
        return WebhookSigner(secrets: secrets, keys: [signingKey].compactMap(\.self))
    }

    /// Returns the value of the `Authorization` header: the single line of its file.
    private static func authorization(of webhook: Configuration.Webhook) throws -> String? {
        guard let file = webhook.authorizationFile else { return nil }
        let place = "the webhook \(webhook.id): authorizationFile \(file)"
        let text: String
        do {
            text = String(decoding: try FileInput.read(file, atMost: 1 << 12), as: UTF8.self)
        } catch {
            throw CommandFailure(.configuration, "\(place): \(error)")
        }
        let lines = text.split(whereSeparator: \.isNewline)
        guard lines.count == 1, let value = lines.first.map(String.init), FieldSyntax.isValue(value)
        else {
            throw CommandFailure(.configuration, "\(place): the file must have one line of text")
        }
        return value
    }

    private static func key<Key>(
        _ webhook: Configuration.Webhook,
        _ name: String,
        _ file: String,
        _ form: String,
        _ read: (String) -> Key?
    ) throws -> Key {
        let place = "the webhook \(webhook.id): \(name) \(file)"
        let text: String
        do {
            text = String(decoding: try FileInput.read(file, atMost: 1 << 12), as: UTF8.self)
        } catch {
            throw CommandFailure(.configuration, "\(place): \(error)")
        }
        guard let key = read(text.filter { !$0.isWhitespace }) else {
            throw CommandFailure(
                .configuration,
                "\(place): expected \(form)\nCreate one with `tideover webhooks secret`."
            )
        }
        return key
    }
}
