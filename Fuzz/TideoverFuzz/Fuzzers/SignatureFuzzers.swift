import TideoverAppStore
import TideoverCore
import TideoverJSON
import TideoverSignatures

extension Fuzzer {
    static let signed = Fuzzer(
        "signed",
        promise: """
            what is believed was signed: its content is, byte for byte, that of a document that the \
            store's key signed; a verifier that remembers chains and one that knows none say the same
            """,
        maximumByteCount: 8192,
        seeds: { Originals.shared.documents + Originals.shared.falseDocuments },
        words: ["\"x5c\":", "\"alg\":\"ES256\"", "\"alg\":\"none\"", "\"kid\":\"\"", "\"jwk\":{}"],
        mutate: SignedMutations.any,
        check: { SignedChecks.document($0) }
    )

    static let chain = Fuzzer(
        "chain",
        promise: """
            a leaf and an intermediate that are believed are, byte for byte, those that the pinned \
            root vouched for
            """,
        maximumByteCount: 4096,
        seeds: { (Originals.shared.chains + Originals.shared.falseChains).map(ChainText.joined) },
        words: SignedMutations.derWords,
        mutate: SignedMutations.chain,
        check: { SignedChecks.chain($0) }
    )
}

private enum SignedChecks {
    private static let anchor = unfailing("the root is no anchor") {
        try TrustAnchor(name: "fuzzed", der: Originals.shared.root)
    }

    /// Exists as long as the process, as in the server.
    private static let verifier = ChainVerifier(policy: Originals.policy, anchors: [anchor])

    private static let contents: Set<[UInt8]> = Set(
        Originals.shared.documents.map { document in
            Array(unfailing("an original is malformed") { try JWS(document) }.signingInput)
        }
    )

    static func document(_ input: [UInt8]) {
        let isBelieved = believes(verifier, input)
        expect(isBelieved == believesAfresh(input), "a remembered chain changes the verdict")
        if Originals.shared.documents.contains(input) {
            expect(isBelieved, "an original is not believed")
        }
    }

    private static func believesAfresh(_ input: [UInt8]) -> Bool {
        believes(ChainVerifier(policy: Originals.policy, anchors: [anchor]), input)
    }

    private static func believes(_ verifier: ChainVerifier, _ input: [UInt8]) -> Bool {
        do {
            let jws = try verifier.read(input[...])
            let payload = try? JSONDocument(jws.payload)
            let signed = payload.flatMap(AppStoreSigning.signedDate)
            let instant = signed?.millisecondsSince1970 ?? Originals.instant
            let found = try verifier.verify(jws, at: instant)
            expect(found.name == anchor.name, "an anchor that is not pinned")
            expect(contents.contains(Array(jws.signingInput)), "accepted without a signature")
            return true
        } catch {
            return false
        }
    }

    static func chain(_ input: [UInt8]) {
        let certificates = ChainText.split(input)
        do {
            _ = try ChainVerifier(policy: Originals.policy, anchors: [anchor])
                .verifyChain(der: certificates, at: Originals.instant)
        } catch {
            expect(!isOriginal(certificates), "an original is not believed: \(error)")
            return
        }
        expect(isOriginal(certificates), "believed, but the root vouched for something else")
    }

    /// The sender chooses the third certificate, and the verifier ignores it.
    private static func isOriginal(_ certificates: [[UInt8]]) -> Bool {
        certificates.count == 3
            && Originals.shared.chains.contains {
                $0.prefix(2).elementsEqual(certificates.prefix(2))
            }
    }
}

/// Certificates as one input: each after its length in two bytes.
enum ChainText {
    static func joined(_ certificates: [[UInt8]]) -> [UInt8] {
        certificates.flatMap { [UInt8($0.count >> 8 & 255), UInt8($0.count & 255)] + $0 }
    }

    /// Splits an input into its certificates. The last one may be truncated.
    static func split(_ input: [UInt8]) -> [[UInt8]] {
        var rest = input[...]
        var certificates: [[UInt8]] = []
        while rest.count >= 2, certificates.count < 8 {
            let count = Int(rest.removeFirst()) << 8 | Int(rest.removeFirst())
            certificates.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return certificates
    }
}

enum SignedMutations {
    /// Changes a document's text, the content of a segment or a certificate in its header, or
    /// inserts a part of another document.
    @Sendable static func any(_ input: [UInt8], _ most: Int, _ dice: inout Dice) -> [UInt8] {
        switch dice.number(below: 6) {
        case 0, 1: certificate(input, most, &dice)
        case 2: spliced(input, &dice)
        default: CompactMutations.any(input, most, &dice)
        }
    }

    /// Changes one certificate of several, or replaces it by one of another chain.
    @Sendable static func chain(_ input: [UInt8], _ most: Int, _ dice: inout Dice) -> [UInt8] {
        var certificates = ChainText.split(input)
        guard !dice.one(in: 8), !certificates.isEmpty else {
            return Mutations.bytes(input, most: most)
        }
        let place = dice.number(below: certificates.count)
        certificates[place] = changed(certificates[place], at: place, &dice)
        return ChainText.joined(certificates)
    }

    private static func changed(_ der: [UInt8], at place: Int, _ dice: inout Dice) -> [UInt8] {
        guard dice.one(in: 6) else { return Mutations.bytes(der, most: der.count + 32) }
        let others = Originals.shared.chains + Originals.shared.falseChains
        return dice.pick(others)[min(place, 2)]
    }

    private static func certificate(_ input: [UInt8], _ most: Int, _ dice: inout Dice) -> [UInt8] {
        var segments = input.split(separator: dot, omittingEmptySubsequences: false).map(Array.init)
        guard let bytes = Base64.decode(segments[0], .urlSafe),
            case .object(var header)? = (try? JSONDocument(bytes)).map({ JSONValue($0.root) }),
            var chain = header["x5c"]?.array, !chain.isEmpty
        else { return Mutations.bytes(input, most: most) }
        let place = dice.number(below: chain.count)
        guard let text = chain[place].string, let der = Base64.decode(text.utf8, .standard) else {
            return Mutations.bytes(input, most: most)
        }
        let new = changed(der, at: place, &dice)
        chain[place] = .string(Base64.encodeString(new, .standard))
        header["x5c"] = .array(chain)
        segments[0] = Base64.encode(JSONValue.object(header).encoded(), .urlSafe)
        return Array(segments.joined(separator: [dot]))
    }

    private static func spliced(_ input: [UInt8], _ dice: inout Dice) -> [UInt8] {
        var segments = input.split(separator: dot, omittingEmptySubsequences: false).map(Array.init)
        let other = dice.pick(Originals.shared.documents + Originals.shared.falseDocuments)
        let parts = other.split(separator: dot, omittingEmptySubsequences: false).map(Array.init)
        let place = dice.number(below: 3)
        if place < segments.count { segments[place] = parts[place] }
        return Array(segments.joined(separator: [dot]))
    }

    /// Tags and object identifiers of certificates.
    static let derWords = [
        "\u{30}\u{0}", "\u{5}\u{0}", "\u{1}\u{1}", "\u{3}\u{2}\u{1}\u{6}",
        "\u{6}\u{3}\u{55}\u{1D}\u{F}",
        "\u{6}\u{3}\u{55}\u{1D}\u{13}", "\u{2}\u{1}\u{0}", "\u{17}\u{D}", "\u{18}\u{F}",
    ]
}
