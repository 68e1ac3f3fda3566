import TideoverStorage

extension Configuration.Server {
    /// The key in the file that `adminKeyFile` names; nil if it names none. Only who needs the key
    /// asks: the file is not opened with the configuration.
    public func adminKey(
        readFile: (String) throws -> [UInt8]
    ) throws(UnusableAdminKey) -> APIKey? {
        guard let adminKeyFile else { return nil }
        let bytes: [UInt8]
        do {
            bytes = try readFile(adminKeyFile)
        } catch {
            throw UnusableAdminKey(path: adminKeyFile, cause: "\(error)")
        }
        guard let key = APIKey(lineOf: bytes), key.kind == .admin else {
            throw UnusableAdminKey(path: adminKeyFile, cause: nil)
        }
        return key
    }
}

/// The file for an admin key cannot be read, or holds something else.
public struct UnusableAdminKey: Error, Hashable, Sendable {
    /// The file.
    public let path: String
    /// Why it cannot be read; nil where it can, and holds something else.
    public let cause: String?
}
