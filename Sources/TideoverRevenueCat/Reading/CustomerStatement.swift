package import TideoverCore

/// A RevenueCat statement about customers rather than a purchase. It moves nothing by itself: the
/// record of owners decides ownership.
package enum CustomerStatement: Hashable, Sendable {
    /// All ids belong to one customer; the current one is first.
    case sameCustomer([CustomerID])
    /// All purchases of the first customer move to the second.
    case transfer(from: [CustomerID], to: [CustomerID])
}

extension CustomerID {
    /// Whether RevenueCat generated the ID for a customer without an ID from the app.
    package var isRevenueCatAnonymous: Bool { text.utf8.starts(with: "$RCAnonymousID:".utf8) }
}

extension RevenueCatEvent {
    /// The event's customer: the current ID, or an ID from the app if RevenueCat generated the
    /// current one. Nil if the event has none.
    package var customer: CustomerID? {
        let ids = customers
        return ids.first { !$0.isRevenueCatAnonymous } ?? ids.first
    }

    /// All ids of the customer, the current one first, without duplicates.
    var customers: [CustomerID] {
        guard unusable.isEmpty else { return [] }
        let written = [appUserId, originalAppUserId].compactMap(\.self) + aliases
        return written.compactMap { CustomerID($0) }.inOrderOnce
    }

    /// All ids in the event, those of a transfer too, without duplicates.
    var everyCustomer: [CustomerID] {
        (customers + (transferredFrom + transferredTo).compactMap { CustomerID($0) }).inOrderOnce
    }

    /// The event's statement about customers, if any.
    var customerStatement: CustomerStatement? {
        if let environment, environment.known == nil { return nil }
        guard unusable.isEmpty else { return nil }
        if type.known == .transfer {
            let from = transferredFrom.compactMap { CustomerID($0) }.inOrderOnce
            let to = transferredTo.compactMap { CustomerID($0) }.inOrderOnce
            return to.isEmpty ? nil : .transfer(from: from, to: to)
        }
        let customers = customers
        guard type.known != .test, customers.count > 1 else { return nil }
        return .sameCustomer(customers)
    }
}

extension [CustomerID] {
    /// The elements without duplicates, in the original order.
    fileprivate var inOrderOnce: [CustomerID] {
        var seen: Set<CustomerID> = []
        return filter { seen.insert($0).inserted }
    }
}
