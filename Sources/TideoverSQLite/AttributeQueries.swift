import TideoverCore
import TideoverStorage

/// Reads attributes of customers through one connection.
final class AttributeQueries {
    private let ofCustomer: Statement

    init(_ connection: Connection) throws(StorageError) {
        ofCustomer = try Statement(SQL.attributesOf, on: connection)
    }

    func attributes(of customer: CustomerKey) throws(StorageError) -> [CustomerAttribute] {
        try ofCustomer.all(
            .text(customer.app),
            .text(customer.environment.rawValue),
            .text(customer.customer.text)
        ) { $0.attribute }
    }
}

/// Stores attributes of customers through the writing connection.
final class AttributeLedger {
    private let queries: AttributeQueries
    private let putAttribute: Statement

    init(_ connection: Connection) throws(StorageError) {
        queries = try AttributeQueries(connection)
        putAttribute = try Statement(SQL.putAttribute, on: connection)
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
            .text(customer.app),
            .text(customer.environment.rawValue),
            .text(customer.customer.text),
            .text(attribute.name),
            attribute.value.map { .text($0) } ?? .null,
            .instant(attribute.updatedAt),
            .instant(now)
        )
        return count == 1
    }
}

extension Row {
    /// The attribute in the first three columns.
    var attribute: CustomerAttribute {
        CustomerAttribute(
            name: text(0),
            value: isNull(1) ? nil : text(1),
            updatedAt: instant(2)
        )
    }
}
