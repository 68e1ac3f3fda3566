package import TideoverConfiguration
import TideoverSignatures

extension Configuration.Pass {
    /// Reads the signing key and the other keys from their files. Only callers that need the keys
    /// open the files; loading a configuration does not.
    package func open(
        readFile: (String) throws -> [UInt8]
    ) throws(UnusablePassKey) -> PassIssuer {
        let key = try Self.read(keyFile, readFile) { text throws(KeyError) in
            try Ed25519PrivateKey(pem: text)
        }
        var others: [Ed25519PublicKey] = []
        for file in otherKeyFiles {
            others.append(
                try Self.read(file, readFile) { text throws(KeyError) in
                    // The file of a previous key may still contain the private key.
                    if let former = try? Ed25519PrivateKey(pem: text) { return former.publicKey }
                    return try Ed25519PublicKey(pem: text)
                }
            )
        }
        return PassIssuer(issuer: issuer, key: key, others: others)
    }

    private static func read<Key>(
        _ path: String,
        _ readFile: (String) throws -> [UInt8],
        _ key: (String) throws(KeyError) -> Key
    ) throws(UnusablePassKey) -> Key {
        let bytes: [UInt8]
        do {
            bytes = try readFile(path)
        } catch {
            throw UnusablePassKey(path: path, cause: .unreadable("\(error)"))
        }
        do {
            return try key(String(decoding: bytes, as: UTF8.self))
        } catch {
            throw UnusablePassKey(path: path, cause: .noKey(error))
        }
    }
}
