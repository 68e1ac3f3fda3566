public import TideoverSignatures

extension Configuration.Pass {
    /// Who signs with the key in the file, beside the keys in the other files. Only who needs the keys
    /// asks: the files are not opened with the configuration.
    public func open(
        readFile: (String) throws -> [UInt8]
    ) throws(UnusablePassKey) -> PassIssuer {
        let key = try Self.read(keyFile, readFile) { text throws(KeyError) in
            try Ed25519PrivateKey(pem: text)
        }
        var others: [Ed25519PublicKey] = []
        for file in otherKeyFiles {
            others.append(
                try Self.read(file, readFile) { text throws(KeyError) in
                    // The file of a former key can stay as it was.
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

/// The file for a key of passes cannot be read, or holds something else.
public struct UnusablePassKey: Error, Hashable, Sendable {
    /// What is wrong with it.
    public enum Cause: Hashable, Sendable {
        /// It cannot be read; the words of whoever tried.
        case unreadable(String)
        case noKey(KeyError)
    }

    /// The file.
    public let path: String
    public let cause: Cause
}
