import TideoverASN1
import TideoverAppStore
import TideoverCore
import TideoverSignatures

extension Fuzzer {
    static let receipt = Fuzzer(
        "receipt",
        promise: """
            a receipt in BER or DER that is believed has, byte for byte, the content of one that the \
            store's key signed; a verifier that remembers chains and one that knows none say the same
            """,
        maximumByteCount: 16384,
        seeds: { Originals.shared.receipts + Originals.shared.falseReceipts },
        words: ReceiptMutations.words,
        mutate: ReceiptMutations.container,
        check: { ReceiptChecks.container($0) }
    )

    static let receiptContent = Fuzzer(
        "receipt-content",
        promise: """
            values of BER are taken apart if and only if a second reader takes them apart; whatever a \
            receipt says is read or refused in words of its own, and the same whether lengths or marks \
            end its values; its facts keep the promises of `notification`
            """,
        maximumByteCount: 8192,
        seeds: { SimulatedLife.receiptContents },
        words: ReceiptMutations.words,
        mutate: ReceiptMutations.content,
        check: { ReceiptChecks.content($0) }
    )
}

private enum ReceiptChecks {
    private static let anchors = Originals.shared.receiptRoots.map { root in
        unfailing("the root of receipts is no anchor") {
            try TrustAnchor(name: "fuzzed", der: root, keys: .rsa)
        }
    }

    /// Exists as long as the process, as in the server.
    private static let verifier = newVerifier()

    private static func newVerifier() -> SignedDataVerifier {
        SignedDataVerifier(
            leafMarker: Originals.policy.leafMarker,
            intermediateMarker: Originals.policy.intermediateMarker,
            anchors: anchors
        )
    }

    private static let contents: Set<[UInt8]> = Set(
        Originals.shared.receipts.map { receipt in
            unfailing("an original is malformed") { try SignedData(receipt) }.content
        }
    )

    static func container(_ input: [UInt8]) {
        let isBelieved = believes(verifier, input)
        expect(
            isBelieved == believes(newVerifier(), input),
            "a remembered chain changes the verdict"
        )
        if Originals.shared.receipts.contains(input) {
            expect(isBelieved, "an original is not believed")
        }
    }

    private static func believes(_ verifier: SignedDataVerifier, _ input: [UInt8]) -> Bool {
        do {
            let signed = try SignedData(input)
            let made = AppStoreSigning.creationDate(ofReceipt: signed.content)
            let instant = made?.millisecondsSince1970 ?? Originals.instant
            _ = try verifier.verify(signed, at: instant)
            expect(contents.contains(signed.content), "accepted without a signature")
            return true
        } catch {
            return false
        }
    }

    // MARK: Content

    private static let reader = AppStoreReader(
        app: AppStoreIdentity(
            bundleId: SimulatedLife.bundleId,
            environments: [.production, .sandbox]
        )
    )
    /// 2026-12-01T00:00:00Z.
    private static let learnedAt = Instant(millisecondsSince1970: 1_796_083_200_000)

    static func content(_ input: [UInt8]) {
        let tree = PlainBER(input)
        expect(isWhole(input) == (tree != nil), "the two readers of BER differ")
        let reading = reading(of: input)
        if let tree, tree.depth < BERReader.maximumDepth {
            for other in [tree.withLengths, tree.withMarks] {
                let again = self.reading(of: other)
                expect(again?.receipt == reading?.receipt, "the form changes what is read")
                expect(again?.dedupeKey == reading?.dedupeKey, "the form changes the key")
            }
        }
        guard let reading else { return }
        expect(!reading.dedupeKey.isEmpty, "without a key for detecting repeats")
        let facts = reading.facts(
            learnedAt: learnedAt,
            source: .appReceipt,
            evidence: EvidenceID(hex: "00")
        )
        for fact in facts { FactChecks.form(of: fact) }
        if !facts.isEmpty { FactChecks.standing(facts + SimulatedLife.usualFacts) }
    }

    /// Whether these bytes are one value that consists of complete values.
    private static func isWhole(_ input: [UInt8]) -> Bool {
        do {
            var open = [try BERReader.only(input[...])]
            while let value = open.popLast() {
                guard value.identifier & 0x20 != 0 else { continue }
                var elements = value.elements
                while !elements.isAtEnd { open.append(try elements.next()) }
            }
            return true
        } catch {
            return false
        }
    }

    private static func reading(of content: [UInt8]) -> AppStoreReading? {
        do {
            // The fuzzer `receipt` tests the container. Here, its content is the input.
            return try reader.readReceipt([0x30]) { _ in
                VerifiedReceipt(content: content, authority: .appStore)
            }
        } catch let refusal as AppStoreRefusal {
            expect(!refusal.code.isEmpty && !refusal.sentence.isEmpty, "a refusal without words")
            return nil
        } catch {
            Failure.stop("a receipt is refused by \(error), which is none of our words")
        }
    }
}

enum ReceiptMutations {
    /// Changes a value in a container or its bytes, or inserts a part of another container.
    @Sendable static func container(_ input: [UInt8], _ most: Int, _ dice: inout Dice) -> [UInt8] {
        switch dice.number(below: 4) {
        case 0: return Mutations.bytes(input, most: most)
        case 1: return spliced(input, &dice)
        default: return content(input, most, &dice)
        }
    }

    /// Changes one value in three cases out of four, in one form or the other.
    @Sendable static func content(_ input: [UInt8], _ most: Int, _ dice: inout Dice) -> [UInt8] {
        guard !dice.one(in: 4), let tree = PlainBER(input) else {
            return Mutations.bytes(input, most: most)
        }
        let changed = tree.changed(&dice)
        return dice.one(in: 2) ? changed.withLengths : changed.withMarks
    }

    private static func spliced(_ input: [UInt8], _ dice: inout Dice) -> [UInt8] {
        let others = Originals.shared.receipts + Originals.shared.falseReceipts
        guard case .made(let tag, let fields)? = PlainBER(input),
            case .made(_, let others)? = PlainBER(dice.pick(others)), fields.count == 2,
            others.count == 2, case .made(let field, let wrapped) = fields[1],
            case .made(_, let otherWrapped) = others[1], wrapped.count == 1,
            otherWrapped.count == 1,
            case .made(let inner, var parts) = wrapped[0],
            case .made(_, let news) = otherWrapped[0],
            !parts.isEmpty, !news.isEmpty
        else { return input }
        let place = dice.number(below: parts.count)
        parts[place] = news[min(place, news.count - 1)]
        return PlainBER.made(tag, [fields[0], .made(field, [.made(inner, parts)])]).withLengths
    }

    /// Tags, lengths and object identifiers of receipts.
    static let words = [
        "\u{30}\u{0}", "\u{31}\u{0}", "\u{5}\u{0}", "\u{0}\u{0}", "\u{2}\u{1}\u{1}",
        "\u{4}\u{0}", "\u{16}\u{0}", "\u{C}\u{0}", "\u{2}\u{1}\u{11}", "\u{2}\u{1}\u{C}",
        "2026-05-01T00:00:00Z", "Production", "ProductionSandbox", "com.example.cards",
    ]
}
