import TideoverCore
import TideoverJSON
import TideoverStorage

/// The record of an operator's assertions. There are no signed bytes of them, so they are stored in
/// our own format.
struct OperatorRecord: Equatable {
    /// The facts in order, at least one.
    let facts: [Fact]
    /// The encoded facts, without the id of the evidence, since these bytes are the evidence.
    let bytes: [UInt8]

    /// Creates a record of assertions, each about one lineage, made at an instant of our clock.
    init(_ said: [(lineage: Lineage, assertion: Assertion)], at now: Instant) {
        self.init(
            said.map { lineage, assertion in
                Fact(
                    lineage: lineage,
                    assertion: assertion,
                    effectiveAt: now,
                    assertedAt: now,
                    learnedAt: now,
                    source: .operator,
                    evidence: EvidenceID(hex: "")
                )
            }
        )
    }

    /// Decodes a record; nil for other bytes.
    init?(_ bytes: [UInt8]) {
        guard let document = try? JSONDocument(bytes, limits: .local),
            let list = document.root["facts"]
        else { return nil }
        let facts = list.elements.compactMap { try? Fact(json: $0) }
        guard !facts.isEmpty, facts.count == list.count else { return nil }
        self.init(facts)
    }

    private init(_ said: [Fact]) {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field(
                "facts",
                array: { writer in
                    for var fact in said {
                        fact.evidence = EvidenceID(hex: "")
                        fact.write(to: &writer)
                    }
                }
            )
        }
        let id = EvidenceID(of: writer.bytes)
        bytes = writer.bytes
        facts = said.map { fact in
            var fact = fact
            fact.evidence = id
            return fact
        }
    }

    /// Returns the record as evidence; a second one with the same key counts as a repetition.
    func evidence(dedupeKey: String) -> Evidence {
        Evidence(
            id: EvidenceID(of: bytes),
            dedupeKey: dedupeKey,
            source: .operator,
            signedAt: nil,
            receivedAt: facts[0].learnedAt,
            bytes: bytes
        )
    }
}
