import TideoverCore
import TideoverGooglePlay
import TideoverStorage

// Google Play returns a subscription until 60 days after its end. A 410 response means that it
// ended, if that is possible; a 404 response means nothing.
// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2

extension PlayLookup {
    /// Returns a read for a failure that reports a subscription ended long ago; nil for other
    /// failures, and for an end that is impossible.
    func ended(
        _ question: PlayNotification.Question,
        _ failure: PlayAPIFailure,
        _ lineage: Lineage?
    ) throws(StorageError) -> PlayRead? {
        guard case .gone = failure.reason, case .subscription(let token) = question, let lineage,
            let api = trust.api
        else { return nil }
        let record = try context.storage.lineageRecord(lineage, app: context.app.id)
        let words = PlayLineageWords(record.facts)
        let name = trust.token(token)
        let confirmedAt = try context.cursors(in: lineage.environment)
            .instant(PlayPoller.confirmed(name, lineage))
        guard
            words.canHaveEnded(
                name,
                by: failure.exchange.askedAt,
                confirmedAt: confirmedAt
            )
        else { return nil }
        return PlayRead(endedSubscription: token, in: api.packageName, failure.exchange)
    }
}

extension PlayLineageWords {
    /// Returns whether a subscription, not yet known to be over, can have ended more than 60 days
    /// before an instant. That is impossible if the store stated within those days that it
    /// continues.
    func canHaveEnded(
        _ token: PlayToken,
        by instant: Instant,
        confirmedAt: Instant?
    ) -> Bool {
        guard let read = subscriptions[token], read.isPaid, read.state != .expired else {
            return false
        }
        let end = read.items.compactMap(\.expiresAt).max() ?? .distantFuture
        let said = max(read.askedAt, confirmedAt ?? .distantPast)
        return min(end, said) + PollSchedule.reach <= instant
    }
}
