import TideoverCore
import TideoverHTTP

extension CustomerID {
    /// How many bytes of UTF-8 an id has at most under which something is kept. Stores and relays give
    /// shorter ones; what is stored under a longer one stays readable.
    static let longest = 256

    var isWritable: Bool { text.utf8.count <= Self.longest }

    /// An id under which something is to be kept.
    ///
    /// - Throws: `bad-customer`.
    static func writable(_ text: String) throws(Problem) -> CustomerID {
        guard let customer = CustomerID(text), customer.isWritable else { throw .badCustomer }
        return customer
    }
}
