import Testing
import TideoverJSON
import TideoverSignatures

/// Checks all verdicts of Project Wycheproof, both with libcrypto's verification and with the table
/// of a frequently used key.
@Suite(.enabled(if: Vectors.present, "vectors are not beside the project"))
struct WycheproofTests {
    @Test func `all 262 signatures on P-256 get the file's verdict`() throws {
        let file = try Vectors.json("ecdsa/ecdsa_secp256r1_sha256_p1363_test.json")
        var (counts, judgedByTable) = ([String: Int](), 0)
        for group in try #require(file["testGroups"]).elements {
            let spki = try bytes(hex: #require(group["publicKeyDer"]?.string))
            let key = try P256PublicKey(spki: spki)
            let table = try #require(FixedKeyTable(key))
            for test in try #require(group["tests"]).elements {
                let verdict = try #require(test["result"]?.string)
                let signature = try bytes(hex: #require(test["sig"]?.string))
                let message = try bytes(hex: #require(test["msg"]?.string))
                let isAccepted = key.verify(signature: signature, of: message)
                #expect(isAccepted == (verdict == "valid"), "\(name(of: test))")
                let found = table.verify(signature: signature, digest: SHA256.hash(message))
                // Other lengths are rejected before either path.
                #expect(found == (signature.count == 64 ? isAccepted : nil), "\(name(of: test))")
                judgedByTable += found == nil ? 0 : 1
                counts[verdict, default: 0] += 1
            }
        }
        #expect(counts == ["valid": 173, "invalid": 89])
        #expect(judgedByTable == 241)
    }

    /// ES256 documents get the verdict of the file. All others are rejected, including those that
    /// the file calls valid, since no other algorithm is accepted here. Two are invalid because
    /// their JSON Web Key is meant for encryption. Tideover has no such keys, so this test rejects
    /// them while reading the key.
    @Test func `all 401 signed documents have a verdict`() throws {
        let file = try Vectors.json("ecdsa/json_web_signature_test.json")
        var counts = Counts()
        for group in try #require(file["testGroups"]).elements {
            for test in try #require(group["tests"]).elements {
                try judge(test, key: group["public"], &counts)
            }
        }
        #expect(counts == Counts(accepted: 2, refused: 37, wrongKeyUse: 2, otherAlgorithm: 360))
        #expect(
            counts.accepted + counts.refused + counts.wrongKeyUse + counts.otherAlgorithm == 401
        )
    }

    /// Checks the same file with RS256. The ten valid documents without a key in the file, and
    /// those with other algorithms, are rejected: no trusted key signed them.
    @Test func `all 233 documents under RSA keys for RS256 get the file's verdict`() throws {
        let file = try Vectors.json("ecdsa/json_web_signature_test.json")
        var counts = ["accepted": 0, "refused": 0, "not for RS256": 0]
        for group in try #require(file["testGroups"]).elements {
            guard let jwk = group["public"], jwk["kty"]?.string == "RSA" else { continue }
            for test in try #require(group["tests"]).elements {
                let text = try #require(test["jws"]?.string)
                guard let key = RSAPublicKey(jwk: jwk) else {
                    let isOther = jwk["alg"]?.string ?? JWS.rs256 != JWS.rs256
                    #expect(isOther || test["result"]?.string == "invalid", "\(name(of: test))")
                    counts["not for RS256", default: 0] += 1
                    continue
                }
                let reason = try refusal { try JWS(text.utf8).verify(with: key) }
                let isValid = test["result"]?.string == "valid"
                #expect((reason == nil) == isValid, "\(name(of: test))")
                counts[reason == nil ? "accepted" : "refused", default: 0] += 1
            }
        }
        #expect(counts == ["accepted": 8, "refused": 225, "not for RS256": 85])
    }

    @Test func `without a chain none of the 401 documents is accepted`() throws {
        let verifier = try TestChain().verifier()
        let file = try Vectors.json("ecdsa/json_web_signature_test.json")
        var refused = 0
        for group in try #require(file["testGroups"]).elements {
            for test in try #require(group["tests"]).elements {
                let text = try #require(test["jws"]?.string)
                #expect(throws: SignatureRefusal.self, "\(name(of: test))") {
                    try verifier.verify(JWS(text.utf8), at: TestChain.instant)
                }
                refused += 1
            }
        }
        #expect(refused == 401)
        #expect(verifier.publicKeyOperationCount == 0)
    }

    private struct Counts: Equatable {
        var accepted = 0
        var refused = 0
        var wrongKeyUse = 0
        var otherAlgorithm = 0
    }

    private func judge(_ test: JSONNode, key: JSONNode?, _ counts: inout Counts) throws {
        let text = try #require(test["jws"]?.string)
        let verdict = try #require(test["result"]?.string)
        guard let key, key["kty"]?.string == "EC", key["crv"]?.string == "P-256" else {
            let anyKey = P256PrivateKey.generate().publicKey
            let reason = try refusal { try JWS(text.utf8).verify(with: anyKey) }
            #expect(reason != nil && reason != .badSignature, "\(name(of: test))")
            counts.otherAlgorithm += 1
            return
        }
        guard isForSigning(key) else {
            #expect(verdict == "invalid")
            counts.wrongKeyUse += 1
            return
        }
        let publicKey = try publicKey(key)
        let reason = try refusal { try JWS(text.utf8).verify(with: publicKey) }
        let table = try #require(FixedKeyTable(publicKey))
        if let jws = try? JWS(text.utf8), reason == nil || reason == .badSignature {
            let digest = SHA256.hash(jws.signingInput)
            let found = table.verify(signature: jws.signature, digest: digest)
            #expect(found == (reason == nil), "\(name(of: test))")
        }
        #expect((reason == nil) == (verdict == "valid"), "\(name(of: test))")
        counts.accepted += reason == nil ? 1 : 0
        counts.refused += reason == nil ? 0 : 1
    }

    private func isForSigning(_ key: JSONNode) -> Bool {
        let operations = key["key_ops"]?.elements.compactMap(\.string)
        return key["use"]?.string ?? "sig" == "sig" && operations?.contains("verify") ?? true
    }

    private func publicKey(_ key: JSONNode) throws -> P256PublicKey {
        let (xText, yText) = try (#require(key["x"]?.utf8), #require(key["y"]?.utf8))
        let x = try #require(Base64.decode(xText, .urlSafe))
        let y = try #require(Base64.decode(yText, .urlSafe))
        return try P256PublicKey(x963: [0x04] + x + y)
    }

    private func name(of test: JSONNode) -> String {
        "\(test["tcId"]?.int64 ?? 0) \(test["comment"]?.string ?? "")"
    }
}
