public import TideoverJSON
import TideoverSignatures

/// What keeps an authority from one rehearsal to the next, so that its root need be trusted only once.
extension SandboxAuthority {
    /// The certificates and the key as a JSON object. Whoever reads it signs as this store: it belongs into
    /// a file that nobody else opens.
    public var file: JSONValue {
        [
            "certificates": .array(chain.map { .string(Base64.encodeString($0, .standard)) }),
            "privateKey": .string(key.pem),
        ]
    }

    /// The authority that a file keeps.
    ///
    /// - Throws: `SandboxAuthorityFileError` for a file that keeps none.
    public init(file bytes: [UInt8]) throws(SandboxAuthorityFileError) {
        guard let root = try? JSONDocument(bytes, limits: .local).root else { throw .notJSON }
        let texts = root["certificates"]?.elements.compactMap(\.string) ?? []
        var chain = texts.compactMap { Base64.decode(Array($0.utf8), .standard) }
        guard chain.count == texts.count, chain.count > 1, let anchor = chain.popLast() else {
            throw .noCertificates
        }
        guard let text = root["privateKey"]?.string, let key = try? P256PrivateKey(pem: text) else {
            throw .noKey
        }
        self.init(chain: chain, root: anchor, key: key)
    }
}

/// Why a file keeps no authority.
public enum SandboxAuthorityFileError: Error, Hashable, CustomStringConvertible {
    case notJSON
    case noCertificates
    case noKey

    /// What is wrong, in a sentence without its full stop.
    public var description: String {
        let missing =
            switch self {
            case .notJSON: "it is not JSON"
            case .noCertificates: "its \"certificates\" are not certificates in base64"
            case .noKey: "its \"privateKey\" is no P-256 key in PEM"
            }
        return "\(missing); remove the file, and a new authority is made"
    }
}
