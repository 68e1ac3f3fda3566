package import TideoverCore

/// What a copy of a storage has of a customer.
package struct ReplicaRow: Sendable {
    /// Nil for a customer that the copy does not know.
    package let row: CustomerRow?
    /// How long ago the copy had everything that was stored, at most.
    package let staleness: Milliseconds

    package init(row: CustomerRow?, staleness: Milliseconds) {
        self.row = row
        self.staleness = staleness
    }
}

/// Reads a customer from a copy of a storage; nil if it is not known to be recent enough.
package typealias ReplicaReading = @Sendable (CustomerKey) -> ReplicaRow?
