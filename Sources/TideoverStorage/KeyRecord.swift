package import TideoverCore

/// An API key as it is stored: its digest, never the key itself.
package struct KeyRecord: Hashable, Sendable {
    /// The number of bytes in a digest.
    package static let digestCount = 32

    /// The public id of the key: made by the server, increasing with time, independent of the
    /// secret.
    package let id: String
    /// The SHA-256 digest of the key.
    package let digest: [UInt8]
    /// The purpose of the key.
    package let kind: KeyKind
    /// The ids of the apps it permits; an empty list permits all apps.
    package let apps: [String]
    /// The operator's name for the key, may be empty.
    package let name: String
    /// When the key was created.
    package let createdAt: Instant
    /// When the key was revoked; nil while it is valid.
    package let revokedAt: Instant?

    /// Creates a record from its parts.
    package init(
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
package enum KeyKind: String, Hashable, Sendable, CaseIterable {
    /// For devices. It ships with an app and can be extracted, so it is not a secret.
    case `public`
    /// For an app's own back end.
    case secret
    /// For a person who looks at an app's data: reads what a secret key reads, and changes nothing.
    case viewer
    /// For the operator: permits all apps and the management of keys.
    case admin
}
