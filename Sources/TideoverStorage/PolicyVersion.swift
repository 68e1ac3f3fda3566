public import TideoverCore

/// One version of an app's catalogue and policy, recorded when a server first served with it.
public struct PolicyVersion: Hashable, Sendable {
    /// The instant it takes effect. The earliest recorded version also covers everything before.
    public let effectiveAt: Instant
    /// Equal for equal forms, in hexadecimal.
    public let fingerprint: String
    /// Catalogue and policy as JSON text; a storage does not parse it.
    public let form: [UInt8]

    public init(effectiveAt: Instant, fingerprint: String, form: [UInt8]) {
        self.effectiveAt = effectiveAt
        self.fingerprint = fingerprint
        self.form = form
    }
}
