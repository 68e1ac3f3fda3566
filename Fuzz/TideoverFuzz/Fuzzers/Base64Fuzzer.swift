import TideoverJSON

extension Fuzzer {
    static let base64 = Fuzzer(
        "base64",
        promise: """
            a text is accepted if and only if a second reader accepts it, both read the same, it is \
            the very text that is written of its bytes, and any bytes come back from their text
            """,
        maximumByteCount: 512,
        seeds: {
            ["", "AA", "AAA", "AAAA", "_-8", "+/8=", "AA==", "TWFu", "TQ", "TR"].map {
                Array($0.utf8)
            }
        },
        words: ["=", "==", "+", "/", "-", "_"],
        check: { input in
            for alphabet in [Base64.Alphabet.standard, .urlSafe] {
                let isURLSafe = alphabet == .urlSafe
                let bytes = Base64.decode(input, alphabet)
                let plain = PlainBase64.decode(input, isURLSafe: isURLSafe)
                expect(bytes == plain, "\(alphabet): a second reader says \(plain as Any)")
                if let bytes {
                    expect(Base64.encode(bytes, alphabet) == input, "\(alphabet): not canonical")
                }
                let text = Base64.encode(input, alphabet)
                expect(Base64.decode(text, alphabet) == input, "\(alphabet): bytes are lost")
                expect(
                    PlainBase64.decode(text, isURLSafe: isURLSafe) == input,
                    "\(alphabet): a second reader reads other bytes"
                )
            }
        }
    )
}
