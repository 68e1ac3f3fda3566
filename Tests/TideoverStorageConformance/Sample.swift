import TideoverCore
import TideoverJSON
import TideoverStorage

/// Small, uniform test data, so that a law contains only the values that matter to it.
enum Sample {
    static let app = "cards"
    static let start = Instant(millisecondsSince1970: 1_777_000_000_000)

    static func day(_ number: Int64) -> Instant { start + .days(number) }

    static func customer(_ text: String) -> CustomerID {
        guard let customer = CustomerID(text) else { preconditionFailure("\(text) is no id") }
        return customer
    }

    static func key(
        _ customer: String,
        app: String = app,
        _ environment: Environment = .production
    ) -> CustomerKey {
        CustomerKey(app: app, environment: environment, customer: Sample.customer(customer))
    }

    static func lineage(
        _ id: String = "2000000000000001",
        _ environment: Environment = .production,
        _ ownership: Ownership = .purchased
    ) -> Lineage {
        Lineage(store: .appStore, environment: environment, id: id, ownership: ownership)
    }

    /// Returns the term number `n` of a lineage: thirty days each, asserted at its start.
    static func term(
        _ n: Int64,
        of lineage: Lineage = lineage(),
        token: String? = "u_1",
        learnedAt: Instant? = nil,
        evidence: EvidenceID = EvidenceID(hex: "00")
    ) -> Fact {
        let start = day(30 * n)
        let term = Term(
            transactionId: "\(lineage.id)-\(n)",
            productId: "cards.pro.monthly",
            start: start,
            end: start + .days(30),
            accountToken: token.flatMap { CustomerID($0) }
        )
        return Fact(
            lineage: lineage,
            assertion: .term(term),
            effectiveAt: start,
            assertedAt: start,
            envelopeSignedAt: start + .seconds(1),
            learnedAt: learnedAt ?? start + .seconds(2),
            source: .appStoreNotification,
            evidence: evidence
        )
    }

    static func evidence(_ dedupeKey: String, bytes: [UInt8]? = nil) -> Evidence {
        let bytes = bytes ?? Array("{\"notificationUUID\":\"\(dedupeKey)\"}".utf8)
        return Evidence(
            id: EvidenceID(of: bytes),
            dedupeKey: dedupeKey,
            source: .appStoreNotification,
            signedAt: day(0),
            receivedAt: day(0) + .seconds(2),
            bytes: bytes
        )
    }

    static func commitRequest(
        _ dedupeKey: String? = nil,
        app: String = app,
        _ environment: Environment = .production,
        facts: [Fact] = [],
        customers: [CustomerKey] = [],
        tallies: [Tally: Int64] = [:],
        now: Instant = day(1)
    ) -> CommitRequest {
        CommitRequest(
            app: app,
            environment: environment,
            evidence: dedupeKey.map { evidence($0) },
            facts: facts,
            customers: customers,
            tallies: tallies,
            now: now
        )
    }

    /// Derives an answer that lists exactly its facts and owners, and an event if the answer is
    /// new.
    static func derive(_ lineages: CustomerLineages) -> Derivation {
        let answer = answer(for: lineages.lineageRecords)
        let isNew = lineages.answer?.answer != answer
        return Derivation(
            answer: answer,
            validUntil: lineages.lineageRecords.flatMap(\.facts).compactMap(\.termEnd).max(),
            fingerprint: "p1",
            events: isNew ? [Event(kind: "changed", at: lineages.now, body: answer)] : []
        )
    }

    static func answer(for lineageRecords: [LineageRecord]) -> [UInt8] {
        var writer = JSONWriter()
        writer.array { writer in
            for lineageRecord in lineageRecords {
                writer.object { writer in
                    writer.field("lineage", lineageRecord.lineage.key)
                    writer.field("environment", lineageRecord.lineage.environment.rawValue)
                    writer.field(
                        "facts",
                        array: { $0.values(lineageRecord.facts.compactMap(\.termID)) }
                    )
                    writer.field(
                        "owners",
                        array: { $0.values(lineageRecord.owners.map(\.customer.text)) }
                    )
                }
            }
        }
        return writer.bytes
    }

    /// Returns a derivation that a storage rejects after everything else was written.
    static func refused(_ lineages: CustomerLineages) -> Derivation {
        let good = derive(lineages)
        return Derivation(
            answer: good.answer,
            validUntil: good.validUntil,
            fingerprint: good.fingerprint,
            events: good.events + [Event(kind: "", at: lineages.now, body: [])]
        )
    }
}

extension Fact {
    var termID: String? {
        if case .term(let term) = assertion { term.transactionId } else { nil }
    }

    fileprivate var termEnd: Instant? {
        if case .term(let term) = assertion { term.end } else { nil }
    }
}

extension JSONWriter {
    fileprivate mutating func values(_ texts: [String]) {
        for text in texts { value(text) }
    }
}

extension CommitOutcome {
    /// The rows derived; none for a duplicate.
    var rows: [CustomerRow] {
        if case .committed(_, let rows, _) = self { rows } else { [] }
    }
}

extension CustomerRow {
    var text: String { String(decoding: answer, as: UTF8.self) }
}
