/// Numbers that differ after another server changed what every server keeps in memory.
package struct SharedChanges: Hashable, Sendable {
    /// Rises with each added and each revoked key.
    package let keys: Int64
    /// Rises with each recorded version of a catalogue and policy.
    package let policyVersions: Int64

    package init(keys: Int64, policyVersions: Int64) {
        self.keys = keys
        self.policyVersions = policyVersions
    }
}
