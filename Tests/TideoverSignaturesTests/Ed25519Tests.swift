import Testing
import TideoverJSON
import TideoverSignatures

struct Ed25519Tests {
    /// A test of RFC 8032, section 7.1.
    struct Vector: Sendable {
        let seed: String
        let publicKey: String
        let message: String
        let signature: String
    }

    @Test(arguments: Self.vectors)
    func `keys and signatures equal those of RFC 8032`(vector: Vector) throws {
        let key = try Ed25519PrivateKey(seed: bytes(hex: vector.seed))
        let message = try bytes(hex: vector.message)
        let signature = try bytes(hex: vector.signature)
        #expect(try key.publicKey.bytes == bytes(hex: vector.publicKey))
        #expect(key.sign(message) == signature)
        #expect(key.publicKey.verify(signature: signature, of: message))
        #expect(!key.publicKey.verify(signature: signature, of: message + [0]))
    }

    @Test func `a change of any bit of a signature is detected`() throws {
        let key = Ed25519PrivateKey.generate()
        let message = Array("the tide comes in".utf8)
        let signature = key.sign(message)
        #expect(key.publicKey.verify(signature: signature, of: message))
        for place in signature.indices {
            for bit in 0..<8 {
                var other = signature
                other[place] ^= 1 << bit
                #expect(!key.publicKey.verify(signature: other, of: message))
            }
        }
        for other in [[], Array(signature.dropLast()), signature + [0]] {
            #expect(!key.publicKey.verify(signature: other, of: message))
        }
    }

    /// RFC 8032, section 5.1.7: S must be below the order of the group, else a second form exists.
    @Test func `a signature has only one valid form`() throws {
        let key = Ed25519PrivateKey.generate()
        let signature = key.sign([1])
        let order = try bytes(
            hex: "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010"
        )
        var (other, carry) = (signature, 0)
        for place in 0..<32 {
            let sum = Int(signature[32 + place]) + Int(order[place]) + carry
            other[32 + place] = UInt8(sum & 0xFF)
            carry = sum >> 8
        }
        #expect(carry == 0)
        #expect(!key.publicKey.verify(signature: other, of: [1]))
    }

    @Test func `a key survives PEM`() throws {
        let key = Ed25519PrivateKey.generate()
        #expect(try Ed25519PrivateKey(pem: key.pem).sign([1]) == key.sign([1]))
        #expect(try Ed25519PublicKey(pem: key.publicKey.pem) == key.publicKey)
        let secret = try #require(key.pem.split(separator: "\n").dropFirst().first)
        #expect(!"\(key)".contains(secret.suffix(20)))
    }

    /// RFC 8410, section 10: the keys of its examples.
    @Test func `the PEM of RFC 8410 is read`() throws {
        let key = try Ed25519PrivateKey(
            pem: """
                -----BEGIN PRIVATE KEY-----
                MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
                -----END PRIVATE KEY-----
                """
        )
        let publicKey = try Ed25519PublicKey(
            pem: """
                -----BEGIN PUBLIC KEY-----
                MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
                -----END PUBLIC KEY-----
                """
        )
        #expect(key.publicKey == publicKey)
    }

    @Test func `a key of another kind is reported as such`() throws {
        let other = P256PrivateKey.generate()
        #expect(throws: KeyError.notEd25519) { try Ed25519PrivateKey(pem: other.pem) }
        #expect(throws: KeyError.notP256) {
            try P256PrivateKey(pem: Ed25519PrivateKey.generate().pem)
        }
        #expect(throws: KeyError.notPEM) { try Ed25519PrivateKey(pem: "") }
        #expect(throws: KeyError.notPEM) { try Ed25519PublicKey(pem: other.pem) }
        let spki = PEM.encode(other.publicKey.spki, label: "PUBLIC KEY")
        #expect(throws: KeyError.notEd25519) { try Ed25519PublicKey(pem: spki) }
        let cut = PEM.encode([0x30, 0x00], label: "PRIVATE KEY")
        #expect(throws: KeyError.malformed) { try Ed25519PrivateKey(pem: cut) }
        for count in [0, 31, 33] {
            let bytes = [UInt8](repeating: 1, count: count)
            #expect(throws: KeyError.malformed) { try Ed25519PublicKey(bytes: bytes) }
            #expect(throws: KeyError.malformed) { try Ed25519PrivateKey(seed: bytes) }
        }
    }

    private static let vectors = [
        Vector(
            seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            publicKey: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            message: "",
            signature: "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555"
                + "fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        ),
        Vector(
            seed: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            publicKey: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            message: "72",
            signature: "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da0"
                + "85ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        ),
        Vector(
            seed: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            publicKey: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            message: "af82",
            signature: "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac1"
                + "8ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
        ),
    ]
}

/// Tests which of several keys verifies a signed document.
struct Ed25519KeySetTests {
    private static let key = Ed25519PrivateKey.generate()
    private static let former = Ed25519PrivateKey.generate()
    private let keys = Ed25519KeySet(["now": key.publicKey, "before": former.publicKey])

    private func document(
        _ header: JSONObject = ["alg": "EdDSA", "typ": "t", "kid": "now"],
        payload: [UInt8] = Array("{}".utf8),
        by key: Ed25519PrivateKey = key
    ) throws -> JWS {
        try JWS(JWS.sign(header: header, payload: payload) { key.sign($0) })
    }

    @Test func `each key of the set is accepted under its own id only`() throws {
        try document().verify(with: keys, type: "t")
        let former = try document(["alg": "EdDSA", "typ": "t", "kid": "before"], by: Self.former)
        try former.verify(with: keys, type: "t")
        let mixed = try document(["alg": "EdDSA", "typ": "t", "kid": "before"])
        #expect(try refusal { try mixed.verify(with: keys, type: "t") } == .badSignature)
        let alone = Ed25519KeySet(["now": Self.key.publicKey])
        #expect(
            try refusal { try former.verify(with: alone, type: "t") }
                == .unknownKey(found: "before")
        )
    }

    @Test(arguments: Self.strangeHeaders)
    func `a header with additional or missing parameters is refused, though signed`(
        header: JSONObject,
        reason: SignatureRefusal
    ) throws {
        let jws = try document(header)
        #expect(try refusal { try jws.verify(with: keys, type: "t") } == reason)
    }

    private static let strangeHeaders: [(JSONObject, SignatureRefusal)] = [
        (["alg": "ES256", "typ": "t", "kid": "now"], .algorithm(found: "ES256")),
        (["alg": "none", "typ": "t", "kid": "now"], .algorithm(found: "none")),
        (["typ": "t", "kid": "now"], .algorithm(found: nil)),
        (["alg": "EdDSA", "typ": "JWT", "kid": "now"], .type(found: "JWT")),
        (["alg": "EdDSA", "kid": "now"], .type(found: nil)),
        (["alg": "EdDSA", "typ": "t"], .unknownKey(found: nil)),
        (["alg": "EdDSA", "typ": "t", "kid": 1], .unknownKey(found: nil)),
        (["alg": "EdDSA", "typ": "t", "kid": "NOW"], .unknownKey(found: "NOW")),
        (["alg": "EdDSA", "typ": "t", "kid": "now", "crit": nil], .forbiddenHeader("crit")),
        (["alg": "EdDSA", "typ": "t", "kid": "now", "jwk": [:]], .forbiddenHeader("jwk")),
        (["alg": "EdDSA", "typ": "t", "kid": "now", "x5c": []], .forbiddenHeader("x5c")),
    ]

    @Test func `a change of any bit of a document is detected`() throws {
        let compact = try document(payload: Array(#"{"a":1}"#.utf8)).compact
        for place in compact.indices {
            for bit in 0..<8 {
                var other = compact
                other[place] ^= 1 << bit
                #expect(throws: SignatureRefusal.self, "\(place) \(bit)") {
                    try JWS(other).verify(with: keys, type: "t")
                }
            }
        }
    }

    /// RFC 8037, appendix A.4.
    @Test func `the signed document of RFC 8037 is produced and accepted`() throws {
        let seed = try bytes(
            hex: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
        )
        let key = try Ed25519PrivateKey(seed: seed)
        let compact = try JWS.sign(
            header: ["alg": "EdDSA"],
            payload: Array("Example of Ed25519 signing".utf8),
            by: { key.sign($0) }
        )
        #expect(
            String(decoding: compact, as: UTF8.self)
                == "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc."
                + "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sV"
                + "vpAr_MuM0KAg"
        )
    }

    /// RFC 8037, appendix A.3.
    @Test func `the id of a key is its thumbprint`() throws {
        let jwk = try JSONDocument(
            #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#
        )
        let key = try #require(Ed25519PublicKey(jwk: jwk.root))
        #expect(key.thumbprint == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
    }

    @Test func `a set survives its JSON form and omits unknown keys`() throws {
        let json = keys.jwkSet.encoded()
        #expect(try Ed25519KeySet(jwkSet: JSONDocument(json).root) == keys)
        let mixed = try JSONDocument(
            """
            {"keys":[{"kty":"RSA","kid":"a"},{"kty":"OKP","crv":"X25519","x":"AA","kid":"b"},
            {"kty":"OKP","crv":"Ed25519","x":"AA","kid":"c"},
            {"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},
            {"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
            "kid":"d","use":"enc"},
            {"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
            "kid":"e"}]}
            """
        )
        #expect(Ed25519KeySet(jwkSet: mixed.root).ids == ["e"])
        #expect(Ed25519KeySet(jwkSet: try JSONDocument("{}").root).ids.isEmpty)
    }
}
