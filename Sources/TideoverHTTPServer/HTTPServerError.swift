import Glibc
package import TideoverHTTP

/// The reason why a server could not start.
package enum HTTPServerError: Error, Hashable, Sendable {
    /// The text is neither an IPv4 nor an IPv6 address.
    case notAnAddress(String)
    /// The number is not from 0 to 65,535.
    case notAPort(Int)
    /// The address and port are already in use.
    case addressInUse(ListenAddress)
    /// The address does not belong to this machine.
    case addressNotAvailable(ListenAddress)
    /// The process may not listen there; ports below 1,024 often need a privilege.
    case notPermitted(ListenAddress)
    /// Another system call failed; `code` is its error number.
    case system(call: String, code: Int32)
    /// libmicrohttpd did not start, because of a lack of memory, files or threads.
    case engineFailed
}

extension HTTPServerError: CustomStringConvertible {
    /// A one-line message.
    package var description: String {
        switch self {
        case .notAnAddress(let text): "\"\(text)\" is not an IPv4 or IPv6 address"
        case .notAPort(let number): "\(number) is not a port from 0 to 65535"
        case .addressInUse(let address): "\(address) is in use already"
        case .addressNotAvailable(let address): "\(address) is not an address of this machine"
        case .notPermitted(let address): "this process may not listen on \(address)"
        case .system(let call, let code): "\(call) failed: \(String(cString: strerror(code)))"
        case .engineFailed: "the HTTP engine did not start: out of memory, files or threads"
        }
    }
}
