import TideoverJSON
import TideoverSignatures

extension Fuzzer {
    static let jws = Fuzzer(
        "jws",
        promise: """
            a compact form is taken apart if and only if it is three segments of canonical base64url \
            with a JSON object for a header, and put together again it is the same text
            """,
        maximumByteCount: 4096,
        seeds: { JWSSeeds.all },
        words: JWSSeeds.words,
        mutate: CompactMutations.any,
        check: { input in
            let segments = input.split(separator: dot, omittingEmptySubsequences: false)
            let plain = segments.compactMap { PlainBase64.decode($0, isURLSafe: true) }
            let isObject = plain.first.flatMap {
                PlainJSON.read($0, depth: JSONLimits.inbound.maxDepth)
            }
            var isRight = false
            if case .object = isObject { isRight = plain.count == 3 && segments.count == 3 }
            let jws: JWS
            do {
                jws = try JWS(input)
            } catch {
                expect(!isRight, "refused, but a second reader accepts it: \(error)")
                return
            }
            expect(isRight, "accepted, but a second reader refuses it")
            let parts = [jws.header.bytes, jws.payload, jws.signature]
            expect(parts == plain, "a second reader finds other parts")
            let texts = parts.map { Base64.encode($0, .urlSafe) }
            expect(Array(texts.joined(separator: [dot])) == input, "it is not the same text again")
            expect(
                Array(texts[..<2].joined(separator: [dot])) == Array(jws.signingInput),
                "the signature covers something else"
            )
        }
    )
}

private enum JWSSeeds {
    static let all: [[UInt8]] = {
        let headers = [#"{"alg":"ES256"}"#, "{}", #"{"alg":"none","crit":["b64"],"b64":false}"#]
        return headers.map { compact($0, "{\"a\":1}", [UInt8](repeating: 7, count: 64)) }
            + [Array("e30..".utf8), Array("..".utf8), compact("[]", "", [])]
    }()

    static let words = ["e30", "e30.e30.", ".", "\"alg\":\"ES256\"", "\"x5c\":[", "\"kid\":\"\""]

    private static func compact(_ header: String, _ payload: String, _ signature: [UInt8])
        -> [UInt8]
    {
        let parts = [Array(header.utf8), Array(payload.utf8), signature]
        return Array(parts.map { Base64.encode($0, .urlSafe) }.joined(separator: [dot]))
    }
}

/// Changes a compact form inside its base64.
enum CompactMutations {
    /// Changes the text, or the content of one of its segments.
    @Sendable static func any(_ input: [UInt8], _ most: Int, _ dice: inout Dice) -> [UInt8] {
        var segments = input.split(separator: dot, omittingEmptySubsequences: false).map(Array.init)
        let place = dice.number(below: segments.count)
        guard !dice.one(in: 4), let bytes = Base64.decode(segments[place], .urlSafe) else {
            return Mutations.bytes(input, most: most)
        }
        let changed = Mutations.json(bytes, most, &dice)
        segments[place] = Base64.encode(changed, .urlSafe)
        return Array(segments.joined(separator: [dot]))
    }
}
