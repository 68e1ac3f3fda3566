import Testing
import TideoverSignatures

/// Apple's own test documents and certificates.
@Suite(.enabled(if: Vectors.present, "vectors are not beside the project"))
struct AppleVectorTests {
    /// An instant within the validity of the real chain, and one after it, in milliseconds since
    /// 1970.
    private let whileValid: Int64 = 1_761_962_975_000
    private let afterwards: Int64 = 2_280_946_846_000

    @Test(
        arguments: [
            ("testNotification", 1_681_314_324_000), ("transactionInfo", 1_672_956_154_000),
            ("renewalInfo", 1_672_956_154_000), ("wrongBundleId", 1_681_314_324_000),
        ] as [(String, Int64)]
    )
    func `mock documents verify under the test root`(name: String, at: Int64) throws {
        let verifier = try verifier(root: "apple/certs/testCA.der")
        let jws = try JWS(Vectors.bytes("apple/mock_signed_data/\(name)"))
        #expect(try verifier.verify(jws, at: at).name == "apple")
        #expect(try verifier.verify(jws, at: at).name == "apple")
        #expect(verifier.publicKeyOperationCount == 2)
    }

    @Test func `the real root verifies none of the mock documents`() throws {
        let verifier = try verifier(root: "apple/real-chain/REAL_APPLE_ROOT.der")
        for name in ["testNotification", "transactionInfo", "renewalInfo", "wrongBundleId"] {
            let jws = try JWS(Vectors.bytes("apple/mock_signed_data/\(name)"))
            #expect(try reason(verifier, jws) == .untrustedRoot)
        }
        #expect(verifier.publicKeyOperationCount == 0)
    }

    @Test func `a header without x5c is reported, and a receipt is not a document`() throws {
        let verifier = try verifier(root: "apple/certs/testCA.der")
        let jws = try JWS(Vectors.bytes("apple/mock_signed_data/missingX5CHeaderClaim"))
        #expect(try reason(verifier, jws) == .missingChain)
        let legacy = try Vectors.bytes("apple/mock_signed_data/legacyTransaction")
        #expect(try refusal { _ = try JWS(legacy) } == .notCompactJWS(segments: 1))
    }

    @Test(arguments: ["app-transaction", "transaction", "renewal-info"])
    func `a document signed by Xcode has one certificate and is refused`(name: String) throws {
        let verifier = try verifier(root: "apple/certs/testCA.der")
        let jws = try JWS(Vectors.bytes("apple/xcode/xcode-signed-\(name)"))
        #expect(try reason(verifier, jws) == .chainLength(1))
    }

    @Test(arguments: ["app-receipt-empty", "app-receipt-with-transaction"])
    func `receipts of Xcode are not signed documents`(name: String) throws {
        let receipt = try Vectors.bytes("apple/xcode/xcode-\(name)")
        #expect(try refusal { _ = try JWS(receipt) } == .notCompactJWS(segments: 1))
    }

    @Test func `the real chain verifies while it is valid and not afterwards`() throws {
        let names = [
            "REAL_APPLE_SIGNING_CERTIFICATE", "REAL_APPLE_INTERMEDIATE", "REAL_APPLE_ROOT",
        ]
        let verifier = try verifier(root: "apple/real-chain/REAL_APPLE_ROOT.der")
        let chain = try chain(names)
        #expect(try verifier.verifyChain(der: chain, at: whileValid).name == "apple")
        let refusal = try refusal { _ = try verifier.verifyChain(der: chain, at: afterwards) }
        #expect(refusal?.code == "certificate-not-valid")
    }

    @Test func `the real leaf is valid to the second that its certificate states`() throws {
        let names = [
            "REAL_APPLE_SIGNING_CERTIFICATE", "REAL_APPLE_INTERMEDIATE", "REAL_APPLE_ROOT",
        ]
        let verifier = try verifier(root: "apple/real-chain/REAL_APPLE_ROOT.der")
        let chain = try chain(names)
        let (notBefore, notAfter) = (1_758_311_091_000, 1_823_449_643_000) as (Int64, Int64)
        for inside in [notBefore, notAfter] {
            #expect(try verifier.verifyChain(der: chain, at: inside).name == "apple")
        }
        for outside in [notBefore - 1, notAfter + 1] {
            let expected = SignatureRefusal.certificateNotValidAt(
                .leaf,
                notBefore: notBefore,
                notAfter: notAfter,
                at: outside
            )
            #expect(
                try refusal { _ = try verifier.verifyChain(der: chain, at: outside) } == expected
            )
        }
    }

    @Test func `the test chain verifies, whatever its third certificate`() throws {
        let verifier = try verifier(root: "apple/real-chain/ROOT_CA.der")
        for third in ["ROOT_CA", "REAL_APPLE_ROOT", "LEAF_CERT"] {
            let chain = try chain(["LEAF_CERT", "INTERMEDIATE_CA", third])
            #expect(try verifier.verifyChain(der: chain, at: whileValid).name == "apple")
        }
        let chain = try chain(["LEAF_CERT", "INTERMEDIATE_CA"]) + [[0x00]]
        #expect(try verifier.verifyChain(der: chain, at: whileValid).name == "apple")
    }

    @Test func `certificates without the markers are refused although the root signed them`() throws
    {
        let verifier = try verifier(root: "apple/real-chain/ROOT_CA.der")
        let chains: [([String], ChainPosition)] = [
            (["LEAF_CERT_INVALID_OID", "INTERMEDIATE_CA"], .leaf),
            (
                ["LEAF_CERT_FOR_INTERMEDIATE_CA_INVALID_OID", "INTERMEDIATE_CA_INVALID_OID"],
                .intermediate
            ),
        ]
        for (names, position) in chains {
            let chain = try chain(names + ["ROOT_CA"])
            #expect(
                try refusal { _ = try verifier.verifyChain(der: chain, at: whileValid) }
                    == .markerMissing(position)
            )
        }
    }

    @Test func `the real and the test root do not verify each other's chains`()
        throws
    {
        let real = try verifier(root: "apple/real-chain/REAL_APPLE_ROOT.der")
        let test = try verifier(root: "apple/real-chain/ROOT_CA.der")
        let testChain = try chain(["LEAF_CERT", "INTERMEDIATE_CA", "REAL_APPLE_ROOT"])
        let realChain = try chain([
            "REAL_APPLE_SIGNING_CERTIFICATE", "REAL_APPLE_INTERMEDIATE", "ROOT_CA",
        ])
        #expect(
            try refusal { _ = try real.verifyChain(der: testChain, at: whileValid) }
                == .untrustedRoot
        )
        #expect(
            try refusal { _ = try test.verifyChain(der: realChain, at: whileValid) }
                == .untrustedRoot
        )
    }

    private func verifier(root: String) throws -> ChainVerifier {
        let anchor = try TrustAnchor(name: "apple", der: Vectors.bytes(root))
        return ChainVerifier(policy: TestChain.policy, anchors: [anchor])
    }

    private func chain(_ names: [String]) throws -> [[UInt8]] {
        try names.map { try Vectors.bytes("apple/real-chain/\($0).der") }
    }

    private func reason(_ verifier: ChainVerifier, _ jws: JWS) throws -> SignatureRefusal? {
        try refusal { _ = try verifier.verify(jws, at: whileValid) }
    }
}
