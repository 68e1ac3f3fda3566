import TideoverCommandLine
import TideoverJSON
import TideoverSandbox

// Files of the simulated Google Play that persist between runs.

extension AuthorityFolder {
    /// The path of the service account's key file, in the format of Google Cloud. A back end
    /// queries the store with it.
    var accountPath: String { "\(path)/service-account.json" }

    /// Returns the authority that signs the tokens of pushes. Creates a key if the folder has none.
    func pushAuthority() throws -> PlayAuthority {
        let file = "\(path)/push-authority.json"
        return try kept(file, PlayAuthority.init(file:)) {
            let made = PlayAuthority(seed: .random(in: .min ... .max))
            return (made, made.file)
        }
    }

    /// Returns the service account. Creates one that requests tokens at the store's URL if the
    /// folder has none. An existing account keeps the token URL of its file.
    func serviceAccount(askingAt url: String) throws -> PlayServiceAccountFile {
        try kept(accountPath, PlayServiceAccountFile.init(file:)) {
            let made = PlayServiceAccountFile(tokenURL: "\(url)/token")
            return (made, made.json)
        }
    }

    /// Returns the value stored in a file, or creates it if the file does not exist.
    private func kept<Value>(
        _ file: String,
        _ read: ([UInt8]) throws(PlayKeyFileError) -> Value,
        orMade make: () -> (Value, JSONValue)
    ) throws -> Value {
        let bytes: [UInt8]
        do {
            bytes = try FileInput.read(file, atMost: 1 << 16)
        } catch FileInputError.notFound {
            let (value, content) = make()
            let text = content.encoded(pretty: true) + [UInt8(ascii: "\n")]
            try FileOutput.write(text, to: file, mode: 0o600, isNew: true)
            return value
        }
        do {
            return try read(bytes)
        } catch {
            throw CommandFailure(.data, "\(TextLayout.visible(file)): \(error)")
        }
    }
}
