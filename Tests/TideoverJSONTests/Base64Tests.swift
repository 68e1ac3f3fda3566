import Foundation
import Testing
import TideoverJSON

struct Base64Tests {
    @Test(arguments: [
        ("", "", ""), ("f", "Zg==", "Zg"), ("fo", "Zm8=", "Zm8"), ("foo", "Zm9v", "Zm9v"),
        ("foob", "Zm9vYg==", "Zm9vYg"), ("fooba", "Zm9vYmE=", "Zm9vYmE"),
        ("foobar", "Zm9vYmFy", "Zm9vYmFy"),
    ])
    func `the examples of RFC 4648 are reproduced`(plain: String, standard: String, urlSafe: String)
    {
        #expect(Base64.encodeString(plain.utf8, .standard) == standard)
        #expect(Base64.encodeString(plain.utf8, .urlSafe) == urlSafe)
        #expect(Base64.decode(standard.utf8, .standard) == Array(plain.utf8))
        #expect(Base64.decode(urlSafe.utf8, .urlSafe) == Array(plain.utf8))
    }

    @Test func `the alphabets differ in two characters`() {
        let bytes: [UInt8] = [0xFB, 0xEF, 0xFF]
        #expect(Base64.encodeString(bytes, .standard) == "++//")
        #expect(Base64.encodeString(bytes, .urlSafe) == "--__")
        #expect(Base64.decode("++//".utf8, .urlSafe) == nil)
        #expect(Base64.decode("--__".utf8, .standard) == nil)
    }

    @Test(arguments: [
        "Z", "Zg", "Zg=", "Zg===", "Zg====", "Zm8", "Zm9v=", "Zm9v==", "Zm9v====", "=", "==", "===",
        "====", "Z===", "=Zg=", "Z=g=", "Zg==Zg==", "Zm8=Zm8=", "Zm9v\n", "Zm 9", "Zg= =", " Zg==",
        "Zm9!", "Zm9\u{0}", "Zmé=", "Zh==", "Zi==", "Zk==", "Zo==", "Zx==", "Z/==", "Zm9=", "Zm+=",
    ])
    func `standard text that is not canonical is refused`(text: String) {
        #expect(Base64.decode(text.utf8, .standard) == nil)
    }

    @Test(arguments: [
        "Z", "Zm9vY", "Zg==", "Zm8=", "Zm9v=", "=", "Z=", "Zh", "Zv", "Zi", "Zm9", "Zm-", "Zm_",
        "Zm9v\n", "Zm9v Zm9v", "Zm9+", "Zm9/", "Zm9.", "Zm9v.Zg",
    ])
    func `URL-safe text that is not canonical is refused`(text: String) {
        #expect(Base64.decode(text.utf8, .urlSafe) == nil)
    }

    @Test func `the last character is accepted only if its unused bits are zero`() {
        let characters = Base64.encode((0..<64).flatMap { [$0 << 2] as [UInt8] }, .urlSafe)
        #expect(!characters.isEmpty)
        let alphabet = Array(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8
        )
        for (value, character) in alphabet.enumerated() {
            let one = Base64.decode([0x41, character], .urlSafe)
            #expect(one == (value % 16 == 0 ? [UInt8(value / 16)] : nil))
            let two = Base64.decode([0x41, 0x41, character], .urlSafe)
            #expect(two == (value % 4 == 0 ? [0, UInt8(value / 4)] : nil))
        }
    }

    @Test func `each invalid byte is refused at each position`() {
        let alphabet = Set(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
        )
        for byte in UInt8.min...UInt8.max {
            for place in 0..<4 {
                var text = Array("AAAAAAAA".utf8)
                text[place] = byte
                #expect((Base64.decode(text, .standard) != nil) == alphabet.contains(byte))
            }
        }
    }

    @Test(arguments: 0..<70)
    func `bytes of each length survive both alphabets`(length: Int) {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 151 + length) }
        for alphabet in [Base64.Alphabet.standard, .urlSafe] {
            let text = Base64.encode(bytes, alphabet)
            #expect(Base64.decode(text, alphabet) == bytes)
            #expect(Base64.decode([0x2E] + text, alphabet) == nil)
        }
        #expect(Base64.encodeString(bytes, .standard) == Data(bytes).base64EncodedString())
    }

    @Test func `slices, strings and sequences without storage are decoded alike`() {
        let text = "xZm9vYmFyx"
        let bytes = Array(text.utf8)
        #expect(Base64.decode(bytes[1..<9], .urlSafe) == Array("foobar".utf8))
        #expect(Base64.decode(text.utf8.dropFirst().dropLast(), .urlSafe) == Array("foobar".utf8))
        #expect(
            Base64.decode(Array(bytes[1..<9].reversed()).reversed(), .urlSafe)
                == Array("foobar".utf8)
        )
        #expect(Base64.encodeString("foobar".utf8.reversed(), .standard) == "cmFib29m")
        #expect(Base64.encode(EmptyCollection(), .standard).isEmpty)
    }
}
