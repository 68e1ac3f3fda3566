import Testing
import TideoverSignatures
import TideoverTestResponders

/// The questions about revoked certificates, and which answers are believed.
@Suite struct OCSPTests {
    private static let hour: Int64 = 3_600_000
    private static let now = TestChain.instant
    private static let url = "http://ocsp.example/a"

    private let issuerKey = P256PrivateKey.generate()
    private let chain: TestChain

    init() throws {
        chain = try Self.chain(issuerKey)
    }

    private static func chain(_ issuerKey: P256PrivateKey) throws -> TestChain {
        try TestChain { plan in
            plan.intermediateKey = CertificateKey(issuerKey)
            plan.leaf.extensions.append(TestResponder.access(url))
        }
    }

    private static func leaf(of chain: TestChain) throws -> IssuedCertificate {
        let signer = try chain.verifier().signer(of: chain.document(), at: now)
        return try #require(signer.certificates.first { $0.position == .leaf })
    }

    private var leaf: IssuedCertificate { get throws { try Self.leaf(of: chain) } }

    private var issuer: TestResponder {
        TestResponder(subject: "Test Intermediate", key: issuerKey)
    }

    private static func plan(
        _ status: TestResponder.Status = .good,
        _ change: (inout TestResponder.Plan) -> Void = { _ in }
    ) -> TestResponder.Plan {
        var plan = TestResponder.Plan(status, thisUpdate: now - hour, nextUpdate: now + hour)
        change(&plan)
        return plan
    }

    private func verdict(
        _ response: [UInt8],
        at instant: Int64 = now
    ) throws -> Result<RevocationStatement, OCSPRefusal> {
        let leaf = try leaf
        return Result { () throws(OCSPRefusal) in
            try OCSPResponse.verify(response, about: leaf, at: instant)
        }
    }

    /// A certificate for a responder's key.
    private func responder(
        _ key: P256PrivateKey,
        from authority: CertificateAuthority? = nil,
        until end: Int64 = TestChain.end,
        usage: [CertificateExtension] = [TestResponder.usage]
    ) throws -> TestResponder {
        let template = CertificateTemplate(
            subject: "Responder",
            serial: 9,
            notBefore: TestChain.start,
            notAfter: end,
            basicConstraints: nil,
            keyUsage: .digitalSignature,
            extensions: usage
        )
        let certificate = try (authority ?? chain.intermediate).certificate(
            template,
            for: CertificateKey(key)
        )
        return TestResponder(subject: "Responder", key: key, certificates: [certificate])
    }

    @Test func `a request names the certificate, and the certificate its responder`() throws {
        let leaf = try leaf
        #expect(leaf.responders == [Self.url])
        let request = try #require(leaf.ocspRequest)
        #expect(try TestResponder.identifier(in: request) == leaf.identifier)
        let signer = try chain.verifier().signer(of: chain.document(), at: Self.now)
        #expect(signer.certificates.map(\.position) == [.leaf, .intermediate])
        #expect(Set(signer.certificates.map(\.identifier)).count == 2)
        #expect(signer.certificates.last?.responders == [])
    }

    @Test func `each status of the issuer is read with its dates`() throws {
        let statuses: [(TestResponder.Status, RevocationStatement.Status)] = [
            (.good, .good), (.unknown, .unknown),
            (.revoked(Self.now - 2 * Self.hour), .revoked(at: Self.now - 2 * Self.hour)),
        ]
        for (sent, expected) in statuses {
            let response = issuer.response(Self.plan(sent), about: try leaf.identifier)
            let statement = try verdict(response).get()
            #expect(statement.status == expected)
            #expect(statement.thisUpdate == Self.now - Self.hour)
            #expect(statement.validUntil == Self.now + Self.hour)
        }
    }

    @Test func `a responder that the issuer certified for OCSP is believed`() throws {
        let response = try responder(.generate()).response(
            Self.plan(.revoked(Self.now)),
            about: leaf.identifier
        )
        #expect(try verdict(response).get().status == .revoked(at: Self.now))
    }

    @Test func `no other signer is believed, whatever it claims`() throws {
        let stranger = try TestChain { $0.intermediateKey = CertificateKey(.generate()) }
        let key = P256PrivateKey.generate()
        let others: [(String, TestResponder)] = [
            ("another key under the issuer's name", .init(subject: "Test Intermediate", key: key)),
            ("a signer without a certificate", .init(subject: "Responder", key: key)),
            ("a responder of another authority", try responder(key, from: stranger.intermediate)),
            ("a responder of the root", try responder(key, from: chain.root)),
            ("a certificate without the usage", try responder(key, usage: [])),
            ("an expired responder", try responder(key, until: Self.now - Self.hour)),
            (
                "the leaf itself",
                .init(
                    subject: "Test Leaf",
                    key: chain.signingKey,
                    certificates: [chain.leaf]
                )
            ),
        ]
        for (name, other) in others {
            let response = other.response(
                Self.plan(.revoked(Self.now)),
                about: try leaf.identifier
            )
            #expect(try verdict(response) == .failure(.untrustedSigner), "\(name)")
        }
    }

    @Test func `a changed byte of the signed part is never believed`() throws {
        let response = issuer.response(Self.plan(.good), about: try leaf.identifier)
        for index in response.indices {
            var changed = response
            changed[index] ^= 0x01
            // A change of the signature itself may be another encoding of it.
            if case .success(let statement) = try verdict(changed) {
                #expect(statement == (try verdict(response).get()), "byte \(index)")
            }
        }
    }

    @Test func `an answer about another certificate is none`() throws {
        let other = try Self.leaf(of: chain.sibling(serial: 77))
        let response = issuer.response(Self.plan(.revoked(Self.now)), about: other.identifier)
        #expect(try verdict(response) == .failure(.otherCertificate))
    }

    @Test func `an answer counts only between its dates`() throws {
        let day = 24 * Self.hour
        let cases: [(TestResponder.Plan, OCSPRefusal?)] = [
            (Self.plan { $0.nextUpdate = Self.now }, nil),
            (Self.plan { $0.nextUpdate = Self.now - 1000 }, .expired),
            (Self.plan { $0.thisUpdate = Self.now + 300_000 }, nil),
            (Self.plan { $0.thisUpdate = Self.now + 301_000 }, .notYetValid),
            (Self.plan { $0.nextUpdate = $0.thisUpdate - 1000 }, .malformed),
            (Self.plan { ($0.thisUpdate, $0.nextUpdate) = (Self.now - day, nil) }, nil),
            (Self.plan { ($0.thisUpdate, $0.nextUpdate) = (Self.now - day - 1000, nil) }, .expired),
            (Self.plan { $0.thisUpdate = Self.now - 14 * day - 1000 }, .expired),
        ]
        for (plan, expected) in cases {
            let verdict = try verdict(issuer.response(plan, about: leaf.identifier))
            if let expected {
                #expect(verdict == .failure(expected), "\(plan)")
            } else {
                #expect(throws: Never.self) { try verdict.get() }
            }
        }
    }

    @Test func `what is no response of a known form is refused`() throws {
        let identifier = try leaf.identifier
        let good = issuer.response(Self.plan(), about: identifier)
        let large = [UInt8](repeating: 0x30, count: OCSPResponse.maximumByteCount + 1)
        #expect(try verdict([]) == .failure(.malformed))
        #expect(try verdict(Array("<html>no</html>".utf8)) == .failure(.malformed))
        #expect(try verdict(Array(good.dropLast())) == .failure(.malformed))
        #expect(try verdict(good + [0]) == .failure(.malformed))
        #expect(try verdict(large) == .failure(.tooLarge))
        #expect(try verdict(TestResponder.tryLater) == .failure(.unsuccessful))
        let critical = Self.plan { $0.isCritical = true }
        #expect(
            try verdict(issuer.response(critical, about: identifier))
                == .failure(.criticalExtension)
        )
        // ECDSA with SHA-1.
        let weak = Self.plan { $0.algorithm = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x01] }
        #expect(
            try verdict(issuer.response(weak, about: identifier)) == .failure(.algorithm)
        )
    }
}
