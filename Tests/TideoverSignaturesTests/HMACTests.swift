import Testing
import TideoverSignatures

/// https://www.rfc-editor.org/rfc/rfc4231#section-4
@Suite struct HMACTests {
    @Test(
        arguments: [
            (
                [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xAA, count: 131),
                Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ]
    )
    func `codes equal those of the standard's examples`(
        _ secret: [UInt8],
        _ message: [UInt8],
        _ code: String
    ) {
        let made = HMACSHA256.code(of: message, under: secret)
        let digits = Array("0123456789abcdef")
        let text = made.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        #expect(String(text) == code)
    }

    /// A secret is padded with zeros, so an empty one and a single zero are equivalent.
    @Test func `an empty secret and an empty message have a code`() {
        let empty = HMACSHA256.code(of: [], under: [])
        #expect(empty == HMACSHA256.code(of: [], under: [0]))
        #expect(empty != HMACSHA256.code(of: [0], under: []))
    }
}
