package import TideoverCore

/// What the app states about a customer, such as `$email`.
package struct AttributeView: Hashable, Sendable {
    let name: String
    let value: String
    /// When the app changed it.
    let updatedAt: Instant

    package init(name: String, value: String, updatedAt: Instant) {
        self.name = name
        self.value = value
        self.updatedAt = updatedAt
    }
}
