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

    private var records: [String: KeyRecord] = [:]
    private var usable: [Usable] = []
    /// The admin key of the configuration, which is not stored.
    private let configured: KeyDigest?

    /// The keys stored, and the admin key that the configuration names.
    package init(_ records: [KeyRecord], adminKey: APIKey? = nil) {
        configured = adminKey.map { KeyDigest(of: $0.text) }
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
            usable.append(
                Usable(
                    digest: configured,
                    id: Self.configuredID,
                    grant: Grant(kind: .admin),
                    name: Self.configuredName
                )
            )
        }
    }
}
