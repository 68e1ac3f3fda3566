/// A purchase came to a customer from another one, by the transfer policy or by an operator.
public struct PurchaseMove: Hashable, Sendable, Identifiable {
    /// The value of `kind` for the event, which the new owner has.
    public static let eventKind = "purchase_moved"

    /// Stable: the same move has the same ID whenever it is computed.
    public internal(set) var id: String
    /// The first instant of the new ownership.
    public let at: Instant
    public let lineage: Lineage
    public let why: OwnershipEntry.Why
}

extension OwnedSteps {
    /// Every move of the lineage to the customer, in the order in which they were decided.
    var moves: [PurchaseMove] {
        owners.indices.compactMap { position in
            let entry = owners[position]
            guard owners.giver(at: position, to: identity) != nil else { return nil }
            let start = "\(entry.from.millisecondsSince1970)"
            return PurchaseMove(
                id: StableDigest.text(of: entry.lineage, PurchaseMove.eventKind, start),
                at: entry.from,
                lineage: entry.lineage,
                why: entry.why
            )
        }
    }
}

extension [OwnershipEntry] {
    /// Returns from whom the entry at a position moved the lineage to a customer; nil for an entry
    /// that is no move to the customer from another one. An inferred owner counts as none.
    package func giver(at position: Int, to identity: CustomerIdentity) -> CustomerID? {
        let entry = self[position]
        guard entry.why == .transferred || entry.why == .moved,
            identity.all.contains(entry.customer),
            let giver = Array(self[..<position]).stated.owner(at: entry.from),
            !identity.all.contains(giver)
        else { return nil }
        return giver
    }
}
