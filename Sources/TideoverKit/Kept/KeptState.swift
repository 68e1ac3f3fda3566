package import TideoverCore

/// The state that survives the end of the process. It is written as a whole, before any effect that
/// relies on it.
package struct KeptState: Hashable, Sendable {
    /// The customer of the pass.
    package var customer: CustomerID
    /// Purchases that were accepted but not yet committed by the server, oldest first.
    package var queue: [QueuedPurchase] = []
    /// The pass in compact serialization. Its signature is verified again after each launch.
    package var pass: String?
    /// A newer pass that no known key signed yet. It replaces the other once it is verified.
    package var candidate: String?
    /// The keys in the server's latest response.
    package var keys: [PassKey] = []
    /// The latest instant seen by this device, for passes.
    package var lastSeen: Instant?
    /// Products with a purchase that is waiting for approval.
    package var waiting: [WaitingPurchase] = []
    /// Entitlements that gave access in the latest answer, with the end stated then.
    package var granted: [GrantedNote] = []
    /// Files of refunded entitlements that the app still keeps.
    package var artifacts: [KeptArtifacts] = []

    package init(customer: CustomerID) {
        self.customer = customer
    }
}

/// A purchase that the device accepted and the server has not committed yet.
package struct QueuedPurchase: Hashable, Sendable {
    package var purchase: SignedPurchase
    /// The app's customer at that time. Nil in a file of an earlier version: the file's customer.
    package var customer: CustomerID?
    /// Whether the server refused it. It is presented again only after the next launch.
    package var isRefused = false
    /// When the server first refused it, by the server's clock.
    package var refusedAt: Instant?
    /// Whether a round that included it ended with an answer, which did not accept it.
    package var isAnswered = false

    package init(
        _ purchase: SignedPurchase,
        of customer: CustomerID? = nil,
        isRefused: Bool = false,
        refusedAt: Instant? = nil,
        isAnswered: Bool = false
    ) {
        self.purchase = purchase
        self.customer = customer
        self.isRefused = isRefused
        self.refusedAt = refusedAt
        self.isAnswered = isAnswered
    }
}

/// A purchase that is waiting for approval.
package struct WaitingPurchase: Hashable, Sendable {
    package var productId: String
    /// When it is no longer shown: the store does not report that it was declined.
    package var until: Instant

    package init(productId: String, until: Instant) {
        self.productId = productId
        self.until = until
    }
}

/// An entitlement that gave access.
package struct GrantedNote: Hashable, Sendable {
    package var entitlement: String
    /// The stated end of access; nil for unlimited.
    package var until: Instant?

    package init(entitlement: String, until: Instant?) {
        self.entitlement = entitlement
        self.until = until
    }
}

/// Local files of a refunded entitlement, and when the app removes them.
package struct KeptArtifacts: Hashable, Sendable {
    package var entitlement: String
    /// Nil until the next launch.
    package var until: Instant?

    package init(entitlement: String, until: Instant?) {
        self.entitlement = entitlement
        self.until = until
    }
}

/// An Ed25519 public key that verifies passes.
public struct PassKey: Hashable, Sendable {
    /// The key's id, as in the header of a pass.
    public var id: String
    /// The 32 bytes of the key.
    public var bytes: [UInt8]

    public init(id: String, bytes: [UInt8]) {
        self.id = id
        self.bytes = bytes
    }
}
