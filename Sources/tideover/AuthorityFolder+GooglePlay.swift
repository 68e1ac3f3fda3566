import TideoverCommandLine
import TideoverJSON
import TideoverSandbox

// What of the simulated Google is kept from one run to the next.

extension AuthorityFolder {
    /// The key of the service account with which a back end may ask, as Google Cloud hands it out.
    var accountPath: String { "\(path)/service-account.json" }

    /// What signs the tokens of pushes; a new key is put there if there is none.
    func pushAuthority() throws -> PlayAuthority {
        let file = "\(path)/push-authority.json"
        return try kept(file, PlayAuthority.init(file:)) {
            let made = PlayAuthority(seed: .random(in: .min ... .max))
            return (made, made.file)
        }
    }

    /// The service account; a new one, which asks for tokens at the store's URL, is put there if there is
    /// none. One that is there asks where its file says.
    func serviceAccount(askingAt url: String) throws -> PlayServiceAccountFile {
        try kept(accountPath, PlayServiceAccountFile.init(file:)) {
            let made = PlayServiceAccountFile(tokenURL: "\(url)/token")
            return (made, made.json)
        }
    }

    /// What a file keeps; where there is no such file, what is made for it.
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
