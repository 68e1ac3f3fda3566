import TideoverCore
import TideoverHTTP

extension CustomerID {
    /// Whether new data may be stored under the id. Data under any other id stays readable.
    var isWritable: Bool { text.isStorableName }

    /// Returns an id to store data under.
    ///
    /// - Throws: `bad-customer`.
    static func writable(_ text: String) throws(Problem) -> CustomerID {
        guard let customer = CustomerID(text), customer.isWritable else { throw .badCustomer }
        return customer
    }
}
