import TideoverCore
import TideoverGooglePlay
import TideoverStorage

extension PlayLookup {
    /// Returns whether a response only repeats the token's previous one. Then it adds no fact: only
    /// the time is stored, and after a failed query also that the store answered.
    func isConfirmation(
        _ facts: [Fact],
        of lineage: Lineage,
        _ exchange: StoreExchange
    ) async throws -> Bool {
        guard facts.count == 1, let fact = facts.first, fact.lineage == lineage else {
            return false
        }
        let known = try context.storage.lineageRecord(lineage, app: context.app.id).facts
        let words = PlayLineageWords(known)
        guard let token = words.repeated(by: fact) else { return false }
        let cursors = context.cursors(in: lineage.environment)
        // After a query that found nothing it is new information that the store has the purchase.
        if let settledAt = try cursors.instant(PlayPoller.settled(token, lineage)),
            let answeredAt = words.answeredAt(token), answeredAt < settledAt
        {
            return false
        }
        if words.isUnanswered { try await context.note(lineage, exchange, .answered) }
        try await cursors.keep(exchange.askedAt, PlayPoller.confirmed(token, lineage))
        return true
    }
}

extension PlayLineageWords {
    /// Returns the token of a response that repeats the newest one about it, with no notification
    /// since; nil for any other response.
    fileprivate func repeated(by fact: Fact) -> PlayToken? {
        switch fact.assertion {
        case .playSubscription(var read):
            guard let known = subscriptions[read.token] else { return nil }
            guard (heard[read.token] ?? .distantPast) < known.askedAt else { return nil }
            read.askedAt = known.askedAt
            return read == known ? read.token : nil
        case .playPurchase(var read):
            guard let known = purchases[read.token] else { return nil }
            guard (heard[read.token] ?? .distantPast) < known.askedAt else { return nil }
            // After a voided order it is new information that the purchase is still valid.
            let doubted = voided[read.token].map { $0 + PollSchedule.staleness }
            guard doubted ?? .distantPast <= known.askedAt else { return nil }
            read.askedAt = known.askedAt
            return read == known ? read.token : nil
        default: return nil
        }
    }
}
