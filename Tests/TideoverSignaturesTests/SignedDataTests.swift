import Testing
import TideoverASN1
import TideoverSignatures

struct SignedDataTests {
    typealias Data = TestSignedData
    typealias Other = Data.Identifier

    private let chain: TestRSAChain

    init() throws {
        chain = try TestRSAChain.standard.get()
    }

    private func verifier(_ root: [UInt8]? = nil) throws -> SignedDataVerifier {
        SignedDataVerifier(
            leafMarker: TestChain.policy.leafMarker,
            intermediateMarker: TestChain.policy.intermediateMarker,
            anchors: [try TrustAnchor(name: "test", der: root ?? chain.root, keys: .rsa)]
        )
    }

    /// Returns the content of verified data; throws the refusal otherwise.
    private func believed(
        _ bytes: [UInt8],
        by verifier: SignedDataVerifier,
        at milliseconds: Int64 = TestChain.instant
    ) throws(SignatureRefusal) -> [UInt8] {
        let signed = try SignedData(bytes)
        _ = try verifier.verify(signed, at: milliseconds)
        return signed.content
    }

    @Test(arguments: Data.Form.allCases, RSADigest.allCases)
    func `signed content is accepted in every form`(form: Data.Form, digest: RSADigest) throws {
        for signature in [
            Other.rsa, digest == .sha1 ? Other.sha1WithRSA : Other.sha256WithRSA,
        ] {
            var data = Data(chain)
            (data.form, data.digest, data.signatureType) = (form, digest, signature)
            #expect(try believed(data.bytes, by: verifier()) == data.content)
        }
    }

    @Test(arguments: Data.Form.allCases)
    func `signed attributes represent the content`(form: Data.Form) throws {
        var data = Data(chain)
        data.form = form
        data.attributes = Data.attributes(about: data.content)
        #expect(try believed(data.bytes, by: verifier()) == data.content)
    }

    @Test func `certificates signed with SHA-1 are accepted`() throws {
        let old = try TestRSAChain { plan in
            plan.root.isSignedWithSHA1 = true
            plan.intermediate.isSignedWithSHA1 = true
            plan.leaf.isSignedWithSHA1 = true
        }
        var data = Data(old)
        data.digest = .sha1
        #expect(try believed(data.bytes, by: verifier(old.root)) == data.content)
    }

    @Test func `certificates can be in any order, and the root may be missing`() throws {
        var data = Data(chain)
        data.certificates = [chain.intermediate, chain.leaf]
        #expect(try believed(data.bytes, by: verifier()) == data.content)
    }

    // MARK: Damaged data

    struct Damage: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var refusal: SignatureRefusal
        var change: @Sendable (inout Data) -> Void

        init(
            _ description: String,
            _ refusal: SignatureRefusal,
            _ change: @escaping @Sendable (inout Data) -> Void
        ) {
            (testDescription, self.refusal, self.change) = (description, refusal, change)
        }
    }

    private static let otherDigest = Data.value(0x04, [UInt8](repeating: 1, count: 32))

    static let damages: [Damage] = [
        Damage("other content than was signed", .badSignature) { $0.signedContent = [1] },
        Damage("a signature with a bit turned", .badSignature) { data in
            var signature = data.key.sign(data.content, .sha256)
            signature[100] ^= 1
            data.signature = signature
        },
        Damage("a signature over the other digest", .badSignature) { data in
            data.signature = data.key.sign(data.content, .sha1)
        },
        Damage("an empty signature", .badSignature) { $0.signature = [] },
        Damage("a signature with a byte before it", .badSignature) { data in
            data.signature = [0] + data.key.sign(data.content, .sha256)
        },
        Damage("attributes about other content", .contentDigest) { data in
            data.attributes = Data.attributes(about: [1])
        },
        Damage("attributes that are not what was signed", .badSignature) { data in
            data.attributes = Data.attributes(about: data.content)
            data.signature = data.key.sign(data.content, .sha256)
        },
        Damage("no attribute of the digest", .signedAttribute("messageDigest")) { data in
            data.attributes = [Data.attributes(about: data.content)[0]]
        },
        Damage("no attribute of the type", .signedAttribute("contentType")) { data in
            data.attributes = [Data.attributes(about: data.content)[1]]
        },
        Damage("an attribute of another type", .signedAttribute("contentType")) { data in
            data.attributes = Data.attributes(about: data.content)
            data.attributes?[0].values = [Data.value(0x06, Other.envelopedData)]
        },
        Damage("an attribute twice", .signedAttribute("messageDigest")) { data in
            data.attributes = Data.attributes(about: data.content)
            data.attributes?.append((Other.messageDigest, [otherDigest]))
        },
        Damage("an attribute with two values", .signedAttribute("messageDigest")) { data in
            data.attributes = Data.attributes(about: data.content)
            data.attributes?[1].values.append(otherDigest)
        },
        Damage("a digest that is no string", .signedAttribute("messageDigest")) { data in
            data.attributes = Data.attributes(about: data.content)
            data.attributes?[1].values = [[0x05, 0x00]]
        },
        Damage("MD5", .digestAlgorithm("1.2.840.113549.2.5")) { $0.digestType = Other.md5 },
        Damage("RSA-PSS", .signatureAlgorithm("1.2.840.113549.1.1.10")) {
            $0.signatureType = Other.rsaPSS
        },
        Damage(
            "a signature named after another digest",
            .signatureAlgorithm("1.2.840.113549.1.1.5")
        ) {
            $0.signatureType = Other.sha1WithRSA
        },
        Damage("no signer", .signerCount(0)) { $0.signerCount = 0 },
        Damage("two signers", .signerCount(2)) { $0.signerCount = 2 },
        Damage("no content", .contentMissing) { $0.hasContent = false },
        Damage("enveloped data", .notSignedData("1.2.840.113549.1.7.3")) {
            $0.containerType = Other.envelopedData
        },
        Damage("content of another kind", .notSignedData("1.2.840.113549.1.7.3")) {
            $0.contentType = Other.envelopedData
        },
        Damage("version 3", .signedDataVersion(3)) { $0.version = 3 },
        Damage("a signer of version 3", .signedDataVersion(3)) { $0.signerVersion = 3 },
        Damage("a byte behind the end", .malformedSignedData(.trailingBytes)) { $0.tail = [0] },
        Damage("a second container", .malformedSignedData(.trailingBytes)) { $0.tail = $0.bytes },
        Damage("no certificates", .certificateMissing(.leaf)) { $0.certificates = [] },
        Damage("no leaf", .certificateMissing(.leaf)) { $0.certificates.removeFirst() },
        Damage("no intermediate", .certificateMissing(.intermediate)) {
            $0.certificates.remove(at: 1)
        },
        Damage("another serial number", .certificateMissing(.leaf)) { $0.signerSerial = 4 },
        Damage("another issuer", .certificateMissing(.leaf)) { $0.signerName = "Another" },
        Damage("nine certificates", .certificateCount(9)) { data in
            data.certificates += [[UInt8]](repeating: data.certificates[2], count: 6)
        },
        Damage("more content than is taken", .signedDataTooLarge(0)) { data in
            data.content = [UInt8](repeating: 0x61, count: SignedData.maximumByteCount)
        },
    ]

    @Test(arguments: damages, Data.Form.allCases)
    func `damaged data is refused with its reason`(damage: Damage, form: Data.Form) throws {
        var data = Data(chain)
        data.form = form
        damage.change(&data)
        let bytes = data.bytes
        var expected = damage.refusal
        if case .signedDataTooLarge = expected { expected = .signedDataTooLarge(bytes.count) }
        let verifier = try verifier()
        #expect(throws: expected) { try believed(bytes, by: verifier) }
    }

    // MARK: Chains

    struct WrongChain: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var refusal: SignatureRefusal
        var change: @Sendable (inout TestRSAChain.Plan) throws -> Void

        init(
            _ description: String,
            _ refusal: SignatureRefusal,
            _ change: @escaping @Sendable (inout TestRSAChain.Plan) throws -> Void
        ) {
            (testDescription, self.refusal, self.change) = (description, refusal, change)
        }
    }

    private static let day: Int64 = 86_400_000

    static let wrongChains: [WrongChain] = [
        WrongChain("no marker in the leaf", .markerMissing(.leaf)) { $0.leaf.extensions = [] },
        WrongChain("no marker in the intermediate", .markerMissing(.intermediate)) {
            $0.intermediate.extensions = []
        },
        WrongChain("a leaf that is an authority", .leafIsAnAuthority) {
            $0.leaf.basicConstraints = BasicConstraints(isAuthority: true)
        },
        WrongChain("an intermediate without authority", .notAnAuthority) {
            $0.intermediate.basicConstraints = BasicConstraints(isAuthority: false)
        },
        WrongChain("a leaf for something else", .keyUsage(.leaf)) {
            $0.leaf.keyUsage = .certificateSigning
        },
        WrongChain("an unknown critical extension", .unhandledCriticalExtension(.leaf, "1.2.3.4")) {
            $0.leaf.extensions.append(CertificateExtension("1.2.3.4", isCritical: true))
        },
        WrongChain("a leaf on P-256", .leafKeyNotRSA) { $0.leafKey = .generate(.p256) },
        WrongChain("an intermediate on P-256", .authorityKeyUnsupported) {
            $0.intermediateKey = .generate(.p256)
        },
        WrongChain(
            "a leaf of last year",
            .certificateNotValidAt(
                .leaf,
                notBefore: TestChain.start,
                notAfter: TestChain.instant - day,
                at: TestChain.instant
            )
        ) { $0.leaf.notAfter = TestChain.instant - day },
        WrongChain(
            "an intermediate of tomorrow",
            .certificateNotValidAt(
                .intermediate,
                notBefore: TestChain.instant + day,
                notAfter: TestChain.end,
                at: TestChain.instant
            )
        ) { $0.intermediate.notBefore = TestChain.instant + day },
        WrongChain("a leaf by another issuer of the same name", .leafNotIssued) { plan in
            let root = try CertificateAuthority.selfSigned(plan.root, key: plan.rootKey)
            plan.leafIssuer = try root.authority(plan.intermediate, key: plan.rootKey)
        },
    ]

    @Test(arguments: wrongChains)
    func `a chain of another authority is refused with its reason`(wrong: WrongChain) throws {
        let other = try TestRSAChain(wrong.change)
        let verifier = try verifier(other.root)
        #expect(throws: wrong.refusal) { try believed(Data(other).bytes, by: verifier) }
    }

    @Test func `another root of the same name verifies nothing at the cost of one operation`()
        throws
    {
        let other = try TestRSAChain { $0.rootKey = CertificateKey(TestRSAChain.keys.other) }
        let verifier = try verifier(other.root)
        let bytes = Data(chain).bytes
        #expect(throws: SignatureRefusal.untrustedRoot) { try believed(bytes, by: verifier) }
        #expect(verifier.publicKeyOperationCount == 1)
        let stranger = try self.verifier(TestRSAChain { $0.root.subject = "Other" }.root)
        #expect(throws: SignatureRefusal.untrustedRoot) { try believed(bytes, by: stranger) }
        #expect(stranger.publicKeyOperationCount == 0)
    }

    @Test func `a remembered path is checked again at each instant`() throws {
        let verifier = try verifier()
        let bytes = Data(chain).bytes
        _ = try believed(bytes, by: verifier)
        let operations = verifier.publicKeyOperationCount
        _ = try believed(bytes, by: verifier)
        #expect(verifier.publicKeyOperationCount == operations)
        #expect(throws: SignatureRefusal.self) {
            try believed(bytes, by: verifier, at: TestChain.end + 1)
        }
        var damaged = Data(chain)
        damaged.signedContent = [1]
        #expect(throws: SignatureRefusal.badSignature) {
            try believed(damaged.bytes, by: verifier)
        }
    }

    @Test func `an anchor's key must be of the pinned kind`() throws {
        #expect(throws: TrustAnchorError.unsupportedKey) {
            try TrustAnchor(name: "test", der: chain.root)
        }
        let elliptic = try TestChain().root.certificate
        #expect(throws: TrustAnchorError.unsupportedKey) {
            try TrustAnchor(name: "test", der: elliptic, keys: .rsa)
        }
    }

    // MARK: Every byte

    @Test(arguments: Data.Form.allCases)
    func `truncated data is never accepted`(form: Data.Form) throws {
        var data = Data(chain)
        data.form = form
        let bytes = data.bytes
        for count in bytes.indices {
            #expect(throws: SignatureRefusal.self) { try SignedData(Array(bytes.prefix(count))) }
        }
    }

    /// A flipped bit in an unused place does not change the verified content.
    @Test(arguments: Data.Form.allCases)
    func `with any bit flipped only the original content is accepted`(form: Data.Form) throws {
        var data = Data(chain)
        data.form = form
        let bytes = data.bytes
        let verifier = try verifier()
        _ = try believed(bytes, by: verifier)
        var refused = 0
        for place in bytes.indices {
            var changed = bytes
            changed[place] ^= 1 << UInt8(place % 8)
            do {
                #expect(try believed(changed, by: verifier) == data.content, "byte \(place)")
            } catch {
                refused += 1
            }
        }
        // The enclosed root, a third of the bytes, is never examined.
        #expect(refused > bytes.count / 2)
    }

    @Test func `a length of minus one is a length beyond the end`() {
        let bytes: [UInt8] = [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF, 0x06, 0x00]
        #expect(throws: SignatureRefusal.malformedSignedData(.truncated)) { try SignedData(bytes) }
    }

    @Test func `depth is bounded`() {
        let bytes = [UInt8](repeating: 0, count: 100_000).enumerated().map { place, _ in
            place % 2 == 0 ? UInt8(0x30) : 0x80
        }
        #expect(throws: SignatureRefusal.malformedSignedData(.tooDeep)) { try SignedData(bytes) }
    }
}
