import TideoverCalendar
import TideoverHTTP
public import TideoverJSON
public import TideoverSignatures

/// The keys with which the simulated Google signs its pushes, and their publication. Only receivers
/// that fetch their keys here trust it.
/// https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions
public struct PlayAuthority: Sendable {
    /// The issuer of its tokens.
    public static let issuer = "https://accounts.google.com"
    /// The lifetime of a token, in milliseconds.
    public static let tokenLife: Int64 = 3_600_000
    /// The path of the keys as a JSON Web Key Set.
    public static let keySetPath = "/oauth2/v3/certs"
    /// The path of the keys as certificates in PEM.
    public static let certificatesPath = "/oauth2/v1/certs"

    private struct Signer: Sendable {
        let id: String
        let key: RSAPrivateKey
        let certificate: [UInt8]

        init(id: String, key: RSAPrivateKey) {
            (self.id, self.key) = (id, key)
            certificate = PlayAuthority.certificate(for: key)
        }
    }

    /// The published keys; the last one signs.
    private var signers: [Signer] = []
    private var random: SeededRandom
    /// Google's number of the account that pushes.
    private let subject: String

    /// Creates a first key. Its id is derived from the seed, the key itself is not.
    public init(seed: UInt64) {
        random = SeededRandom(seed: seed ^ 0x676F_6F67_6C65)
        subject = random.drawDigits(21)
        rotate()
    }

    /// The ids of the published keys; the last one signs.
    public var keyIds: [String] { signers.map(\.id) }

    /// Signs with a new key from now on. The previous key stays published, older ones do not.
    public mutating func rotate() {
        signers = signers.suffix(1) + [Signer(id: random.drawHex(40), key: .generate())]
    }

    private static func certificate(for key: RSAPrivateKey) -> [UInt8] {
        let template = CertificateTemplate(
            subject: "Tideover Simulated Google",
            serial: 1,
            notBefore: 946_684_800_000,
            notAfter: 4_102_444_799_000,
            basicConstraints: BasicConstraints(isAuthority: false),
            keyUsage: .digitalSignature
        )
        do {
            return try CertificateAuthority.selfSigned(template, key: CertificateKey(key))
                .certificate
        } catch {
            preconditionFailure("a certificate can state this subject and these instants: \(error)")
        }
    }

    /// Publishes only the signing key.
    public mutating func withdrawOldKeys() {
        signers = signers.suffix(1)
    }

    /// Creates the token of a push to an audience in the name of a service account. `now` is in
    /// milliseconds since 1970.
    ///
    /// - Throws: `tooLarge` for names that no receiver would read.
    public func pushToken(
        to audience: String,
        as email: String,
        at now: Int64
    ) throws(SignatureRefusal) -> String {
        let seconds = now.flooredQuotient(by: 1000)
        return try token(claiming: [
            "aud": .string(audience), "azp": .string(subject), "email": .string(email),
            "email_verified": true, "exp": .integer(seconds + Self.tokenLife / 1000),
            "iat": .integer(seconds), "iss": .string(Self.issuer), "sub": .string(subject),
        ])
    }

    /// Creates a token with any claims.
    public func token(claiming claims: JSONObject) throws(SignatureRefusal) -> String {
        guard let signer = signers.last else { preconditionFailure("there is always a key") }
        let compact = try JWS.sign(
            header: ["alg": "RS256", "kid": .string(signer.id), "typ": "JWT"],
            payload: JSONValue.object(claims).encoded(),
            with: signer.key
        )
        return String(decoding: compact, as: UTF8.self)
    }

    // MARK: Publishing

    /// The keys as a JSON Web Key Set.
    public var keySet: JSONObject {
        let keys = signers.map { signer -> JSONValue in
            var jwk = signer.key.publicJWK
            jwk["kid"] = .string(signer.id)
            return .object(jwk)
        }
        return ["keys": .array(keys)]
    }

    /// The keys as PEM certificates, by id.
    public var certificates: JSONObject {
        signers.reduce(into: [:]) { certificates, signer in
            let text = PEM.encode(signer.certificate, label: "CERTIFICATE")
            certificates[signer.id] = .string(text)
        }
    }

    /// Answers a request for the keys in either form.
    func answer(_ request: Request, at now: Int64) -> Response {
        guard request.method == "GET" else { return Response(status: 405) }
        let content: JSONObject
        switch request.path {
        case Self.keySetPath: content = keySet
        case Self.certificatesPath: content = certificates
        default: return Response(status: 404)
        }
        return Response(
            headers: [
                "Content-Type": "application/json; charset=UTF-8",
                "Cache-Control": "public, max-age=21600, must-revalidate, no-transform",
                "Date": HTTPDateText.write(now),
            ],
            body: JSONValue.object(content).encoded()
        )
    }
}

// MARK: - In a file

/// Stores the signing key across rehearsals, so that a receiver with cached keys continues to trust
/// it.
extension PlayAuthority {
    /// The signing key, as a JSON object. Any reader of it can push as this Google, so its file
    /// must be private.
    public var file: JSONValue {
        guard let signer = signers.last else { preconditionFailure("there is always a key") }
        return [
            "keyId": .string(signer.id), "privateKey": .string(signer.key.pem),
            "subject": .string(subject),
        ]
    }

    /// Creates the authority in a file. The ids of later keys are derived from the id of this one.
    ///
    /// - Throws: `PlayKeyFileError` for a file without an authority.
    public init(file bytes: [UInt8]) throws(PlayKeyFileError) {
        let fields = try PlayKeyFields(bytes)
        let (id, pem) = (try fields.text("keyId"), try fields.text("privateKey"))
        subject = try fields.text("subject")
        random = SeededRandom(seed: id.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) })
        do {
            signers = [Signer(id: id, key: try RSAPrivateKey(pem: pem))]
        } catch {
            throw .noKey("privateKey")
        }
    }
}
