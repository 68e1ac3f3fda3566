import TideoverHTTP
public import TideoverJSON
public import TideoverSignatures

/// The keys with which the simulated Google vouches for the pushes it sends, and what it publishes of
/// them. Nobody believes it but those who are told to fetch their keys here.
/// https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions
public struct PlayAuthority: Sendable {
    /// What its tokens name as their issuer.
    public static let issuer = "https://accounts.google.com"
    /// How long a token is good, in milliseconds.
    public static let tokenLife: Int64 = 3_600_000
    /// Where the keys are published as a JSON Web Key Set.
    public static let keySetPath = "/oauth2/v3/certs"
    /// Where they are published as certificates in PEM.
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

    /// The keys published, the one that signs last.
    private var signers: [Signer] = []
    private var random: SeededRandom
    /// The number under which Google knows the account that pushes.
    private let subject: String

    /// Makes a first key. Its id follows from the seed, the key itself does not.
    public init(seed: UInt64) {
        random = SeededRandom(seed: seed ^ 0x676F_6F67_6C65)
        subject = random.drawDigits(21)
        rotate()
    }

    /// The ids of the keys published, the one that signs last.
    public var keyIds: [String] { signers.map(\.id) }

    /// Signs with a new key from now on. The one before it stays published, older ones do not.
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

    /// Publishes the key that signs and no other.
    public mutating func withdrawOldKeys() {
        signers = signers.suffix(1)
    }

    /// The token of a push to an audience in the name of a service account, made now, in milliseconds
    /// since 1970.
    ///
    /// - Throws: `tooLarge` for names that no receiver would read.
    public func pushToken(
        to audience: String,
        as email: String,
        at now: Int64
    ) throws(SignatureRefusal) -> String {
        let seconds = floorDivide(now, 1000)
        return try token(claiming: [
            "aud": .string(audience), "azp": .string(subject), "email": .string(email),
            "email_verified": true, "exp": .integer(seconds + Self.tokenLife / 1000),
            "iat": .integer(seconds), "iss": .string(Self.issuer), "sub": .string(subject),
        ])
    }

    /// Any claims, signed as a token is.
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

    /// The keys as certificates in PEM, by their ids.
    public var certificates: JSONObject {
        signers.reduce(into: [:]) { certificates, signer in
            let text = PEM.encode(signer.certificate, label: "CERTIFICATE")
            certificates[signer.id] = .string(text)
        }
    }

    /// The answer to a request for the keys, in the one form or the other.
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

/// What keeps the keys of pushes from one rehearsal to the next, so that a receiver that has fetched them
/// goes on believing them.
extension PlayAuthority {
    /// The key that signs, as a JSON object. Whoever reads it pushes as this Google: it belongs into a file
    /// that nobody else opens.
    public var file: JSONValue {
        guard let signer = signers.last else { preconditionFailure("there is always a key") }
        return [
            "keyId": .string(signer.id), "privateKey": .string(signer.key.pem),
            "subject": .string(subject),
        ]
    }

    /// The authority that a file keeps. The ids of later keys follow from that of this one.
    ///
    /// - Throws: `PlayKeyFileError` for a file that keeps none.
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
