import TideoverCore
import TideoverStorage

/// Small work for a storage: each commit is a term of a customer's purchase.
enum Work {
    static let app = "cards"
    static let start = Instant(millisecondsSince1970: 1_777_000_000_000)

    static func key(_ customer: Int) -> CustomerKey {
        CustomerKey(app: app, environment: .production, customer: id(customer))
    }

    private static func id(_ customer: Int) -> CustomerID {
        guard let id = CustomerID("u_\(customer)") else { preconditionFailure("it is an id") }
        return id
    }

    /// Returns the commit of a customer's term of that number.
    static func commit(_ number: Int, of customer: Int = 0) -> CommitRequest {
        let bytes = Array("{\"notificationUUID\":\"n\(number)\"}".utf8)
        let evidence = Evidence(
            id: EvidenceID(of: bytes),
            dedupeKey: "n\(number)",
            source: .appStoreNotification,
            signedAt: start,
            receivedAt: start,
            bytes: bytes
        )
        return CommitRequest(
            app: app,
            environment: .production,
            evidence: evidence,
            facts: [fact(number, of: customer, evidence.id)],
            now: start + .days(400)
        )
    }

    private static func fact(_ number: Int, of customer: Int, _ evidence: EvidenceID) -> Fact {
        let lineage = Lineage(
            store: .appStore,
            environment: .production,
            id: "\(2_000_000_000 + customer)",
            ownership: .purchased
        )
        let begin = start + .days(Int64(number))
        let term = Term(
            transactionId: "\(lineage.id)-\(number)",
            productId: "cards.pro.daily",
            start: begin,
            end: begin + .days(1),
            accountToken: id(customer)
        )
        return Fact(
            lineage: lineage,
            assertion: .term(term),
            effectiveAt: begin,
            assertedAt: begin,
            envelopeSignedAt: begin,
            learnedAt: begin,
            source: .appStoreNotification,
            evidence: evidence
        )
    }

    /// Derives the number of facts, and an event for each change.
    static func derive(_ lineages: CustomerLineages) -> Derivation {
        let count = lineages.lineageRecords.reduce(0) { $0 + $1.facts.count }
        let answer = Array("\(count)".utf8)
        let isNew = lineages.answer?.answer != answer
        return Derivation(
            answer: answer,
            validUntil: nil,
            fingerprint: "p",
            events: isNew ? [Event(kind: "changed", at: lineages.now, body: answer)] : []
        )
    }

    static func order(
        now: Milliseconds = .zero,
        until: Milliseconds = .seconds(60),
        limit: Int = 10
    ) -> DueOrder {
        DueOrder(
            app: app,
            environment: .production,
            now: start + now,
            until: start + now + until,
            limit: limit
        )
    }

    /// Derives claimed customers, and returns those whose claims are still valid.
    static func take(
        _ claims: [DueClaim],
        in storage: any Storage
    ) async throws -> [CustomerRow] {
        let commit = CommitRequest(
            app: app,
            environment: .production,
            claims: claims,
            now: start + .seconds(3)
        )
        return try await storage.commit(commit, derive: derive).rows
    }

    /// Reads events by their ids, as a receiver does, until it has read that many.
    static func follow(_ storage: any Storage, upTo count: Int) async throws -> [EventID] {
        var ids: [EventID] = []
        while ids.count < count, !Task.isCancelled {
            ids += try storage.outbox(app: app, after: ids.last, limit: 10).map(\.id)
            await Task.yield()
        }
        return ids
    }
}

extension CommitOutcome {
    /// The rows derived; none for a duplicate.
    var rows: [CustomerRow] {
        if case .committed(_, let rows, _) = self { rows } else { [] }
    }
}
