public import TideoverJSON

/// An Ed25519 public key (RFC 8032). It verifies signatures from any number of threads.
///
/// This folder has no dependencies. Only `isSignature` calls a cryptographic library: libcrypto
/// here, possibly a different one on a device.
public struct Ed25519PublicKey: Hashable, Sendable {
    /// The number of bytes in a key.
    public static let byteCount = 32

    /// The key as RFC 8032 encodes it.
    public let bytes: [UInt8]

    /// Creates a key from 32 bytes; throws `malformed` for any other count.
    public init(bytes: [UInt8]) throws(KeyError) {
        guard bytes.count == Self.byteCount else { throw .malformed }
        self.bytes = bytes
    }

    /// Reads a key from a PEM text labelled `PUBLIC KEY` (RFC 8410); throws `notPEM` or
    /// `notEd25519`.
    public init(pem: String) throws(KeyError) {
        guard let der = PEM.decode(pem, label: Self.pemLabel) else { throw .notPEM }
        guard der.starts(with: Self.spkiPrefix) else { throw .notEd25519 }
        try self.init(bytes: Array(der.dropFirst(Self.spkiPrefix.count)))
    }

    /// The key as a `SubjectPublicKeyInfo` in PEM.
    public var pem: String { PEM.encode(Self.spkiPrefix + bytes, label: Self.pemLabel) }

    /// Returns whether `signature` is this key's signature of `message`; false unless it has 64
    /// bytes.
    public func verify(signature: [UInt8], of message: some Collection<UInt8>) -> Bool {
        guard signature.count == JWS.signatureByteCount else { return false }
        return isSignature(signature, of: Array(message), by: bytes)
    }

    private static let pemLabel = "PUBLIC KEY"

    /// The bytes of an Ed25519 `SubjectPublicKeyInfo` before the key.
    private static let spkiPrefix: [UInt8] = [
        0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
    ]
}

// MARK: - JSON Web Keys

extension Ed25519PublicKey {
    /// Reads a key from a JSON Web Key (RFC 8037); nil for another kind of key, or one that is not
    /// for signatures.
    public init?(jwk: JSONNode) {
        guard jwk["kty"]?.string == "OKP", jwk["crv"]?.string == "Ed25519",
            jwk["use"]?.string ?? "sig" == "sig",
            let text = jwk["x"]?.utf8, let bytes = Base64.decode(text, .urlSafe),
            bytes.count == Self.byteCount
        else { return nil }
        self.bytes = bytes
    }

    /// The members that identify the key, in the order of RFC 7638.
    var jwk: JSONObject {
        ["crv": "Ed25519", "kty": "OKP", "x": .string(Base64.encodeString(bytes, .urlSafe))]
    }
}
