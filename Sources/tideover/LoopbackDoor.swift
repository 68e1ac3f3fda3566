import TideoverHTTP

/// Who is let in where stores answer on this machine alone, without a key: its programs, and no web page
/// that a browser shows here. A browser asks in the name of the page, whose server's name may lead to this
/// machine by then, or says with `Origin` whose page it is.
struct LoopbackDoor {
    /// Nil for a server that others reach too, by names that nobody here knows.
    init?(listeningAt host: String) {
        guard Self.isThisMachine(host) else { return nil }
    }

    /// Why a request is not answered; nil for one that is.
    func refusal(of request: Request) -> String? {
        if let host = request.headers["Host"], !Self.isThisMachine(Self.name(in: host[...])) {
            return
                "the stores listen on this machine alone and are asked as 127.0.0.1 or localhost; with "
                + "an address of a network they answer to any name"
        }
        if let origin = request.headers["Origin"], !Self.isLocal(origin) {
            return "web pages do not ask simulated stores"
        }
        return nil
    }

    /// RFC 6454, 6.2: a scheme, `://`, then what `Host` says; `null` for a page that hides whose it is.
    private static func isLocal(_ origin: String) -> Bool {
        let parts = origin.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 3 && parts[1].isEmpty && isThisMachine(name(in: parts[2]))
    }

    /// Without the port, and IPv6 without brackets.
    private static func name(in host: Substring) -> String {
        if host.first == "[" { return String(host.dropFirst().prefix { $0 != "]" }) }
        return String(host.prefix { $0 != ":" })
    }

    private static func isThisMachine(_ name: String) -> Bool {
        guard let address = IPAddress(name) else {
            // RFC 6761, 6.3: such names lead nowhere else.
            let name = name.lowercased()
            return name == "localhost" || name.hasSuffix(".localhost")
        }
        return IPNetwork.loopback.contains { $0.contains(address.unmapped) }
    }
}
