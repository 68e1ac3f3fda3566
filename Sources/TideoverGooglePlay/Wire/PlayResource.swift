import TideoverCore
package import TideoverJSON

/// A resource in a response of the Play Developer API.
package protocol PlayResource: Sendable {
    init(wire document: JSONNode) throws(PlayRefusal)
}

extension SubscriptionPurchaseV2: PlayResource {
    package init(wire document: JSONNode) throws(PlayRefusal) {
        try self.init(WireFields(document))
    }
}

extension ProductPurchaseV2: PlayResource {
    package init(wire document: JSONNode) throws(PlayRefusal) {
        try self.init(WireFields(document))
    }
}

extension VoidedPurchase: PlayResource {
    package init(wire document: JSONNode) throws(PlayRefusal) {
        try self.init(WireFields(document))
    }
}

extension PlayOrder: PlayResource {
    package init(wire document: JSONNode) throws(PlayRefusal) {
        try self.init(WireFields(document))
    }
}

extension SubscriptionOnSale: PlayResource {
    package init(wire document: JSONNode) throws(PlayRefusal) {
        try self.init(WireFields(document))
    }
}
