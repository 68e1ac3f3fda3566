import TideoverAppStore
import TideoverCore
import TideoverJSON
import TideoverStorage

/// The record of a query to a store. There are no signed bytes of it, so it is stored in our own
/// format.
struct InquiryRecord: Equatable {
    /// The only fact it contains.
    let fact: Fact
    /// The encoded fact, without the id of the evidence, since these bytes are the evidence.
    let bytes: [UInt8]

    init(_ lineage: Lineage, _ exchange: StoreExchange, _ outcome: Inquiry.Outcome) {
        let evidence = EvidenceID(hex: "")
        self.init(
            exchange.fact(about: lineage, outcome: outcome, source: .server, evidence: evidence)
        )
    }

    /// Decodes a record; nil for other bytes.
    init?(_ bytes: [UInt8]) {
        guard let document = try? JSONDocument(bytes, limits: .local),
            let fact = try? Fact(json: document.root),
            case .inquiry = fact.assertion
        else { return nil }
        self.init(fact)
    }

    /// Creates the record of a fact that is an inquiry.
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

    /// The evidence, identified by its own digest, since two queries can have the same instant.
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

extension AppContext {
    /// Records a query about a lineage and its outcome, because an outage limits what may be
    /// assumed.
    func note(
        _ lineage: Lineage,
        _ exchange: StoreExchange,
        _ outcome: Inquiry.Outcome
    ) async throws {
        let record = InquiryRecord(lineage, exchange, outcome)
        let commitRequest = CommitRequest(
            app: app.id,
            environment: lineage.environment,
            evidence: record.evidence,
            facts: [record.fact],
            now: clock()
        )
        _ = try await commit(commitRequest)
    }
}
