import TideoverJSON
import TideoverSandbox
import TideoverSignatures

/// The valid chains and signed documents that the fuzzers of signatures start from, and similar
/// invalid ones.
///
/// ECDSA signatures differ each time, so they are stored in the file that `TIDEOVER_FUZZ_ORIGINALS`
/// names. A failing input can then be tried again with its documents. No key is stored.
struct Originals: Sendable {
    /// The root of all valid chains.
    let root: [UInt8]
    /// Compact forms signed under it.
    let documents: [[UInt8]]
    /// Compact forms that must be rejected.
    let falseDocuments: [[UInt8]]
    /// Chains of three certificates under the root.
    let chains: [[[UInt8]]]
    /// Chains that must be rejected.
    let falseChains: [[[UInt8]]]
    /// The roots of all valid receipts.
    let receiptRoots: [[UInt8]]
    /// Receipts signed under one of them, in both forms, by SHA-1 and SHA-256.
    let receipts: [[UInt8]]
    /// Receipts that must be rejected.
    let falseReceipts: [[UInt8]]
    /// The key that signs pushes, as a JSON Web Key.
    let pushKey: [UInt8]
    /// Tokens of pushes that it signed.
    let pushTokens: [[UInt8]]
    /// Tokens that must be rejected.
    let falsePushTokens: [[UInt8]]

    static let shared: Originals = {
        guard let path = Variable.read("TIDEOVER_FUZZ_ORIGINALS") else { return made() }
        if let kept = File.read(path) {
            let originals = unfailing("\(path) is not what was kept") {
                Originals(JSONValue(try JSONDocument(kept, limits: .local).root))
            }
            // A version without pushes wrote the file.
            if !originals.pushTokens.isEmpty { return originals }
        }
        let new = made()
        File.write(new.json.encoded(), to: path)
        return new
    }()

    private static func made() -> Originals {
        unfailing("certificates cannot be made") { try Originals(Mint()) }
    }

    // MARK: - The file

    private init(_ json: JSONValue) {
        root = Self.bytes(json["root"])
        documents = json["documents"]?.array?.map(Self.bytes) ?? []
        falseDocuments = json["falseDocuments"]?.array?.map(Self.bytes) ?? []
        chains = json["chains"]?.array?.map { $0.array?.map(Self.bytes) ?? [] } ?? []
        falseChains = json["falseChains"]?.array?.map { $0.array?.map(Self.bytes) ?? [] } ?? []
        receiptRoots = json["receiptRoots"]?.array?.map(Self.bytes) ?? []
        receipts = json["receipts"]?.array?.map(Self.bytes) ?? []
        falseReceipts = json["falseReceipts"]?.array?.map(Self.bytes) ?? []
        pushKey = Self.bytes(json["pushKey"])
        pushTokens = json["pushTokens"]?.array?.map(Self.bytes) ?? []
        falsePushTokens = json["falsePushTokens"]?.array?.map(Self.bytes) ?? []
    }

    private static func bytes(_ value: JSONValue?) -> [UInt8] {
        value?.string.flatMap { Base64.decode($0.utf8, .standard) } ?? []
    }

    private var json: JSONValue {
        func text(_ bytes: [UInt8]) -> JSONValue { .string(Base64.encodeString(bytes, .standard)) }
        return [
            "root": text(root), "documents": .array(documents.map(text)),
            "falseDocuments": .array(falseDocuments.map(text)),
            "chains": .array(chains.map { .array($0.map(text)) }),
            "falseChains": .array(falseChains.map { .array($0.map(text)) }),
            "receiptRoots": .array(receiptRoots.map(text)), "receipts": .array(receipts.map(text)),
            "falseReceipts": .array(falseReceipts.map(text)), "pushKey": text(pushKey),
            "pushTokens": .array(pushTokens.map(text)),
            "falsePushTokens": .array(falsePushTokens.map(text)),
        ]
    }

    private init(_ mint: Mint) throws {
        root = mint.root.certificate
        documents = try mint.documents()
        falseDocuments = try mint.falseDocuments()
        chains = [mint.chain, mint.sibling.chain]
        falseChains = try mint.falseChains()
        let authorities = try RSADigest.allCases.map { try ReceiptAuthority(digest: $0) }
        receiptRoots = authorities.map(\.root)
        receipts = Self.receipts(by: authorities)
        falseReceipts = Self.receipts(by: [try ReceiptAuthority()])
        let (key, other) = (RSAPrivateKey.generate(), RSAPrivateKey.generate())
        pushKey = JSONValue.object(key.publicJWK).encoded()
        pushTokens = [try Self.pushToken(key), try Self.pushToken(key, ["aud": "chess"])]
        falsePushTokens = [
            try Self.pushToken(other), try Self.pushToken(key, header: ["alg": "RS512"]),
        ]
    }

    static let pushAudience = "https://billing.example.com/push"
    static let pushSender = "pusher@project.iam.gserviceaccount.com"

    /// Returns the token of a push, with changes to its claims and its header.
    private static func pushToken(
        _ key: RSAPrivateKey,
        _ changes: JSONObject = [:],
        header changed: JSONObject = [:]
    ) throws -> [UInt8] {
        let seconds = Mint.instant / 1000
        var claims: JSONObject = [
            "iss": "https://accounts.google.com", "aud": .string(pushAudience),
            "email": .string(pushSender), "email_verified": true, "iat": .integer(seconds),
            "exp": .integer(seconds + 3600),
        ]
        for (name, value) in changes { claims[name] = value }
        var header: JSONObject = ["alg": "RS256", "kid": "google-1", "typ": "JWT"]
        for (name, value) in changed { header[name] = value }
        return try JWS.sign(
            header: header,
            payload: JSONValue.object(claims).encoded(),
            by: { key.sign($0, .sha256) }
        )
    }

    private static func receipts(by authorities: [ReceiptAuthority]) -> [[UInt8]] {
        authorities.flatMap { authority in
            zip(ReceiptForm.allCases, SimulatedLife.receiptContents).map { form, content in
                authority.signed(content, form)
            } + [authority.signed(Array("1".utf8))]
        }
    }
}

/// Creates certificates and documents in the format of the App Store.
private struct Mint {
    /// 2026-05-06T10:00:00Z.
    static let instant: Int64 = 1_778_061_600_000
    static let policy = ChainPolicy(
        leafMarker: "1.2.840.113635.100.6.11.1",
        intermediateMarker: "1.2.840.113635.100.6.2.1"
    )

    /// A signing key with its certificates.
    struct Signer {
        let key: P256PrivateKey
        let chain: [[UInt8]]

        func sign(_ payload: String, _ changes: JSONObject = [:]) throws -> [UInt8] {
            var header: JSONObject = [
                "alg": "ES256",
                "x5c": .array(chain.map { .string(Base64.encodeString($0, .standard)) }),
            ]
            for (name, value) in changes { header[name] = value }
            return try JWS.sign(header: header, payload: Array(payload.utf8), with: key)
        }
    }

    let root: CertificateAuthority
    let intermediate: CertificateAuthority
    let sibling: Signer
    let signer: Signer
    var chain: [[UInt8]] { signer.chain }

    init() throws {
        root = try .selfSigned(Self.rootTemplate, key: .generate(.p256))
        intermediate = try root.authority(Self.intermediateTemplate, key: .generate(.p256))
        signer = try Self.signer(Self.leafTemplate(), intermediate, root)
        sibling = try Self.signer(Self.leafTemplate(serial: 4), intermediate, root)
    }

    private static func signer(
        _ template: CertificateTemplate,
        _ intermediate: CertificateAuthority,
        _ root: CertificateAuthority
    ) throws -> Signer {
        let key = P256PrivateKey.generate()
        let leaf = try intermediate.certificate(template, for: CertificateKey(key))
        return Signer(key: key, chain: [leaf, intermediate.certificate, root.certificate])
    }

    func documents() throws -> [[UInt8]] {
        [
            try signer.sign(Self.payload("1")), try signer.sign(Self.payload("2")),
            try sibling.sign(Self.payload("3")), try sibling.sign("{}", ["typ": "JWT"]),
        ]
    }

    /// Each of these is rejected by one check only.
    func falseDocuments() throws -> [[UInt8]] {
        let payload = Self.payload("4")
        let changed: [JSONObject] = [
            ["alg": "none"], ["crit": ["b64"], "b64": false], ["kid": "1"], ["zip": "DEF"],
        ]
        return try falseSigners().map { try $0.sign(payload) }
            + changed.map { try signer.sign(payload, $0) }
    }

    func falseChains() throws -> [[[UInt8]]] { try falseSigners().map(\.chain) }

    private func falseSigners() throws -> [Signer] {
        // Other keys under the same names; a leaf for another purpose; leaves of another time; a
        // leaf that is an authority; an intermediate without its marker.
        let otherRoot = try CertificateAuthority.selfSigned(
            Self.rootTemplate,
            key: .generate(.p256)
        )
        let other = try otherRoot.authority(Self.intermediateTemplate, key: .generate(.p256))
        var unmarked = Self.leafTemplate(serial: 5)
        unmarked.extensions = []
        var past = Self.leafTemplate(serial: 6)
        past.notAfter = Self.instant - 1000
        var authority = Self.leafTemplate(serial: 7)
        authority.basicConstraints = BasicConstraints(isAuthority: true)
        var plain = Self.intermediateTemplate
        plain.extensions = []
        let unmarkedIntermediate = try root.authority(plain, key: .generate(.p256))
        return [
            try Self.signer(Self.leafTemplate(), other, otherRoot),
            try Self.signer(Self.leafTemplate(), other, root),
            try Self.signer(unmarked, intermediate, root),
            try Self.signer(past, intermediate, root),
            try Self.signer(authority, intermediate, root),
            try Self.signer(Self.leafTemplate(), unmarkedIntermediate, root),
        ]
    }

    private static func payload(_ id: String) -> String {
        #"{"bundleId":"com.example.cards","signedDate":1778061600000,"transactionId":"\#(id)"}"#
    }

    private static let start: Int64 = 1_767_225_600_000
    private static let end: Int64 = 1_798_761_600_000
    private static let rootTemplate = CertificateTemplate.root(
        subject: "Fuzzed Root",
        notBefore: start,
        notAfter: end
    )
    private static let intermediateTemplate = CertificateTemplate.intermediate(
        subject: "Fuzzed Intermediate",
        notBefore: start,
        notAfter: end,
        marker: policy.intermediateMarker
    )

    private static func leafTemplate(serial: UInt64 = 3) -> CertificateTemplate {
        .leaf(
            subject: "Fuzzed Leaf",
            serial: serial,
            notBefore: start,
            notAfter: end,
            marker: policy.leafMarker
        )
    }
}

extension Originals {
    /// The verification time of documents without a signing time: 2026-05-06T10:00:00Z.
    static var instant: Int64 { Mint.instant }

    /// The requirements for the certificates.
    static var policy: ChainPolicy { Mint.policy }
}
