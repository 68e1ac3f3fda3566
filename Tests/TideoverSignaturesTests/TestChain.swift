import TideoverJSON
import TideoverSignatures

/// A root, an intermediate and a leaf created for one test, and documents signed with the leaf.
struct TestChain {
    /// 2026-01-01T00:00:00Z.
    static let start: Int64 = 1_767_225_600_000
    /// 2027-01-01T00:00:00Z.
    static let end: Int64 = 1_798_761_600_000
    /// 2026-05-06T10:00:00Z, while all three are valid.
    static let instant: Int64 = 1_778_061_600_000

    static let policy = ChainPolicy(
        leafMarker: "1.2.840.113635.100.6.11.1",
        intermediateMarker: "1.2.840.113635.100.6.2.1"
    )

    /// The chain to create; a test changes only the part it examines.
    struct Plan {
        var root = CertificateTemplate.root(
            subject: "Test Root",
            notBefore: start,
            notAfter: end
        )
        var intermediate = CertificateTemplate.intermediate(
            subject: "Test Intermediate",
            notBefore: start,
            notAfter: end,
            marker: policy.intermediateMarker
        )
        var leaf = CertificateTemplate.leaf(
            subject: "Test Leaf",
            notBefore: start,
            notAfter: end,
            marker: policy.leafMarker
        )
        var rootKey = CertificateKey.generate(.p384)
        var intermediateKey = CertificateKey.generate(.p384)
        var signingKey = P256PrivateKey.generate()
        /// The key of the leaf certificate, if not the signing key.
        var leafKey: CertificateKey?
        /// The issuer of the leaf certificate, if not the intermediate.
        var leafIssuer: CertificateAuthority?
    }

    let root: CertificateAuthority
    let intermediate: CertificateAuthority
    let leaf: [UInt8]
    let signingKey: P256PrivateKey

    private let plan: Plan

    init(_ plan: Plan = Plan()) throws {
        self.plan = plan
        root = try .selfSigned(plan.root, key: plan.rootKey)
        intermediate = try root.authority(plan.intermediate, key: plan.intermediateKey)
        leaf = try (plan.leafIssuer ?? intermediate).certificate(
            plan.leaf,
            for: plan.leafKey ?? CertificateKey(plan.signingKey)
        )
        signingKey = plan.signingKey
    }

    init(_ change: (inout Plan) throws -> Void) throws {
        var plan = Plan()
        try change(&plan)
        try self.init(plan)
    }

    /// Returns a chain with the same root and intermediate and another leaf and signing key.
    func sibling(serial: UInt64) throws -> TestChain {
        try TestChain(self, serial: serial)
    }

    private init(_ chain: TestChain, serial: UInt64) throws {
        plan = chain.plan
        (root, intermediate) = (chain.root, chain.intermediate)
        signingKey = .generate()
        var template = plan.leaf
        template.serial = serial
        leaf = try intermediate.certificate(template, for: CertificateKey(signingKey))
    }

    var certificates: [[UInt8]] { [leaf, intermediate.certificate, root.certificate] }

    var x5c: [JSONValue] { certificates.map { .string(Base64.encodeString($0, .standard)) } }

    func anchor(_ name: String = "simulated") throws -> TrustAnchor {
        try TrustAnchor(name: name, der: root.certificate)
    }

    func verifier(cacheCapacity: Int = 32) throws -> ChainVerifier {
        ChainVerifier(policy: Self.policy, anchors: [try anchor()], cacheCapacity: cacheCapacity)
    }

    var header: JSONObject { ["alg": "ES256", "x5c": .array(x5c)] }

    func compact(_ payload: String = #"{"a":1}"#) throws -> [UInt8] {
        try JWS.sign(header: header, payload: Array(payload.utf8), with: signingKey)
    }

    func document(_ payload: String = #"{"a":1}"#) throws -> JWS {
        try JWS(compact(payload))
    }

    /// Returns a document with these header members instead.
    func document(header: JSONObject) throws -> JWS {
        try JWS(JWS.sign(header: header, payload: Array("{}".utf8), with: signingKey))
    }

    /// Returns the compact form with this text as header, well-formed or not, with a valid
    /// signature.
    func compact(headerText: String) -> [UInt8] {
        let input = Base64.encode(Array(headerText.utf8), .urlSafe) + Array(".e30".utf8)
        return input + Array(".".utf8) + Base64.encode(signingKey.sign(input), .urlSafe)
    }
}

/// Returns the refusal that `body` throws; nil if it does not throw.
func refusal(_ body: () throws -> Void) throws -> SignatureRefusal? {
    do {
        try body()
        return nil
    } catch let refusal as SignatureRefusal {
        return refusal
    }
}
