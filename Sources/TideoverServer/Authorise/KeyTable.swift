package import TideoverStorage

/// The keys that a server knows, held in memory, so that a read is authorised where it arrives.
package struct KeyTable: Sendable {
    struct Usable: Sendable {
        fileprivate let digest: KeyDigest
        let id: String
        let grant: Grant
        /// What people call it.
        let name: String
    }

    /// What the admin key of the configuration is called, which has no name.
    static let configuredName = "admin key of the configuration"
    /// What stands for its id.
    static let configuredID = "configured"

    /// What the key of the server's own socket is called in the audit, and its id.
    static let localName = "local socket"
    static let localID = "local"

    private var records: [String: KeyRecord] = [:]
    private var usable: [Usable] = []
    /// The admin key of the configuration, which is not stored.
    private var configured: KeyDigest?
    /// The admin key that only requests through the server's own socket present; it ends with the
    /// process.
    private let local: KeyDigest?

    /// The keys stored, the admin key that the configuration names, and that of the server's own
    /// socket.
    package init(_ records: [KeyRecord], adminKey: APIKey? = nil, localKey: APIKey? = nil) {
        configured = adminKey.map { KeyDigest(of: $0.text) }
        local = localKey.map { KeyDigest(of: $0.text) }
        for record in records { self.records[record.id] = record }
        sift()
    }

    /// All that were ever stored, in the order of their ids.
    package var all: [KeyRecord] { records.values.sorted { $0.id < $1.id } }

    /// Takes over how a key now is stored; one that is revoked stays so.
    package mutating func learn(_ record: KeyRecord) {
        guard records[record.id]?.revokedAt == nil else { return }
        records[record.id] = record
        sift()
    }

    /// Takes another admin key of the configuration, or none, in place of the one before.
    mutating func configure(_ adminKey: APIKey?) {
        configured = adminKey.map { KeyDigest(of: $0.text) }
        sift()
    }

    /// The key of this digest, nil where it opens nothing; every key is compared, found or not.
    func key(of digest: KeyDigest) -> Usable? {
        usable.reduce(Usable?.none) { found, key in key.digest.isSame(as: digest) ? key : found }
    }

    /// Whether the configuration's admin key was stored too, and revoked there: then it opens nothing.
    package var isConfiguredKeyRevoked: Bool {
        guard let configured else { return false }
        return records.values.contains {
            $0.revokedAt != nil && KeyDigest($0.digest).isSame(as: configured)
        }
    }

    /// Whether a public or secret key opens an app.
    package func hasKey(for app: String) -> Bool {
        usable.contains { $0.grant.kind != .admin && $0.grant.opens(app: app) }
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
