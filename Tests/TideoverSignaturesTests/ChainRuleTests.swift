import Testing
import TideoverJSON
import TideoverSignatures

struct ChainRuleTests {
    private let instant = TestChain.instant

    @Test func `a chain like those of the stores verifies under its root`() throws {
        let chain = try TestChain()
        let verifier = try chain.verifier()
        #expect(try verifier.verify(chain.document(), at: instant) == chain.anchor())
        #expect(try verifier.verifyChain(der: chain.certificates, at: instant) == chain.anchor())
    }

    @Test func `roots and intermediates may be on either curve`() throws {
        for root in [EllipticCurve.p256, .p384] {
            for intermediate in [EllipticCurve.p256, .p384] {
                let chain = try TestChain {
                    $0.rootKey = .generate(root)
                    $0.intermediateKey = .generate(intermediate)
                }
                try chain.verifier().verify(chain.document(), at: instant).isExpected()
            }
        }
    }

    // MARK: Defective certificates

    private struct Defect: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let expected: SignatureRefusal
        let change: @Sendable (inout TestChain.Plan) throws -> Void

        init(
            _ name: String,
            _ expected: SignatureRefusal,
            _ change: @escaping @Sendable (inout TestChain.Plan) throws -> Void
        ) {
            testDescription = name
            self.expected = expected
            self.change = change
        }
    }

    /// NameConstraints: the permitted subtree `dNSName example.com`.
    private static let permittedHost: [UInt8] =
        [0x30, 0x11, 0xA0, 0x0F, 0x30, 0x0D, 0x82, 0x0B] + Array("example.com".utf8)
    /// SubjectAlternativeName: `dNSName example.org`.
    private static let otherHost: [UInt8] = [0x30, 0x0D, 0x82, 0x0B] + Array("example.org".utf8)

    private static let defects = [
        Defect("leaf without marker", .markerMissing(.leaf)) { $0.leaf.extensions = [] },
        Defect("leaf with the intermediate's marker", .markerMissing(.leaf)) {
            $0.leaf.extensions = $0.intermediate.extensions
        },
        Defect("leaf with a longer identifier", .markerMissing(.leaf)) {
            $0.leaf.extensions = [CertificateExtension("1.2.840.113635.100.6.11.1.1")]
        },
        Defect("intermediate without marker", .markerMissing(.intermediate)) {
            $0.intermediate.extensions = []
        },
        Defect("intermediate with the leaf's marker", .markerMissing(.intermediate)) {
            $0.intermediate.extensions = $0.leaf.extensions
        },
        Defect("leaf that is an authority", .leafIsAnAuthority) {
            $0.leaf.basicConstraints = BasicConstraints(isAuthority: true)
        },
        Defect("intermediate without authority", .notAnAuthority) {
            $0.intermediate.basicConstraints = BasicConstraints(isAuthority: false)
        },
        Defect("intermediate that does not say", .notAnAuthority) {
            $0.intermediate.basicConstraints = nil
        },
        Defect("intermediate that may not sign certificates", .keyUsage(.intermediate)) {
            $0.intermediate.keyUsage = [.digitalSignature, .revocationListSigning]
        },
        Defect(
            "intermediate that does not say what its key is for",
            .pathNotStrict("CA cert does not include key usage extension")
        ) {
            $0.intermediate.keyUsage = nil
            $0.intermediate.basicConstraints = BasicConstraints(isAuthority: true)
        },
        Defect(
            "leaf outside of what its intermediate may name",
            .pathNotStrict("permitted subtree violation")
        ) {
            // Permits DNS names under example.com, with a leaf for another host; neither extension
            // is critical.
            $0.intermediate.extensions.append(
                CertificateExtension("2.5.29.30", value: Self.permittedHost)
            )
            $0.leaf.extensions.append(CertificateExtension("2.5.29.17", value: Self.otherHost))
        },
        Defect("leaf that may not sign documents", .keyUsage(.leaf)) {
            $0.leaf.keyUsage = [.certificateSigning]
        },
        Defect("leaf on P-384", .leafKeyNotP256) { $0.leafKey = .generate(.p384) },
        Defect(
            "leaf with an unknown critical extension",
            .unhandledCriticalExtension(.leaf, "1.2.3.4")
        ) {
            $0.leaf.extensions.append(CertificateExtension("1.2.3.4", isCritical: true))
        },
        Defect(
            "intermediate with critical name constraints",
            .unhandledCriticalExtension(.intermediate, "2.5.29.30")
        ) {
            $0.intermediate.extensions.append(
                CertificateExtension("2.5.29.30", isCritical: true, value: Self.permittedHost)
            )
        },
        Defect("leaf with the marker twice", .certificateMalformed(.leaf)) {
            $0.leaf.extensions.append(CertificateExtension(TestChain.policy.leafMarker))
        },
        Defect("leaf with too many extensions", .certificateMalformed(.leaf)) {
            $0.leaf.extensions += (1...40).map { CertificateExtension("1.2.3.\($0)") }
        },
        Defect("leaf with malformed constraints", .certificateMalformed(.leaf)) {
            $0.leaf.basicConstraints = nil
            $0.leaf.extensions.append(CertificateExtension("2.5.29.19", value: [0x30, 0x01]))
        },
        Defect("leaf with malformed key usage", .certificateMalformed(.leaf)) {
            $0.leaf.keyUsage = nil
            $0.leaf.extensions.append(CertificateExtension("2.5.29.15", value: [0x04, 0x00]))
        },
        Defect("intermediate with a negative path length", .certificateMalformed(.intermediate)) {
            $0.intermediate.basicConstraints = nil
            let value: [UInt8] = [0x30, 0x06, 0x01, 0x01, 0xFF, 0x02, 0x01, 0xFF]
            $0.intermediate.extensions.append(CertificateExtension("2.5.29.19", value: value))
        },
        Defect("leaf made by another intermediate of the same name", .leafNotIssued) { plan in
            plan.leafIssuer = try TestChain().intermediate
        },
        Defect("leaf made by the root", .leafNotIssued) { plan in
            plan.leafIssuer = try .selfSigned(plan.root, key: plan.rootKey)
        },
        Defect("leaf made by an intermediate of another name", .leafNotIssued) { plan in
            let issuer = CertificateTemplate.root(
                subject: "Other",
                notBefore: TestChain.start,
                notAfter: TestChain.end
            )
            plan.leafIssuer = try .selfSigned(issuer, key: plan.intermediateKey)
        },
    ]

    @Test(arguments: defects)
    private func `a chain with one defect is refused for it`(defect: Defect) throws {
        let chain = try TestChain(defect.change)
        let verifier = try chain.verifier()
        for _ in 0..<2 {
            let found =
                try refusal { _ = try verifier.verify(chain.document(), at: instant) }
                ?? refusal { _ = try verifier.verifyChain(der: chain.certificates, at: instant) }
            #expect(found == defect.expected)
        }
        #expect(verifier.cachedChainCount == 0)
    }

    @Test func `optional and additional parts of certificates are accepted`() throws {
        let chain = try TestChain {
            $0.leaf.basicConstraints = nil
            $0.leaf.keyUsage = nil
            $0.intermediate.basicConstraints = BasicConstraints(isAuthority: true, pathLength: 3)
            $0.leaf.extensions.append(CertificateExtension("1.2.3.4"))
            $0.leaf.extensions[0].value = [0x0C, 0x01, 0x78]
        }
        try chain.verifier().verify(chain.document(), at: instant).isExpected()
    }

    @Test func `certificates with other keys are refused with their kind`() throws {
        let anchor = try TrustAnchor(name: "x", der: OtherCertificates.der(OtherCertificates.root))
        let verifier = ChainVerifier(policy: TestChain.policy, anchors: [anchor])
        typealias Other = OtherCertificates
        let chains: [(String, String, SignatureRefusal?)] = [
            (Other.leaf, Other.intermediate, nil),
            (Other.leaf, Other.intermediateBySHA1, .certificateAlgorithm(.intermediate)),
            (Other.leaf, Other.intermediateOnP521, .authorityKeyUnsupported),
            (Other.leaf, Other.intermediateWithRSA, .authorityKeyUnsupported),
            (Other.leafBySHA1, Other.intermediate, .certificateAlgorithm(.leaf)),
            (Other.leafWithRSA, Other.intermediate, .leafKeyNotP256),
            (Other.leafWithEd25519, Other.intermediate, .leafKeyNotP256),
            (Other.leafWithOwnCurve, Other.intermediate, .leafKeyNotP256),
            (Other.leafWithCompressedPoint, Other.intermediate, .leafKeyNotP256),
        ]
        for (leaf, intermediate, expected) in chains {
            let chain = [try Other.der(leaf), try Other.der(intermediate), []]
            let found = try refusal {
                _ = try verifier.verifyChain(der: chain, at: Other.instant)
            }
            #expect(found == expected)
        }
        #expect(throws: TrustAnchorError.unsupportedKey) {
            try TrustAnchor(name: "x", der: Other.der(Other.rsaRoot))
        }
    }

    @Test func `a chain named and extended as a store's is valid to the second`() throws {
        typealias Other = OtherCertificates
        let chain = try [Other.storeLeaf, Other.storeIntermediate, Other.storeRoot].map(Other.der)
        let anchor = try TrustAnchor(name: "simulated", der: chain[2])
        let verifier = ChainVerifier(policy: TestChain.policy, anchors: [anchor])
        // From 2026-11-27T08:50:17Z, with the leaf, to 2126-11-03T08:50:16Z, with the root.
        let (begin, end) = (1_795_769_417_000, 4_949_369_416_000) as (Int64, Int64)
        for inside in [begin, end] {
            try verifier.verifyChain(der: chain, at: inside).isExpected()
        }
        for outside in [begin - 1, end + 1] {
            let found = try refusal { _ = try verifier.verifyChain(der: chain, at: outside) }
            #expect(found?.code == "certificate-not-valid")
        }
    }

    // MARK: Roots

    @Test func `an attacker's chain costs at most one operation`() throws {
        let trusted = try TestChain()
        let verifier = try trusted.verifier()
        let sameNames = try TestChain()
        let forged = try sameNames.document()
        #expect(try refusal { _ = try verifier.verify(forged, at: instant) } == .untrustedRoot)
        #expect(verifier.publicKeyOperationCount == 1)
        let otherNames = try TestChain { $0.root.subject = "Elsewhere" }
        let stranger = try otherNames.document()
        #expect(try refusal { _ = try verifier.verify(stranger, at: instant) } == .untrustedRoot)
        #expect(verifier.publicKeyOperationCount == 1)
    }

    @Test func `nothing below a forged intermediate is verified`() throws {
        let verifier = try TestChain().verifier()
        let forged = try TestChain()
        let chain = [Array("no certificate".utf8), forged.intermediate.certificate, []]
        #expect(
            try refusal { _ = try verifier.verifyChain(der: chain, at: instant) } == .untrustedRoot
        )
    }

    @Test func `a false leaf under a remembered intermediate costs one operation`() throws {
        let chain = try TestChain()
        let verifier = try chain.verifier()
        try verifier.verify(chain.document(), at: instant).isExpected()
        let before = verifier.publicKeyOperationCount
        let false1 = [try TestChain().leaf, chain.intermediate.certificate, []]
        #expect(
            try refusal { _ = try verifier.verifyChain(der: false1, at: instant) }
                == .leafNotIssued
        )
        #expect(verifier.publicKeyOperationCount == before + 1)
    }

    @Test func `the third certificate of the message is not an anchor`() throws {
        let own = try TestChain()
        let trusted = try TestChain()
        let certificates = [own.leaf, own.intermediate.certificate, trusted.root.certificate]
        #expect(
            try refusal { _ = try trusted.verifier().verifyChain(der: certificates, at: instant) }
                == .untrustedRoot
        )
        let none = ChainVerifier(policy: TestChain.policy, anchors: [])
        #expect(
            try refusal { _ = try none.verify(own.document(), at: instant) } == .untrustedRoot
        )
    }

    @Test func `each of several anchors verifies its own chains at one operation`() throws {
        let one = try TestChain { $0.root.subject = "Other Root" }
        let two = try TestChain()
        let three = try TestChain()
        let verifier = ChainVerifier(
            policy: TestChain.policy,
            anchors: [try one.anchor("one"), try two.anchor("two"), try three.anchor("three")]
        )
        for (chain, name) in [(one, "one"), (two, "two"), (three, "three")] {
            #expect(try verifier.verify(chain.document(), at: instant).name == name)
        }
        #expect(verifier.publicKeyOperationCount == 6)
    }

    @Test func `only an authority that may have an intermediate can be pinned`() throws {
        var template = CertificateTemplate.root(
            subject: "Root",
            notBefore: TestChain.start,
            notAfter: TestChain.end
        )
        #expect(throws: Never.self) { try pin(template) }
        template.basicConstraints = BasicConstraints(isAuthority: true, pathLength: 1)
        #expect(throws: Never.self) { try pin(template) }
        template.basicConstraints = BasicConstraints(isAuthority: true, pathLength: 0)
        #expect(throws: TrustAnchorError.noIntermediateAllowed) { try pin(template) }
        template.basicConstraints = BasicConstraints(isAuthority: false)
        #expect(throws: TrustAnchorError.notAnAuthority) { try pin(template) }
        template.basicConstraints = BasicConstraints(isAuthority: true)
        template.keyUsage = .digitalSignature
        #expect(throws: TrustAnchorError.notAnAuthority) { try pin(template) }
        let der = try TestChain().root.certificate
        for bytes in [[], [0x30], Array(der.dropLast()), der + [0]] {
            #expect(throws: TrustAnchorError.malformed) {
                try TrustAnchor(name: "x", der: bytes)
            }
        }
    }

    private func pin(_ template: CertificateTemplate) throws {
        let root = try CertificateAuthority.selfSigned(template, key: .generate(.p256))
        _ = try TrustAnchor(name: "x", der: root.certificate)
    }

    // MARK: Validity

    @Test func `each certificate must be valid at the instant, both ends included`() throws {
        let (begin, end) = (instant - 60_000, instant + 60_000)
        let templates: [(ChainPosition, WritableKeyPath<TestChain.Plan, CertificateTemplate>)] = [
            (.anchor, \.root), (.intermediate, \.intermediate), (.leaf, \.leaf),
        ]
        for (position, template) in templates {
            let chain = try TestChain {
                $0[keyPath: template].notBefore = begin
                $0[keyPath: template].notAfter = end
            }
            let jws = try chain.document()
            let cached = try chain.verifier()
            for inside in [begin, begin + 1, begin + 1000, end - 1000, end - 1, end] {
                try chain.verifier().verify(jws, at: inside).isExpected()
                try cached.verify(jws, at: inside).isExpected()
            }
            #expect(cached.publicKeyOperationCount == 2)
            for outside in [.min, 0, begin - 1000, begin - 1, end + 1, end + 1000, .max] {
                let expected = SignatureRefusal.certificateNotValidAt(
                    position,
                    notBefore: begin,
                    notAfter: end,
                    at: outside
                )
                let fresh = try chain.verifier()
                let first = try refusal { _ = try fresh.verify(jws, at: outside) }
                #expect(try refusal { _ = try cached.verify(jws, at: outside) } == first)
                if outside >= TestChain.start, outside <= TestChain.end {
                    #expect(first == expected)
                }
                #expect(first?.code == expected.code)
                #expect(fresh.cachedChainCount == 0)
            }
        }
    }

    @Test func `a validity beyond 2049 is read as well`() throws {
        let far: Int64 = 253_402_300_799_000
        let chain = try TestChain {
            for template in [\.root, \.intermediate, \.leaf]
                as [WritableKeyPath<TestChain.Plan, CertificateTemplate>]
            {
                $0[keyPath: template].notAfter = far
            }
        }
        let verifier = try chain.verifier()
        try verifier.verify(chain.document(), at: far).isExpected()
        #expect(
            try refusal { _ = try verifier.verify(chain.document(), at: far + 1) }?.code
                == "certificate-not-valid"
        )
    }

    // MARK: Headers

    @Test func `a chain has three certificates`() throws {
        let chain = try TestChain()
        let verifier = try chain.verifier()
        for certificates in [
            [], Array(chain.x5c.prefix(1)), Array(chain.x5c.prefix(2)), chain.x5c + chain.x5c,
            chain.x5c + [chain.x5c[2]],
        ] {
            let jws = try chain.document(header: ["alg": "ES256", "x5c": .array(certificates)])
            #expect(
                try refusal { _ = try verifier.verify(jws, at: instant) }
                    == .chainLength(certificates.count)
            )
        }
        let two = Array(chain.certificates.prefix(2))
        #expect(
            try refusal { _ = try verifier.verifyChain(der: two, at: instant) } == .chainLength(2)
        )
        #expect(verifier.publicKeyOperationCount == 0)
    }

    @Test func `a single certificate is refused for its number, with a key id too`() throws {
        let chain = try TestChain()
        let verifier = try chain.verifier()
        var header: JSONObject = ["alg": "ES256", "x5c": .array(Array(chain.x5c.prefix(1)))]
        for id in [nil, "Example_Xcode_Key"] as [JSONValue?] {
            header["kid"] = id
            let jws = try chain.document(header: header)
            #expect(try refusal { _ = try verifier.verify(jws, at: instant) } == .chainLength(1))
        }
        #expect(verifier.publicKeyOperationCount == 0)
    }

    @Test func `a chain is an array of strings`() throws {
        let chain = try TestChain()
        let verifier = try chain.verifier()
        let first = chain.x5c[0]
        let chains: [JSONValue] = [
            nil, first, 3, ["0": first], [first, 1, first], [first, first, nil],
            [[first], [first], [first]],
        ]
        for x5c in chains {
            let jws = try chain.document(header: ["alg": "ES256", "x5c": x5c])
            #expect(try refusal { _ = try verifier.verify(jws, at: instant) } == .malformedChain)
        }
        let without = try chain.document(header: ["alg": "ES256"])
        #expect(try refusal { _ = try verifier.verify(without, at: instant) } == .missingChain)
    }

    @Test func `entries are canonical standard base64 of one certificate`() throws {
        let chain = try TestChain()
        let verifier = try chain.verifier()
        let good = chain.certificates.map { Base64.encodeString($0, .standard) }
        let (leaf, intermediate) = (good[0], good[1])
        func found(_ first: String, _ second: String) throws -> SignatureRefusal? {
            let x5c: JSONValue = [.string(first), .string(second), .string(good[2])]
            let jws = try chain.document(header: ["alg": "ES256", "x5c": x5c])
            return try refusal { _ = try verifier.verify(jws, at: instant) }
        }
        for entry in [" " + leaf, leaf + "\n", leaf + "=", "*", "A", Self.urlSafe(chain.leaf)] {
            #expect(try found(entry, intermediate) == .certificateNotBase64(.leaf))
        }
        for entry in [intermediate + "\r\n", Self.urlSafe(chain.intermediate.certificate)] {
            #expect(try found(leaf, entry) == .certificateNotBase64(.intermediate))
        }
        for bytes in [[], [0x30, 0x80], Array("garbage".utf8), chain.leaf + [0]] as [[UInt8]] {
            let entry = Base64.encodeString(bytes, .standard)
            #expect(try found(entry, intermediate) == .certificateMalformed(.leaf))
            #expect(try found(leaf, entry) == .certificateMalformed(.intermediate))
        }
        #expect(try found(leaf, intermediate) == nil)
    }

    /// Returns a text that is never standard base64; only its length may be a multiple of four.
    private static func urlSafe(_ bytes: [UInt8]) -> String {
        "-_" + Base64.encodeString(bytes, .urlSafe)
    }

    @Test func `a certificate is at most 4 KiB`() throws {
        let chain = try TestChain()
        let verifier = try chain.verifier()
        let positions: [ChainPosition] = [.leaf, .intermediate, .anchor]
        for (index, position) in positions.enumerated() {
            for (size, isTooLarge) in [(4096, false), (4097, true), (10_000, true)] {
                var certificates = chain.certificates
                certificates[index] = [UInt8](repeating: 0x30, count: size)
                let x5c = certificates.map { JSONValue.string(Base64.encodeString($0, .standard)) }
                let jws = try chain.document(header: ["alg": "ES256", "x5c": .array(x5c)])
                let found = try refusal { _ = try verifier.verify(jws, at: instant) }
                #expect(
                    (found == .certificateTooLarge(position, size)) == isTooLarge,
                    "\(position) \(size)"
                )
                #expect(
                    try refusal { _ = try verifier.verifyChain(der: certificates, at: instant) }
                        == found
                )
            }
        }
    }

    @Test(arguments: ["none", "HS256", "ES384", "RS256", "es256"])
    func `another algorithm is refused before any certificate is read`(name: String) throws {
        let chain = try TestChain()
        let verifier = try chain.verifier()
        var header = chain.header
        header["alg"] = .string(name)
        let jws = try chain.document(header: header)
        #expect(
            try refusal { _ = try verifier.verify(jws, at: instant) } == .algorithm(found: name)
        )
        header["alg"] = nil
        let without = try chain.document(header: header)
        #expect(
            try refusal { _ = try verifier.verify(without, at: instant) }
                == .algorithm(found: nil)
        )
        #expect(verifier.publicKeyOperationCount == 0)
    }

    @Test(arguments: ["crit", "zip", "b64", "jku", "jwk", "x5u", "kid"])
    func `a parameter that could set another key or meaning is refused`(name: String) throws {
        let chain = try TestChain()
        let verifier = try chain.verifier()
        for value in [nil, "x", false, ["exp"]] as [JSONValue] {
            var header = chain.header
            header[name] = value
            let jws = try chain.document(header: header)
            #expect(
                try refusal { _ = try verifier.verify(jws, at: instant) } == .forbiddenHeader(name)
            )
        }
        #expect(verifier.publicKeyOperationCount == 0)
    }

    @Test func `similar parameter names are accepted`() throws {
        let chain = try TestChain()
        var header = chain.header
        header["typ"] = "JWT"
        header["KID"] = "x"
        let jws = try chain.document(header: header)
        try chain.verifier().verify(jws, at: instant).isExpected()
    }

    @Test func `duplicate names are refused even when both agree`() throws {
        let chain = try TestChain()
        let x5c = String(decoding: JSONValue.array(chain.x5c).encoded(), as: UTF8.self)
        for text in [
            #"{"alg":"ES256","alg":"ES256","x5c":\#(x5c)}"#,
            #"{"alg":"ES256","x5c":[],"x5c":\#(x5c)}"#,
            #"{"alg":"ES256","x\u0035c":\#(x5c),"x5c":\#(x5c)}"#,
        ] {
            #expect(
                try refusal { _ = try JWS(chain.compact(headerText: text)) }?.code
                    == "header-not-json"
            )
        }
        let once = try JWS(chain.compact(headerText: #"{"alg":"ES256","x5c":\#(x5c)}"#))
        try chain.verifier().verify(once, at: instant).isExpected()
    }

    @Test func `escapes in the header are decoded as JSON`() throws {
        let chain = try TestChain()
        let x5c = String(decoding: JSONValue.array(chain.x5c).encoded(), as: UTF8.self)
            .split(separator: "/", omittingEmptySubsequences: false).joined(separator: #"\/"#)
        let text = #"{"\u0061lg":"ES\u003256","x5c":\#(x5c)}"#
        let jws = try JWS(chain.compact(headerText: text))
        try chain.verifier().verify(jws, at: instant).isExpected()
    }

    // MARK: Signatures

    @Test func `a valid chain does not validate a false signature`() throws {
        let chain = try TestChain()
        let verifier = try chain.verifier()
        let jws = try chain.document()
        let dot = Array(".".utf8)
        func with(_ signature: [UInt8]) throws -> JWS {
            try JWS(jws.signingInput + dot + Base64.encode(signature, .urlSafe))
        }
        func found(_ jws: JWS) throws -> SignatureRefusal? {
            try refusal { _ = try verifier.verify(jws, at: instant) }
        }
        let stranger = P256PrivateKey.generate()
        // Both before the chain is cached and afterwards.
        for _ in 0..<2 {
            #expect(try found(with(stranger.sign(jws.signingInput))) == .badSignature)
            #expect(try found(with([UInt8](repeating: 0, count: 64))) == .badSignature)
            for other in [
                [], Array(jws.signature.dropLast()), jws.signature + [0],
                ECDSASignature.der(raw: jws.signature),
            ] {
                #expect(try found(with(other)) == .signatureLength(other.count))
            }
            let payload = Base64.encode(Array(#"{"a":2}"#.utf8), .urlSafe)
            let signature = Base64.encode(jws.signature, .urlSafe)
            let tampered = Array(
                [Array(jws.headerText), payload, signature].joined(separator: dot)
            )
            #expect(try found(JWS(tampered)) == .badSignature)
            #expect(try found(jws) == nil)
        }
        // One for the intermediate, and one for the leaf of each of the four before the chain was
        // cached.
        #expect(verifier.publicKeyOperationCount == 5)
    }

    @Test func `the complement of a signature is accepted as the same signature`() throws {
        // ECDSA accepts (r, n - s) with (r, s), so the text of a signature is not an identity.
        let chain = try TestChain()
        let jws = try chain.document()
        let order = try bytes(
            hex: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
        )
        let other =
            Array(jws.signature.prefix(32)) + subtract(jws.signature.suffix(32), from: order)
        let twin = try JWS(
            jws.signingInput + Array(".".utf8) + Base64.encode(other, .urlSafe)
        )
        try chain.verifier().verify(twin, at: instant).isExpected()
    }

    private func subtract(_ small: ArraySlice<UInt8>, from large: [UInt8]) -> [UInt8] {
        var borrow = 0
        var result: [UInt8] = []
        for (a, b) in zip(large.reversed(), small.reversed()) {
            let digit = Int(a) - Int(b) - borrow
            borrow = digit < 0 ? 1 : 0
            result.append(UInt8(digit & 0xFF))
        }
        return result.reversed()
    }
}

extension TrustAnchor {
    /// Checks that the anchor is the expected one.
    func isExpected() {
        #expect(name == "simulated")
    }
}
