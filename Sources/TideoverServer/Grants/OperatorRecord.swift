import TideoverCore
import TideoverJSON
import TideoverStorage

/// What is kept of what an operator says: there are no signed bytes of it, so that it is put down in
/// words of our own.
struct OperatorRecord: Equatable {
    /// What is said, in order; never empty.
    let facts: [Fact]
    /// The forms of the facts, without the name of the evidence, which these bytes are.
    let bytes: [UInt8]

    /// A record of assertions, each about one lineage, made at an instant by our clock.
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

    /// Reads what `bytes` holds; nil for anything else.
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

    /// The record as evidence; a second one under the same key is taken for the first told again.
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
