import TideoverCore
import TideoverGooglePlay
import TideoverStorage

// Google Play tells of a subscription for 60 days behind its end. That it does not any more (410) says that
// it is over, where that can be true; that it knows none (404) says nothing of it.
// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2

extension PlayAsking {
    /// What a failure comes to that says of a subscription that it ended long ago; nil for any other, and
    /// for one that cannot be true.
    func ended(
        _ question: PlayNotification.Question,
        _ failure: PlayAPIFailure,
        _ lineage: Lineage?
    ) throws(StorageError) -> PlayRead? {
        guard case .gone = failure.reason, case .subscription(let token) = question, let lineage,
            let api = trust.api
        else { return nil }
        let (app, storage) = (ingest.app.id, ingest.storage)
        let words = PlayLineageWords(try storage.holding(lineage, app: app).facts)
        let confirmedAt = try Bookmarks(
            app: app,
            environment: lineage.environment,
            storage: storage
        ).instant(PlayUpkeep.confirmed(lineage))
        guard
            words.canHaveEnded(
                trust.token(token),
                by: failure.exchange.askedAt,
                confirmedAt: confirmedAt
            )
        else { return nil }
        return PlayRead(endedSubscription: token, in: api.packageName, failure.exchange)
    }
}

extension PlayLineageWords {
    /// Whether the store can mean that a subscription, not yet known to be over, ended more than 60 days
    /// before an instant: not if the store said within those that it goes on beyond them.
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
        return min(end, said) + PlayRhythm.reach <= instant
    }
}
