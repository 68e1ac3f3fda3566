import Testing
import TideoverCore
import TideoverJSON
import TideoverStorage

/// Facts are read as they were stored, with the lineage of the one before or another.
@Suite struct StoredFactReaderTests {
    private static func fact(_ lineage: String, _ ownership: Ownership, _ number: Int64) -> Fact {
        let start = Instant(millisecondsSince1970: 1_777_000_000_000 + number)
        return Fact(
            lineage: Lineage(
                store: .appStore,
                environment: .production,
                id: lineage,
                ownership: ownership
            ),
            assertion: number.isMultiple(of: 2)
                ? .term(Term(transactionId: "\(number)", productId: "p", start: start, end: nil))
                : .condition(Condition(status: .retry)),
            effectiveAt: start,
            assertedAt: start,
            learnedAt: start + .seconds(1),
            source: .appStoreNotification,
            evidence: EvidenceID(hex: "\(number)")
        )
    }

    /// One id is the beginning of another, one has characters that JSON escapes.
    private static let ids = ["1", "11", "1\",\"1", "{}"]

    private static let facts: [Fact] = (0..<200).map { (number: Int) -> Fact in
        let ownership: Ownership = number / 3 % 2 == 0 ? .purchased : .familyShared
        return fact(ids[number / 7 % 4], ownership, Int64(number))
    }

    @Test func `each fact is read with its own lineage`() throws {
        var reader = StoredFactReader()
        for fact in Self.facts { #expect(try reader.fact(FactRow(fact).form) == fact) }
    }

    @Test func `the digest of a fact is that of its content without its arrival`() {
        for content in Self.facts {
            var fact = content
            fact.effectiveAt = content.assertedAt + .seconds(5)
            fact.source = .imported
            let row = FactRow(fact)
            #expect(row.form == Self.written(fact))
            var identified = content
            identified.learnedAt = content.assertedAt
            identified.evidence = EvidenceID(hex: "")
            let digest = EvidenceID(of: Self.written(identified)).hex
            #expect(Hexadecimal.text(row.identity) == digest)
        }
    }

    private static func written(_ fact: Fact) -> [UInt8] {
        var writer = JSONWriter()
        fact.write(to: &writer)
        return writer.bytes
    }

    @Test func `a form that begins otherwise is read too`() throws {
        var reader = StoredFactReader()
        let fact = Self.facts[0]
        let form = String(decoding: FactRow(fact).form, as: UTF8.self)
        let end = try #require(form.firstRange(of: "},")).lowerBound
        let lineage = form[form.index(after: form.startIndex)...end]
        let others = form[form.index(end, offsetBy: 2)...].dropLast()
        let texts = [
            "{\(others),\(lineage)}", "{ \(lineage),\(others)}", "{\(lineage) ,\(others)}",
        ]
        for text in texts {
            for _ in 1...2 { #expect(try reader.fact(Array(text.utf8)) == fact) }
            #expect(try reader.fact(FactRow(Self.facts[1]).form) == Self.facts[1])
        }
    }

    @Test func `a form that is cut off is refused`() throws {
        var reader = StoredFactReader()
        let form = FactRow(Self.facts[0]).form
        #expect(try reader.fact(form) == Self.facts[0])
        for count in 0..<form.count {
            #expect(throws: (any Error).self) { try reader.fact(Array(form.prefix(count))) }
        }
        #expect(try reader.fact(form) == Self.facts[0])
    }
}
