import TideoverCore
import TideoverHTTP

extension CustomerID {
    /// Whether data may be stored under the id. No route accepts any other id.
    var isStorable: Bool { text.isStorableName }

    /// Returns the id that a request names.
    ///
    /// - Throws: `bad-customer`.
    static func storable(_ text: String) throws(Problem) -> CustomerID {
        guard let customer = CustomerID(text), customer.isStorable else { throw .badCustomer }
        return customer
    }
}
