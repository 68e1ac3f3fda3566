package import TideoverCore
package import TideoverJSON

/// Translates a stored move of a purchase to the customer to RevenueCat's `TRANSFER`.
package struct RevenueCatMove {
    private let at: Instant
    private let lineage: Lineage
    private let giver: CustomerID
    private let identity: CustomerIdentity

    /// Reads an event's data. Nil for an event that is no move, and for one that the stored owners
    /// do not contain. `record` is the customer as stored.
    package init?(_ data: JSONNode, _ record: CustomerRecord) {
        guard data["kind"]?.string == PurchaseMove.eventKind,
            let at = data["at"]?.string.flatMap({ Instant(rfc3339: $0) }),
            let lineage = data["lineage"].flatMap({ try? Lineage(json: $0) }),
            let giver = Self.giver(of: lineage, at: at, record)
        else { return nil }
        self.at = at
        self.lineage = lineage
        self.giver = giver
        identity = record.identity
    }

    private static func giver(
        of lineage: Lineage,
        at instant: Instant,
        _ record: CustomerRecord
    ) -> CustomerID? {
        let owners = record.lineageRecords.first { $0.lineage == lineage }?.owners ?? []
        return owners.indices.filter { owners[$0].from == instant }
            .compactMap { owners.giver(at: $0, to: record.identity) }.last
    }

    package func message(app: String) -> RevenueCatMessage {
        let transfer = RevenueCatMessage.Transfer(
            from: [giver.text],
            to: RevenueCatMessage.Customer(identity).ids,
            store: lineage.revenueCatStore,
            environment: lineage.environment.revenueCat
        )
        return RevenueCatMessage(
            .transfer,
            id: "transfer-\(lineage.key)-\(at.millisecondsSince1970)",
            timestamp: at,
            app: app,
            content: .transfer(transfer)
        )
    }
}
