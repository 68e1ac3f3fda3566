import TideoverCore
import TideoverJSON
import TideoverStorage

/// The record of a Google Play purchase that a device presented while no service account is
/// configured. It contains the token's digest and the stated product.
///
/// The record alone grants nothing. A notification of the token, which names no product, does.
struct PresentedRecord: Equatable {
    /// The only fact it contains.
    let fact: Fact
    /// The encoded fact, without the id of the evidence, since these bytes are the evidence.
    let bytes: [UInt8]

    init(_ token: PlayToken, as productId: String, in lineage: Lineage, at now: Instant) {
        self.init(
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
        guard let document = try? JSONDocument(bytes, limits: .local),
            let fact = try? Fact(json: document.root),
            fact.isPresentation
        else { return nil }
        self.init(fact)
    }

    private init(_ presented: Fact) {
        var fact = presented
        fact.evidence = EvidenceID(hex: "")
        var writer = JSONWriter()
        fact.write(to: &writer)
        bytes = writer.bytes
        fact.evidence = EvidenceID(of: bytes)
        self.fact = fact
    }

    /// Returns the evidence. A token is recorded once; a different product stated later is ignored.
    func evidence(of token: PlayToken) -> Evidence {
        Evidence(
            id: fact.evidence,
            dedupeKey: "play-presented:\(token.id)",
            source: .server,
            signedAt: nil,
            receivedAt: fact.learnedAt,
            bytes: bytes
        )
    }
}

extension Fact {
    /// Whether it is a device's statement of a token's product.
    var isPresentation: Bool {
        if case .playNotice(let notice) = assertion { notice.kind == .presented } else { false }
    }
}
