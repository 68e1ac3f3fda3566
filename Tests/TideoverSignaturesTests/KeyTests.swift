import Testing
import TideoverJSON
import TideoverSignatures

struct KeyTests {
    private let message = Array("the tide comes in".utf8)

    @Test func `the public half of a key verifies its signatures, and no other key does`() {
        let key = P256PrivateKey.generate()
        let signature = key.sign(message)
        #expect(signature.count == 64)
        #expect(key.publicKey.verify(signature: signature, of: message))
        #expect(!key.publicKey.verify(signature: signature, of: message + [0]))
        #expect(!P256PrivateKey.generate().publicKey.verify(signature: signature, of: message))
    }

    @Test func `a key verifies again after refusing`() {
        let key = P256PrivateKey.generate()
        let signature = key.sign(message)
        for _ in 0..<3 {
            #expect(!key.publicKey.verify(signature: [UInt8](repeating: 1, count: 64), of: message))
            #expect(key.publicKey.verify(signature: signature, of: message))
        }
    }

    @Test func `slices and lazy collections are digested as arrays are`() {
        let key = P256PrivateKey.generate()
        let signature = key.sign(message[4...])
        #expect(key.publicKey.verify(signature: signature, of: Array(message[4...])))
        #expect(key.publicKey.verify(signature: signature, of: message.dropFirst(4)))
        #expect(key.publicKey.verify(signature: signature, of: message.lazy.map(\.self)[4...]))
    }

    @Test func `a private key survives PEM`() throws {
        let key = P256PrivateKey.generate()
        let again = try P256PrivateKey(pem: key.pem)
        #expect(again.publicKey == key.publicKey)
        #expect(key.publicKey.verify(signature: again.sign(message), of: message))
        #expect(key.pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        #expect(key.pem.hasSuffix("\n-----END PRIVATE KEY-----\n"))
    }

    @Test func `PEM is read with other line breaks and without a final one`() throws {
        let key = P256PrivateKey.generate()
        let windows = key.pem.split(separator: "\n").joined(separator: "\r\n")
        #expect(try P256PrivateKey(pem: windows).publicKey == key.publicKey)
        #expect(try P256PrivateKey(pem: "\n  " + key.pem).publicKey == key.publicKey)
    }

    @Test(arguments: [
        "", "-----BEGIN PRIVATE KEY-----", "AAAA",
        "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
        "-----BEGIN PRIVATE KEY-----\nA*AA\n-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\nmore",
    ])
    func `text other than one PEM block of a private key is reported`(text: String) {
        #expect(throws: KeyError.notPEM) { try P256PrivateKey(pem: text) }
    }

    @Test func `private keys of other kinds and damaged ones are refused`() throws {
        #expect(throws: KeyError.malformed) { try P256PrivateKey(pkcs8: []) }
        #expect(throws: KeyError.malformed) { try P256PrivateKey(pkcs8: [0x30, 0x00]) }
        #expect(throws: KeyError.notP256) { try P256PrivateKey(pkcs8: decoded(Self.p384)) }
        #expect(throws: KeyError.notP256) { try P256PrivateKey(pkcs8: decoded(Self.ed25519)) }
        let der = try #require(PEM.decode(P256PrivateKey.generate().pem, label: "PRIVATE KEY"))
        #expect(throws: KeyError.malformed) { try P256PrivateKey(pkcs8: der + [0]) }
        #expect(throws: KeyError.malformed) { try P256PrivateKey(pkcs8: der.dropLast()) }
    }

    @Test func `a private key with another key's public half is refused`() throws {
        let one = try #require(PEM.decode(P256PrivateKey.generate().pem, label: "PRIVATE KEY"))
        let other = P256PrivateKey.generate().publicKey.x963
        #expect(throws: KeyError.malformed) {
            try P256PrivateKey(pkcs8: one.dropLast(65) + other)
        }
    }

    @Test func `a public key survives both of its forms`() throws {
        let key = P256PrivateKey.generate().publicKey
        #expect(try P256PublicKey(x963: key.x963) == key)
        #expect(try P256PublicKey(spki: key.spki) == key)
        #expect(key.x963.count == 65)
    }

    @Test func `points off the curve and other forms of points are refused`() throws {
        let key = P256PrivateKey.generate().publicKey
        var off = key.x963
        off[64] ^= 1
        #expect(throws: KeyError.malformed) { try P256PublicKey(x963: off) }
        #expect(throws: KeyError.malformed) { try P256PublicKey(x963: [0x00]) }
        #expect(throws: KeyError.malformed) {
            try P256PublicKey(x963: [0x04] + [UInt8](repeating: 0, count: 64))
        }
        #expect(throws: KeyError.malformed) { try P256PublicKey(x963: [0x02] + key.x963[1...32]) }
        #expect(throws: KeyError.malformed) { try P256PublicKey(spki: key.spki + [0]) }
        #expect(throws: KeyError.malformed) { try P256PublicKey(spki: []) }
    }

    @Test func `a signature of a length other than 64 is refused`() {
        let key = P256PrivateKey.generate()
        let signature = key.sign(message)
        let others = [[], Array(signature.dropLast()), signature + [0], [0] + signature]
        for other in others + [ECDSASignature.der(raw: signature)] {
            #expect(!key.publicKey.verify(signature: other, of: message))
        }
    }

    @Test func `zero and out-of-range signatures are refused`() throws {
        let key = P256PrivateKey.generate().publicKey
        let order = try bytes(
            hex: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
        )
        let zero = [UInt8](repeating: 0, count: 32)
        let one = Array(zero.dropLast()) + [1]
        let ones = [UInt8](repeating: 0xFF, count: 32)
        for r in [zero, one, order, ones] {
            for s in [zero, one, order, ones] {
                #expect(!key.verify(signature: r + s, of: message))
            }
        }
    }

    @Test func `raw and DER signatures are equivalent, including short integers`() throws {
        let raws = [
            [UInt8](repeating: 0xFF, count: 64), [UInt8](repeating: 0x7F, count: 64),
            [UInt8](repeating: 0, count: 31) + [1] + [UInt8](repeating: 0, count: 31) + [0x80],
        ]
        for raw in raws {
            #expect(ECDSASignature.raw(der: ECDSASignature.der(raw: raw)) == raw)
        }
        #expect(ECDSASignature.der(raw: raws[2]) == [0x30, 7, 2, 1, 1, 2, 2, 0, 0x80])
        #expect(
            ECDSASignature.der(raw: [UInt8](repeating: 0, count: 64))
                == [0x30, 6, 2, 1, 0, 2, 1, 0]
        )
        #expect(ECDSASignature.raw(der: [0x30, 7, 2, 1, 1, 2, 2, 0]) == nil)
        #expect(ECDSASignature.raw(der: []) == nil)
    }

    @Test func `the description of a key contains no secret`() throws {
        let key = P256PrivateKey.generate()
        let secret = try #require(PEM.decode(key.pem, label: "PRIVATE KEY"))[36..<68]
        var dumped = ""
        dump(key, to: &dumped)
        let digits = secret.prefix(4).map(String.init)
        #expect(!dumped.contains(digits.joined(separator: ", ")))
        #expect(!dumped.contains(digits.map { "- \($0)\n" }.joined(separator: "")))
        #expect(!"\(key)".contains(digits.joined(separator: ", ")))
    }

    @Test func `many threads use one key at once`() async {
        let key = P256PrivateKey.generate()
        let message = message
        let signature = key.sign(message)
        let accepted = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    (0..<20).count { index in
                        let text = index % 2 == 0 ? message : message + [1]
                        return key.publicKey.verify(signature: signature, of: text)
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(accepted == 400)
    }

    private func decoded(_ text: String) throws -> [UInt8] {
        try #require(Base64.decode(text.utf8.filter { $0 != UInt8(ascii: "\n") }, .standard))
    }

    /// PKCS #8 of keys created for this test.
    private static let p384 = """
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDBN/pE+Bp8LOtJFZo2N
        pJsfx0Iq9zfVoAFgdoVhQ6ej6sCVhACoRC6Vxkqx/Xo+ddyhZANiAARbxqcrbQlM
        ZIYNq43nbQtUZcbQWjsairZB+yLpI7CUIzI13QoKJcksOssBSjGrpKHtJQCa9T8w
        WC7+cWUNG+JLOzMIkhTOGthlrS0jq8PnzWixgYa8HB56GNrrtbBAprw=
        """
    private static let ed25519 = """
        MC4CAQAwBQYDK2VwBCIEILoVZ79oOy0MqTjfy/iCAT93LyWhl3UxcVAagSatNJsp
        """
}

struct SHA256Tests {
    @Test func `the digests equal those of FIPS 180-4`() throws {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(try SHA256.hash([]) == bytes(hex: empty))
        #expect(try SHA256.hash(Array("abc".utf8)) == bytes(hex: abc))
        #expect(try SHA256.hash("abc".utf8) == bytes(hex: abc))
        #expect(try SHA256.hash(Array("xabcx".utf8)[1..<4]) == bytes(hex: abc))
    }

    @Test func `a prefix that was hashed before gives the digest of the whole`() {
        let message = (0..<200).map { UInt8(truncatingIfNeeded: $0 * 7) }
        for split in 0...message.count {
            let prefix = SHA256Prefix(message[..<split])
            for end in [split, (split + message.count) / 2, message.count] {
                // Twice: the prefix remains what it was.
                for _ in 0..<2 {
                    let digest = SHA256.hash(prefix, followedBy: message[split..<end])
                    #expect(digest == SHA256.hash(message[..<end]))
                }
            }
        }
    }

    @Test func `many threads use one prefix at once`() async {
        let prefix = SHA256Prefix(Array("the tide ".utf8)[...])
        let rest = ["comes in", "goes out"].map { Array($0.utf8)[...] }
        let digests = rest.map { SHA256.hash(Array("the tide ".utf8) + $0) }
        let right = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    (0..<100).count { index in
                        SHA256.hash(prefix, followedBy: rest[index % 2]) == digests[index % 2]
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(right == 4_000)
    }
}
