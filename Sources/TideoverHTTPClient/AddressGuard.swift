package import TideoverHTTP

/// The addresses to which a request may connect. They are checked after the host is resolved and
/// before anything is sent, so that no spelling of a host bypasses the check.
package enum AddressGuard: Hashable, Sendable {
    /// Every address: for a destination configured by the operator.
    case any
    /// Only addresses of the public internet and those in `allow`: for a destination entered by a
    /// user, such as a webhook's.
    case publicOnly(allow: [IPNetwork])

    /// Returns the reason why a connection to an address is forbidden; nil if it is allowed.
    package func objection(to address: IPAddress) -> AddressUse? {
        switch self {
        case .any: nil
        case .publicOnly(let allow):
            allow.contains { $0.contains(address) } ? nil : AddressUse(of: address)
        }
    }
}
