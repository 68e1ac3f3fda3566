import TideoverStorage

extension Configuration.Server {
    /// Returns the key in the file that `adminKeyFile` names, or nil if none is configured. Only
    /// callers that need the key open the file; loading a configuration does not.
    package func adminKey(
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

/// The file of an admin key cannot be read or has invalid content.
package struct UnusableAdminKey: Error, Hashable, Sendable {
    /// The file.
    package let path: String
    /// The read error, or nil if the content is invalid.
    package let cause: String?
}
