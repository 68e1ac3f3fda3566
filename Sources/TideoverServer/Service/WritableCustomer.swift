import TideoverCore
import TideoverHTTP

extension CustomerID {
    /// The maximum length of a new id in bytes of UTF-8. Ids of stores and relays are shorter; data
    /// stored under a longer id stays readable. A path cannot name an id with a NUL character.
    static let longest = 256

    var isWritable: Bool { text.utf8.count <= Self.longest && !text.utf8.contains(0) }

    /// Returns an id to store data under.
    ///
    /// - Throws: `bad-customer`.
    static func writable(_ text: String) throws(Problem) -> CustomerID {
        guard let customer = CustomerID(text), customer.isWritable else { throw .badCustomer }
        return customer
    }
}
