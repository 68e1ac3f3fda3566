import TideoverCore
import TideoverStorage

/// Stores attributes of customers in a transaction that has locked the app.
struct AttributeLedger {
    let connection: Connection

    func keep(_ order: AttributeOrder) throws(StorageError) -> [String] {
        let (kept, left) = order.divided(after: try connection.attributes(of: order.customer))
        for attribute in kept { try put(attribute, of: order.customer, at: order.now) }
        return left
    }

    /// The answer counts no row if the attribute is not later than the stored one.
    @discardableResult
    func put(
        _ attribute: CustomerAttribute,
        of customer: CustomerKey,
        at now: Instant
    ) throws(StorageError) -> Answer {
        try connection.ask(
            CommonSQL.putAttribute,
            in: customer.scope,
            .text(customer.customer.text),
            .text(attribute.name),
            .optional(attribute.value),
            .instant(attribute.updatedAt),
            .instant(now)
        )
    }
}

extension Connection {
    func attributes(of customer: CustomerKey) throws(StorageError) -> [CustomerAttribute] {
        try ask(CommonSQL.attributesOf, in: customer.scope, .text(customer.customer.text))
            .all { $0.attribute }
    }
}
