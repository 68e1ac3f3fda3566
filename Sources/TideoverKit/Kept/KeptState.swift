package import TideoverCore

/// What survives the end of the process. It is written as a whole, before any effect that relies
/// on it.
package struct KeptState: Hashable, Sendable {
    /// The customer whom the pass is for.
    package var customer: CustomerID
    /// Purchases that were accepted and not yet committed by the server, oldest first.
    package var queue: [QueuedPurchase] = []
    /// The pass in compact serialization. Its signature is verified again after each launch.
    package var pass: String?
    /// The keys that the server published, newest answer.
    package var keys: [PassKey] = []
    /// The latest instant that this device has lived through, for passes.
    package var lastSeen: Instant?
    /// Products with a purchase that waits for approval.
    package var waiting: [String] = []
    /// Entitlements that gave access when last answered, with the end stated then.
    package var granted: [GrantedNote] = []
    /// What the app still keeps of entitlements that were refunded.
    package var artifacts: [KeptArtifacts] = []

    package init(customer: CustomerID) {
        self.customer = customer
    }
}

/// A purchase that the device accepted and the server has not committed yet.
package struct QueuedPurchase: Hashable, Sendable {
    package var purchase: SignedPurchase
    /// Whether the server refused it. It is presented again only after the next launch.
    package var isRefused = false

    package init(_ purchase: SignedPurchase, isRefused: Bool = false) {
        self.purchase = purchase
        self.isRefused = isRefused
    }
}

/// An entitlement that gave access.
package struct GrantedNote: Hashable, Sendable {
    package var entitlement: String
    /// The end of access as stated; nil for ever.
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

/// A public key of Ed25519 that passes are verified with.
public struct PassKey: Hashable, Sendable {
    /// The key's id, as the header of a pass names it.
    public var id: String
    /// The 32 bytes of the key.
    public var bytes: [UInt8]

    public init(id: String, bytes: [UInt8]) {
        self.id = id
        self.bytes = bytes
    }
}
