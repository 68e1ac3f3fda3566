import Glibc
import TideoverCommandLine
import TideoverJSON
import TideoverSandbox
import TideoverSignatures

/// A folder where simulated stores keep their keys between runs.
///
/// It contains `root.der`, which a back end trusts, and the keys for queries. The secrets are in
/// `authority.json` and `push-authority.json`.
struct AuthorityFolder {
    static let option = Parameter.option(
        "--authority",
        "FOLDER",
        "Keep the stores' keys there; your back end must trust root.der"
    )

    /// The issuer ID, as App Store Connect would show it.
    static let issuerId = "57246542-96fe-1a63-e053-0824d011072a"
    static let keyId = "REHEARSAL1"

    let path: String

    var rootPath: String { "\(path)/root.der" }
    /// The path of the back end's private key for the Server API, in the format of App Store
    /// Connect.
    var keyPath: String { "\(path)/AuthKey_\(Self.keyId).p8" }

    /// Returns the authority stored in the folder. Creates one if the folder has none.
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

    /// Returns the key for queries to the store.
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
        // Written last: if this file exists, the others do too.
        try FileOutput.write(
            authority.file.encoded(pretty: true),
            to: file,
            mode: 0o600,
            isNew: true
        )
        return authority
    }
}
