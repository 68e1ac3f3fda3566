public import TideoverCore

/// An API key as it is stored: its digest, never the key itself.
public struct KeyRecord: Hashable, Sendable {
    /// The number of bytes in a digest.
    public static let digestCount = 32

    /// The public id of the key: made by the server, increasing with time, independent of the
    /// secret.
    public let id: String
    /// The SHA-256 digest of the key.
    public let digest: [UInt8]
    /// The purpose of the key.
    public let kind: KeyKind
    /// The ids of the apps it permits; an empty list permits all apps.
    public let apps: [String]
    /// The operator's name for the key, may be empty.
    public let name: String
    /// When the key was created.
    public let createdAt: Instant
    /// When the key was revoked; nil while it is valid.
    public let revokedAt: Instant?

    /// Creates a record from its parts.
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

/// The purpose of a key.
public enum KeyKind: String, Hashable, Sendable, CaseIterable {
    /// For devices. It ships with an app and can be extracted, so it is not a secret.
    case `public`
    /// For an app's own back end.
    case secret
    /// For a person who looks at an app's data: reads what a secret key reads, and changes nothing.
    case viewer
    /// For the operator: permits all apps and the management of keys.
    case admin
}
