import TideoverHTTP

/// Limits access to stores that listen on loopback without a key. Programs of this machine may send
/// requests; web pages in a browser on it may not.
///
/// A browser's request names the page's server in `Host`, which may resolve to this machine by
/// then. It may also name the page in `Origin`.
struct LoopbackGuard {
    /// Returns nil for a server that other machines can reach, because its valid names are unknown.
    init?(listeningAt host: String) {
        guard Self.isThisMachine(host) else { return nil }
    }

    /// Returns why a request is rejected; nil for an allowed one.
    func refusal(of request: Request) -> String? {
        if let host = request.headers["Host"], !Self.isThisMachine(Self.name(in: host[...])) {
            return
                "the stores listen on this machine only and accept 127.0.0.1 or localhost; with "
                + "an address of a network they accept any name"
        }
        if let origin = request.headers["Origin"], !Self.isLocal(origin) {
            return "web pages cannot send requests to simulated stores"
        }
        return nil
    }

    /// RFC 6454, 6.2: a scheme, `://`, then the content of `Host`; `null` for a page with a hidden
    /// origin.
    private static func isLocal(_ origin: String) -> Bool {
        let parts = origin.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 3 && parts[1].isEmpty && isThisMachine(name(in: parts[2]))
    }

    /// Returns the host without its port, and IPv6 without brackets.
    static func name(in host: Substring) -> String {
        if host.first == "[" { return String(host.dropFirst().prefix { $0 != "]" }) }
        return String(host.prefix { $0 != ":" })
    }

    /// Whether a host, without port and brackets, is this machine.
    static func isThisMachine(_ name: String) -> Bool {
        guard let address = IPAddress(name) else {
            // RFC 6761, 6.3: such names resolve to loopback only.
            let name = name.lowercased()
            return name == "localhost" || name.hasSuffix(".localhost")
        }
        return IPNetwork.loopback.contains { $0.contains(address.unmapped) }
    }
}
