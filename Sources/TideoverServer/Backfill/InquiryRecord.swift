import TideoverAppStore
import TideoverCore
import TideoverJSON
import TideoverStorage

/// What is kept of a question that we asked a store: there are no signed bytes of it, so that it is put
/// down in words of our own.
struct InquiryRecord: Equatable {
    /// The only fact it states.
    let fact: Fact
    /// The form of the fact, without the name of the evidence, which these bytes are.
    let bytes: [UInt8]

    init(_ lineage: Lineage, _ exchange: StoreExchange, _ outcome: Inquiry.Outcome) {
        let evidence = EvidenceID(hex: "")
        self.init(
            exchange.fact(about: lineage, outcome: outcome, source: .server, evidence: evidence)
        )
    }

    /// Reads what `bytes` holds; nil for anything else.
    init?(_ bytes: [UInt8]) {
        guard let document = try? JSONDocument(bytes, limits: .local),
            let fact = try? Fact(json: document.root),
            case .inquiry = fact.assertion
        else { return nil }
        self.init(fact)
    }

    /// The record of a fact that is an inquiry.
    init(_ asked: Fact) {
        var fact = asked
        fact.source = .server
        fact.evidence = EvidenceID(hex: "")
        var writer = JSONWriter()
        fact.write(to: &writer)
        bytes = writer.bytes
        fact.source = asked.lineage.store == .googlePlay ? .playAPI : .appStoreAPI
        fact.evidence = EvidenceID(of: bytes)
        self.fact = fact
    }

    /// Its own digest tells it apart: a clock that stands gives two questions one instant.
    var evidence: Evidence {
        Evidence(
            id: fact.evidence,
            dedupeKey: "inquiry:\(fact.evidence.hex)",
            source: .server,
            signedAt: nil,
            receivedAt: fact.learnedAt,
            bytes: bytes
        )
    }
}

extension Ingest {
    /// Keeps that we asked a store about a lineage, and how it went: an outage bounds what may be assumed.
    func note(
        _ lineage: Lineage,
        _ exchange: StoreExchange,
        _ outcome: Inquiry.Outcome
    ) async throws {
        let record = InquiryRecord(lineage, exchange, outcome)
        let intake = Intake(
            app: app.id,
            environment: lineage.environment,
            evidence: record.evidence,
            facts: [record.fact],
            now: clock()
        )
        _ = try await storage.commit(intake, derive: Deriver(app: app).derive)
    }
}
