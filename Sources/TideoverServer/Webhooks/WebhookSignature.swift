package import TideoverCore
package import TideoverHTTP
import TideoverJSON
import TideoverSignatures

/// A symmetric secret of Standard Webhooks: `whsec_` and 24 to 64 bytes in Base64.
/// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
package struct WebhookSecret: Hashable, Sendable {
    let bytes: [UInt8]

    /// Parses a secret; nil for any other text.
    package init?(_ text: some StringProtocol) {
        guard text.hasPrefix(Self.prefix),
            let bytes = Base64.decode(Array(text.dropFirst(Self.prefix.count).utf8), .standard),
            (24...64).contains(bytes.count)
        else { return nil }
        self.bytes = bytes
    }

    /// Creates a secret of 32 random bytes.
    package init(random: () -> UInt64) {
        bytes = randomBytes(32, random)
    }

    package var text: String { Self.prefix + Base64.encodeString(bytes, .standard) }

    private static let prefix = "whsec_"
}

/// A private key of Standard Webhooks: `whsk_` and the seed of an Ed25519 key in Base64, with or
/// without the public key after it.
package struct WebhookSigningKey: Sendable {
    let key: Ed25519PrivateKey
    private let seed: [UInt8]

    /// Parses a key; nil for any other text.
    package init?(_ text: some StringProtocol) {
        guard text.hasPrefix(Self.prefix),
            let bytes = Base64.decode(Array(text.dropFirst(Self.prefix.count).utf8), .standard),
            [32, 64].contains(bytes.count),
            let key = try? Ed25519PrivateKey(seed: Array(bytes.prefix(32))),
            bytes.count == 32 || Array(bytes.suffix(32)) == key.publicKey.bytes
        else { return nil }
        self.key = key
        seed = Array(bytes.prefix(32))
    }

    /// Creates a random key.
    package init(random: () -> UInt64) {
        let seed = randomBytes(32, random)
        guard let key = try? Ed25519PrivateKey(seed: seed) else {
            preconditionFailure("any 32 bytes are the seed of an Ed25519 key")
        }
        self.key = key
        self.seed = seed
    }

    package var text: String {
        Self.prefix + Base64.encodeString(seed + key.publicKey.bytes, .standard)
    }

    /// The public key for receivers.
    package var publicText: String {
        "whpk_" + Base64.encodeString(key.publicKey.bytes, .standard)
    }

    private static let prefix = "whsk_"
}

/// Signs the messages of a webhook with all of its secrets and keys.
package struct WebhookSigner: Sendable {
    let secrets: [WebhookSecret]
    let keys: [WebhookSigningKey]

    package init(secrets: [WebhookSecret], keys: [WebhookSigningKey] = []) {
        self.secrets = secrets
        self.keys = keys
    }

    /// Returns the headers of a message that is sent at an instant.
    package func headers(id: String, at now: Instant, body: [UInt8]) -> Headers {
        let seconds = now.millisecondsSince1970 / 1_000
        let message = Array("\(id).\(seconds).".utf8) + body
        let codes = secrets.map { secret in
            "v1,"
                + Base64.encodeString(
                    HMACSHA256.code(of: message, under: secret.bytes),
                    .standard
                )
        }
        let signatures = keys.map {
            "v1a," + Base64.encodeString($0.key.sign(message), .standard)
        }
        return [
            "Content-Type": "application/json",
            "webhook-id": id,
            "webhook-timestamp": String(seconds),
            "webhook-signature": (codes + signatures).joined(separator: " "),
        ]
    }
}
