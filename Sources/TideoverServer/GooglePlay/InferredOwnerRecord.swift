import TideoverCore
import TideoverStorage

/// The record of an owner that the server inferred for a purchase which continues an expired one.
struct InferredOwnerRecord: Equatable {
    private let record: OwnFactRecord

    /// The only fact it contains.
    var fact: Fact { record.fact }

    /// Creates a record of an inference made at an instant of our clock, and asserted at another.
    init(_ inferred: InferredOwner, of lineage: Lineage, at now: Instant, assertedAt: Instant) {
        record = OwnFactRecord(
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
        guard let record = OwnFactRecord(bytes), case .inferredOwner = record.fact.assertion else {
            return nil
        }
        self.record = record
    }

    /// The evidence, identified by its own digest.
    var evidence: Evidence {
        record.evidence(dedupeKey: "inferred-owner:\(fact.evidence.hex)")
    }
}
