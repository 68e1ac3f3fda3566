import TideoverCore
import TideoverStorage

/// The record of a Google Play purchase that a device presented while no service account is
/// configured. It contains the token's digest and the stated product.
///
/// The record alone grants nothing. A notification of the token, which names no product, does.
struct PresentedRecord: Equatable {
    private let record: OwnFactRecord

    /// The only fact it contains.
    var fact: Fact { record.fact }

    init(_ token: PlayToken, as productId: String, in lineage: Lineage, at now: Instant) {
        record = OwnFactRecord(
            Fact(
                lineage: lineage,
                assertion: .playNotice(
                    PlayNotice(token: token, kind: .presented, productId: productId)
                ),
                effectiveAt: now,
                assertedAt: now,
                learnedAt: now,
                rank: .inferred,
                source: .deviceTransaction,
                evidence: EvidenceID(hex: "")
            )
        )
    }

    /// Decodes a record; nil for other bytes.
    init?(_ bytes: [UInt8]) {
        guard let record = OwnFactRecord(bytes), record.fact.isPresentation else { return nil }
        self.record = record
    }

    /// Returns the evidence. A token is recorded once; a different product stated later is ignored.
    func evidence(of token: PlayToken) -> Evidence {
        record.evidence(dedupeKey: "play-presented:\(token.id)")
    }
}

extension Fact {
    /// Whether it is a device's statement of a token's product.
    var isPresentation: Bool {
        if case .playNotice(let notice) = assertion { notice.kind == .presented } else { false }
    }
}
