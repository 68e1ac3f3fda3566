import TideoverCommandLine
import TideoverJSON
import TideoverSandbox
import TideoverSignatures

/// A simulated store with notifications as large as the App Store's: each of the three signed
/// documents contains three certificates.
struct Store: Sendable {
    static let product = "cards.pro.monthly"
    static let app = AppStoreApp(
        bundleId: "com.example.cards",
        products: [
            AppStoreProduct(
                id: product,
                group: "pro",
                period: month,
                price: StorePrice(milliunits: 9990, currency: "USD"),
                grace: .sixteenDays
            )
        ]
    )
    private static let month: StorePeriod = {
        guard let month = StorePeriod(iso: "P1M") else { preconditionFailure("P1M is a month") }
        return month
    }()

    /// The root that a receiver must trust, as DER.
    let root: [UInt8]
    private let header: JSONObject
    private let key = P256PrivateKey.generate()

    /// Creates a store with new keys.
    init() throws {
        let root = try CertificateSizes.root.fitted { template in
            try CertificateAuthority.selfSigned(template, key: .generate(.p384))
        } of: {
            $0.certificate
        }
        let intermediate = try CertificateSizes.intermediate.fitted { template in
            try root.authority(template, key: .generate(.p384))
        } of: {
            $0.certificate
        }
        let signer = CertificateKey(key)
        let leaf = try CertificateSizes.leaf.fitted { template in
            try intermediate.certificate(template, for: signer)
        } of: {
            $0
        }
        let chain = [leaf, intermediate.certificate, root.certificate]
        self.root = root.certificate
        header = [
            "alg": "ES256",
            "x5c": .array(chain.map { .string(Base64.encodeString($0, .standard)) }),
        ]
    }

    /// Returns the body that the store posts, with all its parts signed.
    func body(of notification: AppStoreNotification) throws -> [UInt8] {
        let payload = notification.payload(
            transaction: try notification.transaction.map(signed),
            renewal: try notification.renewal.map(signed)
        )
        let body: JSONObject = ["signedPayload": try signed(payload)]
        return JSONValue.object(body).encoded()
    }

    private func signed(_ content: JSONObject) throws -> JSONValue {
        let payload = JSONValue.object(content).encoded()
        let compact = try JWS.sign(header: header, payload: payload, with: key)
        return .string(String(decoding: compact, as: UTF8.self))
    }
}

/// The sizes of the App Store's certificates in bytes, for certificates of equal size.
private enum CertificateSizes: Int {
    case leaf = 1076
    case intermediate = 794
    case root = 583

    /// Creates a certificate from a template with a comment that fills it to the size. Signatures
    /// vary by a few bytes, so the size is exact to within those.
    func fitted<Made>(
        _ make: (CertificateTemplate) throws -> Made,
        of certificate: (Made) -> [UInt8]
    ) throws -> Made {
        let plain = certificate(try make(template)).count
        // The comment's own encoding takes about two dozen bytes.
        return try make(template(comment: max(0, rawValue - plain - 24)))
    }

    private func template(comment count: Int) -> CertificateTemplate {
        var template = template
        let text = [UInt8](repeating: UInt8(ascii: " "), count: count)
        template.extensions.append(
            CertificateExtension(Self.comment, value: Self.ia5String(text))
        )
        return template
    }

    /// The Netscape comment extension, which has no effect.
    private static let comment = "2.16.840.1.113730.1.13"

    private static func ia5String(_ text: [UInt8]) -> [UInt8] {
        let length: [UInt8] =
            text.count < 0x80
            ? [UInt8(text.count)] : [0x82, UInt8(text.count >> 8), UInt8(text.count & 0xFF)]
        return [0x16] + length + text
    }

    private var template: CertificateTemplate {
        let (from, until): (Int64, Int64) = (946_684_800_000, 4_102_444_799_000)
        return switch self {
        case .root:
            .root(subject: SandboxAuthority.rootName, notBefore: from, notAfter: until)
        case .intermediate:
            .intermediate(
                subject: "Tideover Simulated Store Authority",
                notBefore: from,
                notAfter: until,
                marker: SandboxAuthority.intermediateMarker
            )
        case .leaf:
            .leaf(
                subject: "Tideover Simulated Store Signing",
                notBefore: from,
                notAfter: until,
                marker: SandboxAuthority.leafMarker
            )
        }
    }
}
