import Glibc
public import TideoverHTTP

/// Why a server could not be started.
public enum HTTPServerError: Error, Hashable, Sendable {
    /// The text is neither an IPv4 nor an IPv6 address.
    case notAnAddress(String)
    /// The number is not from 0 to 65,535.
    case notAPort(Int)
    /// Something listens there already.
    case addressInUse(ListenAddress)
    /// The address is none of this machine's.
    case addressNotAvailable(ListenAddress)
    /// The process may not listen there; ports below 1,024 often need a privilege.
    case notPermitted(ListenAddress)
    /// The operating system refused something else; `code` is its error number.
    case system(call: String, code: Int32)
    /// libmicrohttpd did not start, for want of memory, files or threads.
    case engineFailed
}

extension HTTPServerError: CustomStringConvertible {
    /// One line for people.
    public var description: String {
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
