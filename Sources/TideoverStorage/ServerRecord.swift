/// A server as it describes itself to the others on its storage.
package struct ServerRecord: Hashable, Sendable {
    /// Unique to the process.
    package let id: String
    /// The version of its program.
    package let version: String
    /// The fingerprint of its configuration.
    package let configuration: String

    package init(id: String, version: String, configuration: String) {
        self.id = id
        self.version = version
        self.configuration = configuration
    }
}
