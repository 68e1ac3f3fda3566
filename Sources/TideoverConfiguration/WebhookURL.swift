package import TideoverHTTP

/// The rule for the URL of a receiver.
package enum WebhookURL {
    /// Whether a text has the form of a receiver's URL.
    package static func isReceiver(_ text: String) -> Bool {
        (try? ConfigurationForm<String>.receiver.read(text)) ?? nil != nil
    }

    /// Whether a URL is `https`, or has an address of an allowed network as its host. Names are
    /// resolved later, and their addresses are checked at each connection.
    package static func isProtected(_ url: String, _ allowNetworks: [IPNetwork]) -> Bool {
        if url.hasPrefix("https://") { return true }
        let authority = url.dropFirst("http://".count).prefix { !"/?#".contains($0) }
        let host =
            authority.first == "["
            ? authority.dropFirst().prefix { $0 != "]" } : authority.prefix { $0 != ":" }
        guard let address = IPAddress(host) else { return false }
        return allowNetworks.contains { $0.contains(address) }
    }
}
