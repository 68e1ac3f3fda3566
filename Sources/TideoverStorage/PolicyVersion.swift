package import TideoverCore

/// One version of an app's catalogue and policy, recorded when a server first served with it.
package struct PolicyVersion: Hashable, Sendable {
    /// The instant it takes effect. The earliest recorded version also covers everything before.
    package let effectiveAt: Instant
    /// Equal for equal forms, in hexadecimal.
    package let fingerprint: String
    /// Catalogue and policy as JSON text; a storage does not parse it.
    package let form: [UInt8]

    package init(effectiveAt: Instant, fingerprint: String, form: [UInt8]) {
        self.effectiveAt = effectiveAt
        self.fingerprint = fingerprint
        self.form = form
    }
}
