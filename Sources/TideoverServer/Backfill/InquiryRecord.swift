import TideoverCore
import TideoverJSON
import TideoverStorage

/// What is kept of a question that we asked a store: there are no signed bytes of it, so that it is put
/// down in words of our own.
struct InquiryRecord: Equatable {
    let lineage: Lineage
    let askedAt: Instant
    /// The same by the store's clock, where that is known.
    let inquiredAt: Instant
    let answeredAt: Instant
    let outcome: Inquiry.Outcome

    init(
        lineage: Lineage,
        askedAt: Instant,
        inquiredAt: Instant,
        answeredAt: Instant,
        outcome: Inquiry.Outcome
    ) {
        self.lineage = lineage
        self.askedAt = askedAt
        self.inquiredAt = inquiredAt
        self.answeredAt = answeredAt
        self.outcome = outcome
    }

    /// The only fact it states.
    var fact: Fact { fact(.appStoreAPI, EvidenceID(of: bytes)) }

    private func fact(_ source: Source, _ evidence: EvidenceID) -> Fact {
        Fact(
            lineage: lineage,
            assertion: .inquiry(Inquiry(askedAt: askedAt, outcome: outcome)),
            effectiveAt: inquiredAt,
            assertedAt: inquiredAt,
            learnedAt: answeredAt,
            source: source,
            evidence: evidence
        )
    }

    /// Its own digest tells it apart: a clock that stands gives two questions one instant.
    var evidence: Evidence {
        let id = EvidenceID(of: bytes)
        return Evidence(
            id: id,
            dedupeKey: "inquiry:\(id.hex)",
            source: .server,
            signedAt: nil,
            receivedAt: answeredAt,
            bytes: bytes
        )
    }

    /// The form of the fact, without the name of the evidence, which these bytes are.
    var bytes: [UInt8] {
        var writer = JSONWriter()
        fact(.server, EvidenceID(hex: "")).write(to: &writer)
        return writer.bytes
    }

    /// Reads what `bytes` wrote; nil for anything else.
    init?(_ bytes: [UInt8]) {
        guard let document = try? JSONDocument(bytes, limits: .local),
            let fact = try? Fact(json: document.root),
            case .inquiry(let inquiry) = fact.assertion
        else { return nil }
        self.init(
            lineage: fact.lineage,
            askedAt: inquiry.askedAt,
            inquiredAt: fact.assertedAt,
            answeredAt: fact.learnedAt,
            outcome: inquiry.outcome
        )
    }
}
