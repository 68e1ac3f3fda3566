import Testing
import TideoverJSON
import TideoverSandbox
import TideoverSignatures

@Suite struct SandboxAuthorityTests {
    private let notification = AppStoreMachine(
        app: AppStoreApp(bundleId: "com.example.cards", products: []),
        seed: 1,
        now: 1_769_853_600_000
    )

    private func signed(by authority: SandboxAuthority) throws -> JWS {
        var machine = notification
        let body = try JSONDocument(authority.body(of: machine.requestTestNotification()))
        return try JWS(Array(#require(body.root["signedPayload"]?.string).utf8))
    }

    @Test func `the chain verifies only under its own root`() throws {
        let authority = try SandboxAuthority()
        let other = try SandboxAuthority()
        let jws = try signed(by: authority)
        let anchor = try TrustAnchor(name: "simulated", der: authority.root)
        let verifier = ChainVerifier(policy: .appStore, anchors: [anchor])
        #expect(try verifier.verify(jws, at: 1_769_853_600_000) == anchor)

        let stranger = try TrustAnchor(name: "other", der: other.root)
        #expect(throws: SignatureRefusal.self) {
            try ChainVerifier(policy: .appStore, anchors: [stranger])
                .verify(jws, at: 1_769_853_600_000)
        }
    }

    @Test func `the chain is valid only within its stated period`() throws {
        let authority = try SandboxAuthority(notBefore: 1_000_000, notAfter: 2_000_000)
        let jws = try signed(by: authority)
        let anchor = try TrustAnchor(name: "simulated", der: authority.root)
        let verifier = ChainVerifier(policy: .appStore, anchors: [anchor])
        #expect(try verifier.verify(jws, at: 1_500_000) == anchor)
        #expect(throws: SignatureRefusal.self) { try verifier.verify(jws, at: 3_000_000) }
    }

    @Test func `the root has a name that no store's root has`() throws {
        let authority = try SandboxAuthority()
        let name = Array(SandboxAuthority.rootName.utf8)
        let found = authority.root.indices.contains {
            authority.root[$0...].starts(with: name)
        }
        #expect(found)
    }
}
