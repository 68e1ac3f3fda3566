import Glibc
import TideoverCommandLine
import TideoverJSON
import TideoverSandbox
import TideoverSignatures

/// A folder in which simulated stores keep what they sign with, from one run to the next: `root.der`, which
/// a back end is to trust, the keys with which it may ask, and `authority.json` and `push-authority.json`, the
/// secrets.
struct AuthorityFolder {
    static let option = Parameter.option(
        "--authority",
        "FOLDER",
        "Keep the stores' keys there; root.der is what your back end is to trust"
    )

    /// What App Store Connect would call the key.
    static let issuerId = "57246542-96fe-1a63-e053-0824d011072a"
    static let keyId = "REHEARSAL1"

    let path: String

    var rootPath: String { "\(path)/root.der" }
    /// The back end's private key for the Server API, as App Store Connect hands it out.
    var keyPath: String { "\(path)/AuthKey_\(Self.keyId).p8" }

    /// The authority in the folder; a new one is put there if there is none.
    func authority() throws -> SandboxAuthority {
        let file = "\(path)/authority.json"
        let kept: [UInt8]
        do {
            kept = try FileInput.read(file, atMost: 1 << 16)
        } catch FileInputError.notFound {
            return try make(file)
        }
        do {
            return try SandboxAuthority(file: kept)
        } catch {
            throw CommandFailure(.data, "\(TextLayout.visible(file)): \(error)")
        }
    }

    /// The key with which a back end may ask the store.
    func key() throws -> AppStoreAPIKey {
        let text = String(decoding: try FileInput.read(keyPath, atMost: 1 << 16), as: UTF8.self)
        do {
            let key = try P256PrivateKey(pem: text)
            return AppStoreAPIKey(
                issuerId: Self.issuerId,
                keyId: Self.keyId,
                publicKey: key.publicKey
            )
        } catch {
            throw CommandFailure(.data, "\(TextLayout.visible(keyPath)): \(error)")
        }
    }

    private func make(_ file: String) throws -> SandboxAuthority {
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw FileOutput.failure(path, errno) }
        let authority = try SandboxAuthority()
        try FileOutput.write(authority.root, to: rootPath, isNew: true)
        let key = P256PrivateKey.generate()
        try FileOutput.write(Array(key.pem.utf8), to: keyPath, mode: 0o600, isNew: true)
        // Last: where this is, the others are too.
        try FileOutput.write(
            authority.file.encoded(pretty: true),
            to: file,
            mode: 0o600,
            isNew: true
        )
        return authority
    }
}
