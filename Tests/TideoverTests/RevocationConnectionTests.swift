import Foundation
import Testing
import TideoverCommandLine
import TideoverHTTP
import TideoverHTTPClient
import TideoverServer
import TideoverSignatures
import TideoverTestProcesses

@testable import tideover

/// Which OCSP responders of certificates are asked. A certificate's URL must not make the server
/// send requests to any other place.
@Suite final class RevocationConnectionTests: SuiteWithFolder {
    private static func root() throws -> TrustAnchor {
        let template = CertificateTemplate.root(
            subject: "Root",
            notBefore: 946_684_800_000,
            notAfter: 4_102_444_799_000
        )
        let authority = try CertificateAuthority.selfSigned(template, key: .generate(.p256))
        return try TrustAnchor(name: "root", der: authority.certificate)
    }

    private func connections(simulated root: TrustAnchor) throws -> RevocationConnections {
        try Data(root.der).write(to: folder.appending(path: "root.der"))
        let text = """
            { apps: [{ id: "cards", environments: ["simulated"],
              appStore: { bundleId: "com.example.cards" },
              simulatedStore: { url: "http://sandbox.test:8081", root: "root.der" },
              products: { "cards.pro.monthly": { entitlements: ["premium"], period: "P1M" } } }] }
            """
        try write(text, to: "tideover.json")
        let configuration = try ConfigurationFile.load(
            folder.path + "/tideover.json",
            variables: [:],
            telling: Output(capturingAs: .plain)
        )
        return RevocationConnections(configuration)
    }

    @Test func `below other roots only Apple's hosts at public addresses are asked`() throws {
        let connections = try connections(simulated: Self.root())
        let apple = try Self.root()
        for url in ["http://ocsp.apple.com/ocsp03-wwdrg601", "https://OCSP2.apple.com/a"] {
            let destination = connections.destination(url, below: apple)
            #expect(destination?.addresses == .publicOnly(allow: []), "\(url)")
            #expect(destination?.limits.bodyBytes == OCSPResponse.maximumByteCount)
        }
        for url in [
            "http://127.0.0.1/", "http://localhost/", "http://[::1]/", "http://169.254.169.254/",
            "http://sandbox.test:8081/ocsp", "http://apple.com.evil.test/", "http://evilapple.com/",
            "http://ocsp.apple.com:8080/", "http://user@ocsp.apple.com/", "ftp://ocsp.apple.com/",
            "file:///etc/passwd", "ldap://ocsp.apple.com/", "http://ocsp.apple.com@evil.test/",
            "ocsp.apple.com", "",
        ] {
            #expect(connections.destination(url, below: apple) == nil, "\(url)")
        }
    }

    @Test func `below a simulated root only its store and loopback are asked`() throws {
        let root = try Self.root()
        let connections = try connections(simulated: root)
        #expect(
            connections.destination("http://sandbox.test:9000/ocsp", below: root)?.addresses == .any
        )
        let loopback = try #require(connections.destination("http://127.0.0.1:9/", below: root))
        let address = try #require(IPAddress("127.0.0.1"))
        let other = try #require(IPAddress("10.0.0.1"))
        #expect(loopback.addresses.objection(to: address) == nil)
        #expect(loopback.addresses.objection(to: other) == .privateUse)
        for url in ["http://ocsp.apple.com/", "http://10.0.0.1/", "http://169.254.169.254/"] {
            #expect(connections.destination(url, below: root) == nil, "\(url)")
        }
    }
}
