import TideoverAppStore
import TideoverCore
import TideoverStorage

/// The record of a query to a store.
struct InquiryRecord: Equatable {
    private let record: OwnFactRecord
    /// The only fact it contains. Its source is the store; in the record it is the server.
    let fact: Fact

    init(_ lineage: Lineage, _ exchange: StoreExchange, _ outcome: Inquiry.Outcome) {
        let evidence = EvidenceID(hex: "")
        self.init(
            OwnFactRecord(
                exchange.fact(about: lineage, outcome: outcome, source: .server, evidence: evidence)
            )
        )
    }

    /// Decodes a record; nil for other bytes.
    init?(_ bytes: [UInt8]) {
        guard let record = OwnFactRecord(bytes), case .inquiry = record.fact.assertion else {
            return nil
        }
        self.init(record)
    }

    private init(_ record: OwnFactRecord) {
        self.record = record
        var fact = record.fact
        fact.source = fact.lineage.store == .googlePlay ? .playAPI : .appStoreAPI
        self.fact = fact
    }

    /// The evidence, identified by its own digest, since two queries can have the same instant.
    var evidence: Evidence { record.evidence(dedupeKey: "inquiry:\(fact.evidence.hex)") }
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
