package import TideoverHTTP

/// The rules for the URL of a receiver.
package enum WebhookURL {
    /// Why no message may be sent to a URL.
    package enum Objection: Hashable, Sendable {
        /// It is not `https`, and its host is not an address of an allowed network.
        case unprotected
        /// Its host is an address that is not public, and of no allowed network.
        case notPublic(AddressUse)
    }

    /// Whether a text has the form of a receiver's URL.
    package static func isReceiver(_ text: String) -> Bool {
        (try? ConfigurationForm<String>.receiver.read(text)) ?? nil != nil
    }

    /// Returns the reason why no message may be sent to a receiver's URL; nil if there is none.
    ///
    /// Names are resolved later, and their addresses are checked at each connection.
    package static func objection(to url: String, _ allowNetworks: [IPNetwork]) -> Objection? {
        let address = IPAddress(host(of: url))
        let isAllowed = address.map { address in allowNetworks.contains { $0.contains(address) } }
        if isAllowed == true { return nil }
        guard url.hasPrefix("https://") else { return .unprotected }
        return address.flatMap { AddressUse(of: $0) }.map { .notPublic($0) }
    }

    private static func host(of url: String) -> Substring {
        let scheme = url.hasPrefix("https://") ? "https://" : "http://"
        let authority = url.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
        return authority.first == "["
            ? authority.dropFirst().prefix { $0 != "]" } : authority.prefix { $0 != ":" }
    }
}
