import TideoverAppStore
import TideoverConfiguration
import TideoverHTTP
import TideoverHTTPClient
import TideoverServer
import TideoverSignatures

/// Connects to the OCSP responders that certificates name.
///
/// The URL of a responder comes out of a certificate, so it is restricted by the anchor of its
/// chain: below Apple's roots to Apple's hosts at public addresses, and below the root of a
/// simulated store to that store's host and to loopback.
struct RevocationConnections {
    /// The host of each simulated store's URL, if configured, by the DER of its roots.
    private let simulatedHosts: [[UInt8]: Set<String>]

    init(_ configuration: Configuration) {
        var hosts: [[UInt8]: Set<String>] = [:]
        for store in configuration.apps.compactMap(\.simulatedStore) {
            let host = store.url.flatMap { try? HTTPURL($0) }?.host
            for root in [store.root, store.receiptRoot].compactMap(\.self) {
                hosts[root.der, default: []].formUnion([host].compactMap(\.self))
            }
        }
        // A root that vouches for real purchases is Apple's here, whatever else it is named.
        hosts[AppStoreSigning.appleRoot] = nil
        for root in configuration.apps.compactMap({ $0.appStore?.receiptRoot }) {
            hosts[root.der] = nil
        }
        simulatedHosts = hosts
    }

    /// Returns the checks that fill a list.
    func checks(_ list: RevocationList) throws -> RevocationChecks {
        let client = try HTTPClient(userAgent: "tideover/\(Tideover.version)")
        return RevocationChecks(list: list) { responder, anchor, request in
            guard let destination = destination(responder, below: anchor) else {
                return .forbidden
            }
            do {
                let response = try await client.send(request, to: destination)
                return .response(status: response.status, body: response.body)
            } catch {
                return .failure("\(error)")
            }
        }
    }

    /// Returns the destination of a responder's URL; nil if it may not be asked.
    func destination(_ responder: String, below anchor: TrustAnchor) -> Destination? {
        guard let url = try? HTTPURL(responder) else { return nil }
        guard let hosts = simulatedHosts[anchor.der] else {
            guard Self.isApple(url.host), [80, 443].contains(url.port) else { return nil }
            return Destination(url, addresses: .publicOnly(allow: []), limits: Self.limits)
        }
        // The operator configured the host of the store, so it may have any address.
        if hosts.contains(url.host) {
            return Destination(url, addresses: .any, limits: Self.limits)
        }
        guard Self.loopbackHosts.contains(url.host) else { return nil }
        let loopback = Self.loopbackNetworks.compactMap { IPNetwork($0) }
        return Destination(url, addresses: .publicOnly(allow: loopback), limits: Self.limits)
    }

    private static let loopbackHosts: Set<String> = ["localhost", "127.0.0.1", "[::1]"]
    private static let loopbackNetworks = ["127.0.0.0/8", "::1/128"]

    private static func isApple(_ host: String) -> Bool {
        let host = host.lowercased()
        return host == "apple.com" || host.hasSuffix(".apple.com")
    }

    private static var limits: ExchangeLimits {
        var limits = ExchangeLimits()
        limits.bodyBytes = OCSPResponse.maximumByteCount
        return limits
    }
}
