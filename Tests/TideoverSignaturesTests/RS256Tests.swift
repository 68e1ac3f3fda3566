import Testing
import TideoverJSON
import TideoverSignatures

struct RS256Tests {
    private static let key = RSAPrivateKey.generate()
    private static let other = RSAPrivateKey.generate()
    private let payload = Array(#"{"iss":"https://accounts.google.com"}"#.utf8)

    private func publicKey(_ key: RSAPrivateKey) throws -> RSAPublicKey {
        try #require(RSAPublicKey(jwk: node(key.publicJWK)))
    }

    private func node(_ object: JSONObject) throws -> JSONNode {
        try JSONDocument(JSONValue.object(object).encoded()).root
    }

    private func signed(
        _ header: JSONObject,
        by key: RSAPrivateKey = RS256Tests.key
    ) throws -> JWS {
        try JWS(JWS.sign(header: header, payload: payload, with: key))
    }

    @Test func `the public half of a key verifies its signatures, and no other key does`() throws {
        let jws = try signed(["alg": "RS256"])
        try jws.verify(with: publicKey(Self.key))
        #expect(jws.payload == payload)
        #expect(throws: SignatureRefusal.badSignature) {
            try jws.verify(with: publicKey(Self.other))
        }
    }

    @Test func `a change of payload or signature is detected`() throws {
        let jws = try signed(["alg": "RS256"])
        let parts = jws.compact.split(separator: UInt8(ascii: "."))
        let changed = Base64.encode(payload + [0x20], .urlSafe)
        let forged = try JWS(Array([parts[0], changed[...], parts[2]].joined(separator: [0x2E])))
        #expect(throws: SignatureRefusal.badSignature) {
            try forged.verify(with: publicKey(Self.key))
        }
        let key = try publicKey(Self.key)
        #expect(!key.verify(signature: jws.signature + [0], of: jws.signingInput))
        #expect(!key.verify(signature: Array(jws.signature.dropLast()), of: jws.signingInput))
        #expect(!key.verify(signature: [], of: jws.signingInput))
    }

    @Test(arguments: ["none", "None", "HS256", "PS256", "RS384", "ES256", "rs256", ""])
    func `a header that names another algorithm is refused, whatever the signature`(
        algorithm: String
    ) throws {
        let jws = try signed(["alg": .string(algorithm)])
        #expect(throws: SignatureRefusal.algorithm(found: algorithm)) {
            try jws.verify(with: publicKey(Self.key))
        }
    }

    @Test(arguments: ["crit", "zip", "b64", "jku", "jwk", "x5u", "x5c"])
    func `parameters that contain a key or change the meaning are refused`(name: String) throws {
        let jws = try signed(["alg": "RS256", name: "x"])
        #expect(throws: SignatureRefusal.forbiddenHeader(name)) {
            try jws.verify(with: publicKey(Self.key))
        }
    }

    @Test func `the header selects the key of the set`() throws {
        let keys = try ["a": Self.key, "b": Self.other].mapValues(publicKey)
        try signed(["alg": "RS256", "kid": "a"]).verify(with: RSAKeySet(keys))
        #expect(throws: SignatureRefusal.badSignature) {
            try signed(["alg": "RS256", "kid": "b"]).verify(with: RSAKeySet(keys))
        }
        #expect(throws: SignatureRefusal.unknownKey(found: "c")) {
            try signed(["alg": "RS256", "kid": "c"]).verify(with: RSAKeySet(keys))
        }
        #expect(throws: SignatureRefusal.unknownKey(found: nil)) {
            try signed(["alg": "RS256"]).verify(with: RSAKeySet(keys))
        }
    }

    @Test func `a set omits keys of other kinds and for other uses`() throws {
        func jwk(_ id: String, _ changes: JSONObject) -> JSONValue {
            var jwk = Self.key.publicJWK
            jwk["kid"] = .string(id)
            for (name, value) in changes { jwk[name] = value }
            return .object(jwk)
        }
        let set: JSONObject = [
            "keys": [
                jwk("plain", [:]), jwk("elliptic", ["kty": "EC"]), jwk("enc", ["use": "enc"]),
                jwk("pss", ["alg": "PS256"]), jwk("ops", ["key_ops": ["encrypt"]]),
                jwk("verifies", ["key_ops": ["verify"]]), jwk("three", ["e": "Aw"]),
                jwk("even", ["e": "AQAC"]), jwk("padded", ["e": "AQAB="]),
                jwk("short", ["n": .string(String(repeating: "_", count: 171))]),
            ]
        ]
        #expect(try RSAKeySet(jwkSet: node(set)).ids == ["plain", "verifies"])
    }

    @Test func `each unsupported modulus is reported with its problem`() throws {
        let exponent: [UInt8] = [1, 0, 1]
        func error(_ modulus: [UInt8], _ exponent: [UInt8]) -> KeyError? {
            do {
                _ = try RSAPublicKey(modulus: modulus, exponent: exponent)
                return nil
            } catch {
                return error
            }
        }
        let ones = [UInt8](repeating: 0xFF, count: 256)
        #expect(error(ones, exponent) == nil)
        #expect(error([0x7F] + ones.dropFirst(), exponent) == .notRSA)
        #expect(error(ones + ones + [0xFF], exponent) == .notRSA)
        #expect(error([0] + ones, exponent) == .malformed)
        #expect(error(ones.dropLast() + [0xFE], exponent) == .malformed)
        #expect(error(ones, []) == .malformed)
        #expect(error(ones, [3]) == .malformed)
        #expect(error([], exponent) == .malformed)
    }

    @Test func `a private key survives PEM`() throws {
        let again = try RSAPrivateKey(pem: Self.key.pem)
        #expect(again.publicJWK == Self.key.publicJWK)
        try signed(["alg": "RS256"], by: again).verify(with: publicKey(Self.key))
        #expect(Self.key.pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
    }

    @Test func `private keys of other kinds and damaged ones are refused`() throws {
        #expect(throws: KeyError.notPEM) { try RSAPrivateKey(pem: "") }
        #expect(throws: KeyError.notRSA) { try RSAPrivateKey(pem: P256PrivateKey.generate().pem) }
        let der = try #require(PEM.decode(Self.key.pem, label: "PRIVATE KEY"))
        #expect(throws: KeyError.malformed) {
            try RSAPrivateKey(pem: PEM.encode(der.dropLast(), label: "PRIVATE KEY"))
        }
        #expect(throws: KeyError.malformed) {
            try RSAPrivateKey(pem: PEM.encode([0x30, 0x00], label: "PRIVATE KEY"))
        }
    }
}
