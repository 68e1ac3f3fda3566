import Testing
import TideoverJSON
import TideoverSignatures

struct JWSTests {
    private let key = P256PrivateKey.generate()

    @Test func `a signed document is split into its signed parts`() throws {
        let payload = Array(#"{"a":"ü"}"#.utf8)
        let compact = try JWS.sign(header: ["alg": "ES256"], payload: payload, with: key)
        let jws = try JWS(compact)
        #expect(jws.compact == compact)
        #expect(jws.header.root["alg"]?.string == "ES256")
        #expect(jws.payload == payload)
        #expect(jws.signature.count == 64)
        #expect(Array(jws.signingInput) == Array(compact.prefix(jws.signingInput.count)))
        #expect(Base64.decode(jws.headerText, .urlSafe) == jws.header.bytes)
        try jws.verify(with: key.publicKey)
    }

    @Test func `a payload may be empty, and need not be JSON`() throws {
        for payload in [[], [0xFF], [UInt8](repeating: 0, count: 1000)] as [[UInt8]] {
            let compact = try JWS.sign(header: ["alg": "ES256"], payload: payload, with: key)
            let jws = try JWS(compact)
            #expect(jws.payload == payload)
            try jws.verify(with: key.publicKey)
        }
    }

    @Test func `a document is parsed from slices and texts alike`() throws {
        let compact = try JWS.sign(header: ["alg": "ES256"], payload: [1], with: key)
        let around = Array("xx".utf8) + compact + Array("yy".utf8)
        try JWS(around.dropFirst(2).dropLast(2)).verify(with: key.publicKey)
        try JWS(String(decoding: compact, as: UTF8.self).utf8).verify(with: key.publicKey)
    }

    @Test(arguments: [
        ("", 1), ("e30", 1), (".", 2), ("e30.e30", 2), ("e30.e30.AA.AA", 4), ("....", 5),
        ("e30.e30.AA.", 4), (".e30.e30.AA", 4),
    ])
    func `only three segments are the compact form`(text: String, segments: Int) throws {
        #expect(try reason(text) == .notCompactJWS(segments: segments))
    }

    @Test(arguments: [
        ("e3 0.e30.AA", JWS.Segment.header), ("e31.e30.AA", .header), ("e30=.e30.AA", .header),
        ("e30.e3+.AA", .payload), ("e30.e30=.AA", .payload), ("e30.e.AA", .payload),
        ("e30.e30.AB", .signature), ("e30.e30.AA==", .signature), ("e30.e30.AA\n", .signature),
        ("e30.e30. AA", .signature), ("\u{FEFF}e30.e30.AA", .header),
    ])
    func `a segment has only one valid spelling`(text: String, segment: JWS.Segment) throws {
        #expect(try reason(text) == .notBase64URL(segment))
    }

    @Test(arguments: [
        "", "{", #"{"alg":"ES256",}"#, #"{"alg":"ES256","alg":"ES256"}"#,
        #"{"alg":"none","\u0061lg":"ES256"}"#, "\u{FEFF}{\"alg\":\"ES256\"}",
        #"{"alg":"ES256"} {}"#, #"{"alg":"ES256","x":{"y":1,"y":2}}"#,
    ])
    func `a header is strict JSON without duplicate names`(header: String) throws {
        let refusal = try reason(Base64.encodeString(Array(header.utf8), .urlSafe) + ".e30.AA")
        #expect(refusal?.code == "header-not-json")
    }

    @Test(arguments: ["[]", "\"ES256\"", "null", "1"])
    func `a header is an object`(header: String) throws {
        let text = Base64.encodeString(Array(header.utf8), .urlSafe) + ".e30.AA"
        #expect(try reason(text) == .headerNotObject)
    }

    @Test func `a document is bounded to the byte`() throws {
        let most = JWS.maximumByteCount
        let fits = "e30.e30." + String(repeating: "A", count: most - 8)
        #expect(fits.utf8.count == most)
        #expect(try reason(fits) == nil)
        #expect(try reason(fits + "A") == .tooLarge(most + 1))
        #expect(throws: SignatureRefusal.self) {
            try JWS.sign(
                header: [:],
                payload: [UInt8](repeating: 0, count: most),
                with: key
            )
        }
    }

    @Test(arguments: [
        ("none", "none"), ("HS256", "HS256"), ("ES384", "ES384"), ("es256", "es256"),
        ("RS256", "RS256"), ("", ""), ("ES256 ", "ES256 "),
    ])
    func `only the one algorithm is accepted, even if truly signed`(
        name: String,
        found: String
    ) throws {
        let compact = try JWS.sign(header: ["alg": .string(name)], payload: [1], with: key)
        let jws = try JWS(compact)
        #expect(try refusal { try jws.verify(with: key.publicKey) } == .algorithm(found: found))
    }

    @Test func `a header without an algorithm or with one of another type is refused`() throws {
        for header in [[:], ["alg": nil], ["alg": 256], ["alg": ["ES256"]], ["ALG": "ES256"]]
            as [JSONObject]
        {
            let jws = try JWS(JWS.sign(header: header, payload: [1], with: key))
            #expect(try refusal { try jws.verify(with: key.publicKey) } == .algorithm(found: nil))
        }
    }

    @Test(arguments: ["crit", "zip", "b64", "jku", "jwk", "x5u"])
    func `a parameter that changes the meaning or contains a key is refused`(name: String) throws {
        let jws = try JWS(
            JWS.sign(header: ["alg": "ES256", name: nil], payload: [1], with: key)
        )
        #expect(try refusal { try jws.verify(with: key.publicKey) } == .forbiddenHeader(name))
    }

    @Test func `a key id is ignored if the key is already chosen`() throws {
        let jws = try JWS(
            JWS.sign(header: ["alg": "ES256", "kid": "k", "typ": "JWT"], payload: [1], with: key)
        )
        try jws.verify(with: key.publicKey)
    }

    @Test func `signatures of other lengths and in DER are refused`() throws {
        let compact = try JWS.sign(header: ["alg": "ES256"], payload: [1], with: key)
        let jws = try JWS(compact)
        let der = ECDSASignature.der(raw: jws.signature)
        let others = [[], Array(jws.signature.dropLast()), jws.signature + [0], der]
        for other in others {
            let altered = try replacingSignature(of: jws, with: other)
            #expect(
                try refusal { try altered.verify(with: key.publicKey) }
                    == .signatureLength(other.count)
            )
        }
        let zero = try replacingSignature(of: jws, with: [UInt8](repeating: 0, count: 64))
        #expect(try refusal { try zero.verify(with: key.publicKey) } == .badSignature)
    }

    @Test func `another payload, header or key is refused`() throws {
        let one = try JWS(JWS.sign(header: ["alg": "ES256"], payload: [1], with: key))
        let other = try JWS(JWS.sign(header: ["alg": "ES256"], payload: [2], with: key))
        let mixed = try replacingSignature(of: one, with: other.signature)
        #expect(try refusal { try mixed.verify(with: key.publicKey) } == .badSignature)
        let stranger = P256PrivateKey.generate().publicKey
        #expect(try refusal { try one.verify(with: stranger) } == .badSignature)
    }

    private func reason(_ text: String) throws -> SignatureRefusal? {
        try refusal { _ = try JWS(text.utf8) }
    }

    private func replacingSignature(of jws: JWS, with signature: [UInt8]) throws -> JWS {
        try JWS(jws.signingInput + Array(".".utf8) + Base64.encode(signature, .urlSafe))
    }
}
