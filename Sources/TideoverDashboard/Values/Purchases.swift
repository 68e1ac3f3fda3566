import TideoverCore
package import TideoverJSON

/// A purchase as `lookup` and `unclaimed` list it.
package struct FoundPurchase: Hashable, Sendable {
    let environment: String
    let store: String
    let lineage: String
    let product: String?
    let purchasedAt: Instant?
    let transaction: String?
    let order: String?
    /// The owner; nil if unclaimed.
    package let customer: String?
    /// A sentence for the customer who asks about it.
    let reply: String?

    package init(_ node: JSONNode) throws(UnexpectedAnswer) {
        environment = try node.needText("environment")
        store = try node.needText("store")
        lineage = try node.needText("lineage")
        product = node.text("productId")
        purchasedAt = node.instant("purchasedAt")
        transaction = node.text("transactionId")
        order = node.text("orderId")
        customer = node.text("customer")
        reply = node.text("reply")
    }
}

/// The customers that a search finds.
package struct ListedIDs: Hashable, Sendable {
    package let ids: [ListedID]
    /// Whether there are more than are listed.
    let hasMore: Bool

    package static let none = ListedIDs()

    private init() {
        ids = []
        hasMore = false
    }

    /// Reads a page of the list of customers.
    package init(_ answer: JSONNode) throws(UnexpectedAnswer) {
        ids = try answer.list("customers").map { node throws(UnexpectedAnswer) in
            try ListedID(node)
        }
        hasMore = answer["more"]?.bool ?? false
    }
}

/// A customer as the list of customers has it.
package struct ListedID: Hashable, Sendable {
    /// The id that matches: the customer's own, or an alias.
    package let id: String
    package let customer: String

    package init(_ node: JSONNode) throws(UnexpectedAnswer) {
        id = try node.needText("id")
        customer = try node.needText("customer")
    }
}
