package import TideoverConfiguration
package import TideoverStorage

/// The keys of a server in memory, so that authorising a request needs no storage.
package struct KeyTable: Sendable {
    struct Usable: Sendable {
        fileprivate let digest: KeyDigest
        let id: String
        let grant: Grant
        /// The readable name.
        let name: String
    }

    /// The name of the admin key from the configuration.
    static let configuredName = "admin key of the configuration"
    /// The id of that key.
    static let configuredID = "configured"

    /// The name in the audit log, and the id, of the key for the server's own socket.
    static let localName = "local socket"
    static let localID = "local"

    /// The same for a session of the dashboard that a one-time link started.
    static let linkName = "one-time link"
    static let linkID = "link"

    private var records: [String: KeyRecord] = [:]
    private var usable: [Usable] = []
    /// The admin key from the configuration, which is not stored.
    private var configured: KeyDigest?
    /// The admin key for requests through the server's own socket; it ends with the process.
    private let local: KeyDigest?

    /// Creates a table of the stored keys, the configured admin key, and the key of the server's
    /// own socket.
    package init(_ records: [KeyRecord], adminKey: APIKey? = nil, localKey: APIKey? = nil) {
        configured = adminKey.map { KeyDigest(of: $0.text) }
        local = localKey.map { KeyDigest(of: $0.text) }
        for record in records { self.records[record.id] = record }
        sift()
    }

    /// All keys ever stored, by id.
    package var all: [KeyRecord] { records.values.sorted { $0.id < $1.id } }

    /// Updates stored keys; a revoked key stays revoked.
    package mutating func learn(_ stored: [KeyRecord]) {
        for record in stored where records[record.id]?.revokedAt == nil {
            records[record.id] = record
        }
        sift()
    }

    /// Replaces the configured admin key.
    mutating func configure(_ adminKey: APIKey?) {
        configured = adminKey.map { KeyDigest(of: $0.text) }
        sift()
    }

    /// Returns the valid key with a digest, or nil; every key is compared, found or not.
    func key(of digest: KeyDigest) -> Usable? {
        usable.reduce(Usable?.none) { found, key in key.digest.isSame(as: digest) ? key : found }
    }

    /// Whether the configured admin key is also stored and revoked, and so invalid.
    package var isConfiguredKeyRevoked: Bool {
        guard let configured else { return false }
        return records.values.contains {
            $0.revokedAt != nil && KeyDigest($0.digest).isSame(as: configured)
        }
    }

    /// Returns whether a public or secret key permits an app.
    package func hasKey(for app: String) -> Bool {
        usable.contains { key in
            [.public, .secret].contains(key.grant.kind) && key.grant.opens(app: app)
        }
    }

    /// Returns whether a key is still valid. The configured admin key keeps its id when another one
    /// replaces it.
    func isUsable(_ key: Usable) -> Bool {
        usable.contains { $0.id == key.id && $0.digest.isSame(as: key.digest) }
    }

    /// Returns the name of a request's credential, for the audit log.
    func name(of presented: Presented) -> String {
        switch presented.keyID {
        case nil: "an unknown key"
        case Self.linkID?: Self.linkName
        case let id?: usable.first { $0.id == id }?.name ?? id
        }
    }

    private mutating func sift() {
        usable = records.values.filter { $0.revokedAt == nil }.map { record in
            Usable(
                digest: KeyDigest(record.digest),
                id: record.id,
                grant: Grant(kind: record.kind, apps: record.apps),
                name: record.name.isEmpty ? record.id : record.name
            )
        }
        if let configured, !isConfiguredKeyRevoked {
            addAdmin(configured, id: Self.configuredID, name: Self.configuredName)
        }
        if let local { addAdmin(local, id: Self.localID, name: Self.localName) }
    }

    private mutating func addAdmin(_ digest: KeyDigest, id: String, name: String) {
        usable.append(Usable(digest: digest, id: id, grant: Grant(kind: .admin), name: name))
    }
}
