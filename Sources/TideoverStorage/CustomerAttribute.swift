package import TideoverCore

/// A named text about a customer that the app's SDK states, such as `$email`.
package struct CustomerAttribute: Hashable, Sendable {
    package let name: String
    /// Nil for one that was deleted, which is kept so that an older statement does not restore it.
    package let value: String?
    /// When the device changed it. The latest of one name counts.
    package let updatedAt: Instant

    package init(name: String, value: String?, updatedAt: Instant) {
        self.name = name
        self.value = value
        self.updatedAt = updatedAt
    }

    /// Joins the attributes of a customer's ids: the latest of each name, in the order of names,
    /// without deleted ones.
    package static func joined(_ attributes: [CustomerAttribute]) -> [CustomerAttribute] {
        Dictionary(attributes.map { ($0.name, $0) }) { first, second in
            first.updatedAt < second.updatedAt ? second : first
        }
        .values.filter { $0.value != nil }.sorted { $0.name < $1.name }
    }
}

/// Attributes of one customer to store.
package struct AttributeOrder: Sendable {
    package let customer: CustomerKey
    package let attributes: [CustomerAttribute]
    package let now: Instant
    /// The number of names that a customer can have, deleted ones included.
    package let limit: Int

    package init(
        _ attributes: [CustomerAttribute],
        of customer: CustomerKey,
        now: Instant,
        limit: Int
    ) {
        self.customer = customer
        self.attributes = attributes
        self.now = now
        self.limit = limit
    }

    /// Returns the attributes to store, and the names of the others, given the stored ones.
    package func divided(
        after stored: [CustomerAttribute]
    ) -> (kept: [CustomerAttribute], left: [String]) {
        var known = Set(stored.map(\.name))
        var kept: [CustomerAttribute] = []
        var left: [String] = []
        for attribute in attributes {
            if known.contains(attribute.name) || known.count < limit {
                known.insert(attribute.name)
                kept.append(attribute)
            } else {
                left.append(attribute.name)
            }
        }
        return (kept, left)
    }
}

/// An attribute with its customer, for an export.
package struct AttributeRecord: Hashable, Sendable {
    package let customer: CustomerID
    package let attribute: CustomerAttribute

    package init(customer: CustomerID, attribute: CustomerAttribute) {
        self.customer = customer
        self.attribute = attribute
    }
}
