public import TideoverCore

/// What RevenueCat says of customers rather than of a purchase. Nothing moves by it alone: who holds a
/// purchase is ruled where the list of owners is kept.
public enum CustomerStatement: Hashable, Sendable {
    /// These ids are of one customer; the one in use is first.
    case sameCustomer([CustomerID])
    /// All that the first had is the others' from now on.
    case transfer(from: [CustomerID], to: [CustomerID])
}

extension CustomerID {
    /// Whether RevenueCat made the id up for a customer whom the app had not named yet.
    public var isRevenueCatAnonymous: Bool { text.utf8.starts(with: "$RCAnonymousID:".utf8) }
}

extension RevenueCatEvent {
    /// Whose it is: the id in use, or where RevenueCat made that one up, one that the app gave; nil
    /// where none is stated.
    public var customer: CustomerID? {
        let ids = customers
        return ids.first { !$0.isRevenueCatAnonymous } ?? ids.first
    }

    /// Every id of the customer, the one in use first, each once.
    var customers: [CustomerID] {
        let written = [appUserId, originalAppUserId].compactMap(\.self) + aliases
        return written.compactMap { CustomerID($0) }.inOrderOnce
    }

    /// What it says of customers; nil if nothing.
    var customerStatement: CustomerStatement? {
        if let environment, environment.known == nil { return nil }
        if type.known == .transfer {
            let from = transferredFrom.compactMap { CustomerID($0) }.inOrderOnce
            let to = transferredTo.compactMap { CustomerID($0) }.inOrderOnce
            return to.isEmpty ? nil : .transfer(from: from, to: to)
        }
        guard type.known != .test, customers.count > 1 else { return nil }
        return .sameCustomer(customers)
    }
}

extension [CustomerID] {
    /// Each once, in the order given.
    fileprivate var inOrderOnce: [CustomerID] {
        indices.filter { !self[..<$0].contains(self[$0]) }.map { self[$0] }
    }
}
