import Testing
import TideoverSignatures

struct MintingTests {
    @Test func `values that a certificate cannot contain are refused`() throws {
        let root = try TestChain().root
        var template = TestChain.Plan().leaf
        func mint() throws(MintingError) {
            _ = try root.certificate(template, for: .generate(.p256))
        }
        for subject in ["", String(repeating: "x", count: 65)] {
            template.subject = subject
            #expect(throws: MintingError.subject(subject)) { try mint() }
        }
        template.subject = String(repeating: "ü", count: 64)
        #expect(throws: Never.self) { try mint() }
        for identifier in ["", "x", "1.2.x", "9.9"] {
            template.extensions = [CertificateExtension(identifier)]
            #expect(throws: MintingError.objectIdentifier(identifier)) { try mint() }
        }
        template.extensions = []
        for instant in [Int64.max, Int64.min, 253_402_300_800_000] {
            template.notAfter = instant
            #expect(throws: MintingError.instant(instant)) { try mint() }
        }
        template.notAfter = TestChain.end
        template.basicConstraints = BasicConstraints(isAuthority: true, pathLength: -1)
        #expect(throws: MintingError.pathLength(-1)) { try mint() }
    }

    @Test func `fractional seconds are cut off, also before 1970`() throws {
        let chain = try TestChain {
            $0.leaf.notBefore = -1
            $0.leaf.notAfter = TestChain.end + 999
        }
        let verifier = try chain.verifier()
        let found = try refusal {
            _ = try verifier.verifyChain(der: chain.certificates, at: TestChain.end + 1)
        }
        #expect(found?.code == "certificate-not-valid")
        let expired = try TestChain {
            $0.leaf.notBefore = -2001
            $0.leaf.notAfter = -1
        }
        #expect(
            try refusal {
                _ = try expired.verifier().verifyChain(
                    der: expired.certificates,
                    at: TestChain.instant
                )
            }
                == .certificateNotValidAt(
                    .leaf,
                    notBefore: -3000,
                    notAfter: -1000,
                    at: TestChain.instant
                )
        )
    }
}
