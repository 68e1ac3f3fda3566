import TideoverCore
import TideoverStorage

/// Reads attributes of customers through one connection.
final class AttributeQueries {
    private let ofCustomer: Statement

    init(_ connection: Connection) throws(StorageError) {
        ofCustomer = try Statement(CommonSQL.attributesOf, on: connection)
    }

    func attributes(of customer: CustomerKey) throws(StorageError) -> [CustomerAttribute] {
        try ofCustomer.all(in: customer.scope, .text(customer.customer.text)) { $0.attribute }
    }
}

/// Stores attributes of customers through the writing connection.
final class AttributeLedger {
    private let queries: AttributeQueries
    private let putAttribute: Statement

    init(_ connection: Connection) throws(StorageError) {
        queries = try AttributeQueries(connection)
        putAttribute = try Statement(CommonSQL.putAttribute, on: connection)
    }

    func keep(_ order: AttributeOrder) throws(StorageError) -> [String] {
        let (kept, left) = order.divided(after: try queries.attributes(of: order.customer))
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
        let count = try putAttribute.run(
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
