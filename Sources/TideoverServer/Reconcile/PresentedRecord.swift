import TideoverCore
import TideoverJSON
import TideoverStorage

/// What is stored of a purchase on Google Play that a device presented while no service account is
/// configured: its token, by digest, and the product it is said to be of.
///
/// It gives nothing by itself. A notification of the token, which names no product, does.
struct PresentedRecord: Equatable {
    /// The only fact it states.
    let fact: Fact
    /// The form of the fact, without the name of the evidence, which these bytes are.
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

    /// Reads what `bytes` holds; nil for anything else.
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

    /// A token is presented once: what is said of its product later changes nothing.
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
    /// Whether it is a device's word for the product of a token.
    var isPresentation: Bool {
        if case .playNotice(let notice) = assertion { notice.kind == .presented } else { false }
    }
}
