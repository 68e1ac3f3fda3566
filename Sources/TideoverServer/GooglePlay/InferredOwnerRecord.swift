import TideoverCore
import TideoverJSON
import TideoverStorage

/// The record of an owner that the server inferred for a purchase which continues an expired one.
/// There are no signed bytes of it, so it is stored in our own format.
struct InferredOwnerRecord: Equatable {
    /// The only fact it contains.
    let fact: Fact
    /// The encoded fact, without the id of the evidence, since these bytes are the evidence.
    let bytes: [UInt8]

    /// Creates a record of an inference made at an instant of our clock, and asserted at another.
    init(_ inferred: InferredOwner, of lineage: Lineage, at now: Instant, assertedAt: Instant) {
        self.init(
            Fact(
                lineage: lineage,
                assertion: .inferredOwner(inferred),
                effectiveAt: inferred.from,
                assertedAt: assertedAt,
                learnedAt: now,
                rank: .inferred,
                source: .server,
                evidence: EvidenceID(hex: "")
            )
        )
    }

    /// Decodes a record; nil for other bytes.
    init?(_ bytes: [UInt8]) {
        guard let document = try? JSONDocument(bytes, limits: .local),
            let fact = try? Fact(json: document.root),
            case .inferredOwner = fact.assertion
        else { return nil }
        self.init(fact)
    }

    private init(_ inferred: Fact) {
        var fact = inferred
        fact.evidence = EvidenceID(hex: "")
        var writer = JSONWriter()
        fact.write(to: &writer)
        bytes = writer.bytes
        fact.evidence = EvidenceID(of: bytes)
        self.fact = fact
    }

    /// The evidence, identified by its own digest.
    var evidence: Evidence {
        Evidence(
            id: fact.evidence,
            dedupeKey: "inferred-owner:\(fact.evidence.hex)",
            source: .server,
            signedAt: nil,
            receivedAt: fact.learnedAt,
            bytes: bytes
        )
    }
}
