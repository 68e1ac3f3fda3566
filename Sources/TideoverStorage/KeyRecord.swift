public import TideoverCore

/// A key of the API as it is kept: its digest, never the key itself.
public struct KeyRecord: Hashable, Sendable {
    /// How many bytes a digest has.
    public static let digestCount = 32

    /// How people name the key: made by us, rises with time, says nothing of the key.
    public let id: String
    /// The SHA-256 digest of the key.
    public let digest: [UInt8]
    /// What it is for.
    public let kind: KeyKind
    /// The apps it opens, by id; all of them where the list is empty.
    public let apps: [String]
    /// The operator's own words for it, perhaps none.
    public let name: String
    /// When it was made.
    public let createdAt: Instant
    /// Since when it opens nothing; nil while it does.
    public let revokedAt: Instant?

    /// A record of these parts.
    public init(
        id: String,
        digest: [UInt8],
        kind: KeyKind,
        apps: [String] = [],
        name: String = "",
        createdAt: Instant,
        revokedAt: Instant? = nil
    ) {
        self.id = id
        self.digest = digest
        self.kind = kind
        self.apps = apps
        self.name = name
        self.createdAt = createdAt
        self.revokedAt = revokedAt
    }
}

/// Who a key is made for.
public enum KeyKind: String, Hashable, Sendable, CaseIterable {
    /// A device: what comes with an app can be taken out of it, so that this key is no secret.
    case `public`
    /// An app's own back end.
    case secret
    /// The operator, for all apps and for the keys themselves.
    case admin
}
