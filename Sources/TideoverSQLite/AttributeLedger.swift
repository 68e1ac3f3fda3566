import TideoverCore
import TideoverStorage

extension Statements {
    func attributes(of customer: CustomerKey) throws(StorageError) -> [CustomerAttribute] {
        try self[CommonSQL.attributesOf].all(
            in: customer.scope,
            .text(customer.customer.text)
        ) { $0.attribute }
    }
}

/// Stores attributes of customers through the writing connection.
struct AttributeLedger {
    let statements: Statements

    func keep(_ order: AttributeOrder) throws(StorageError) -> [String] {
        let stored = try statements.attributes(of: order.customer)
        let (kept, left) = order.divided(after: stored)
        for attribute in kept { try put(attribute, of: order.customer, at: order.now) }
        return left
    }

    /// Returns whether the attribute was later than the stored one.
    @discardableResult
    func put(
        _ attribute: CustomerAttribute,
        of customer: CustomerKey,
        at now: Instant
    ) throws(StorageError) -> Bool {
        let count = try statements[CommonSQL.putAttribute].run(
            in: customer.scope,
            .text(customer.customer.text),
            .text(attribute.name),
            .optional(attribute.value),
            .instant(attribute.updatedAt),
            .instant(now)
        )
        return count == 1
    }
}
