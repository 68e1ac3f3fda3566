package import TideoverCore

/// Reads from one snapshot of a storage: every answer sees the same commits.
package protocol StorageReader {
    /// Returns a customer's latest derived row; nil if the customer was never derived.
    func row(of customer: CustomerKey) throws(StorageError) -> CustomerRow?

    /// Reports the due answers of an app and environment at `now`, claimed or not, counted up to
    /// `limit`.
    func due(
        in scope: AppScope,
        now: Instant,
        limit: Int
    ) throws(StorageError) -> DueReading

    /// Returns the complete input of `derive` for a customer at `now`; nil for an unknown customer.
    func lineages(
        of customer: CustomerKey,
        now: Instant
    ) throws(StorageError) -> CustomerLineages?

    /// Returns a piece of evidence with the bytes exactly as received.
    ///
    /// - Throws: `corrupt` if the bytes no longer match the digest that is their id.
    func evidence(_ id: EvidenceID, app: String) throws(StorageError) -> Evidence?

    /// Returns an app's events after `after`, oldest first, at most `limit` of them. Ids rise in
    /// the order of commits, so no event appears before one already read.
    func outbox(
        app: String,
        after: EventID?,
        limit: Int
    ) throws(StorageError) -> [OutboxEvent]

    /// Returns an app's latest events, oldest first, at most `limit` of them.
    func latestEvents(app: String, limit: Int) throws(StorageError) -> [OutboxEvent]

    /// Returns the evidence of an app in an environment in the order of ids, after `after`, at most
    /// `limit` pieces.
    ///
    /// - Throws: `corrupt` if the bytes of a piece no longer match the digest that is their id.
    func evidence(
        in scope: AppScope,
        after: EvidenceID?,
        limit: Int
    ) throws(StorageError) -> [Evidence]

    /// Returns the evidence of an app in an environment with dedupe keys that begin with `prefix`,
    /// which is not empty. The pieces are in the order of those keys, after the key `after`, at
    /// most `limit` of them.
    ///
    /// - Throws: `corrupt` if the bytes of a piece no longer match the digest that is their id.
    func evidence(
        in scope: AppScope,
        keyed prefix: String,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [Evidence]

    /// Returns the lineages of an app in an environment that have stored facts, owned or not. They
    /// are in the order of their keys, after the key `after`, at most `limit` of them.
    func lineages(
        in scope: AppScope,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [LineageRecord]

    /// Returns the stored data of one lineage; without facts and owners if there is none.
    func lineageRecord(_ lineage: Lineage, app: String) throws(StorageError) -> LineageRecord

    /// Returns the lineages of an app, in any environment, with a fact that has this name, at most
    /// `limit` of them.
    func lineageRecords(
        named name: PurchaseName,
        app: String,
        limit: Int
    ) throws(StorageError) -> [LineageRecord]

    /// Returns a customer's differences from the state devices saw, newest first, at most `limit`
    /// of them.
    func drift(of customer: CustomerKey, limit: Int) throws(StorageError) -> [Drift]

    /// Returns all such differences of an app in an environment in the order of customers and ids,
    /// after `after`, at most `limit` of them.
    func drift(
        in scope: AppScope,
        after: Drift?,
        limit: Int
    ) throws(StorageError) -> [Drift]

    /// Returns the ids of a customer, as declared so far.
    func identity(of customer: CustomerKey) throws(StorageError) -> CustomerIdentity

    /// Returns an app's audit entries after `after`, oldest first, at most `limit` of them. With a
    /// customer, returns only the entries that concern it, by any of its ids.
    func audit(
        app: String,
        customer: CustomerKey?,
        after: EventID?,
        limit: Int
    ) throws(StorageError) -> [AuditRecord]

    /// Returns the purchases of an app in an environment that never had an owner. They are in the
    /// order of their lineages' keys, after the key `after`, at most `limit` of them.
    func unclaimed(
        in scope: AppScope,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [LineageRecord]

    /// Returns the ids of customers of an app in an environment that begin with `prefix`, including
    /// aliases. They are in the order of their UTF-8 bytes, after the id `after`, at most `limit`
    /// of them.
    func customers(
        in scope: AppScope,
        prefix: String,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [ListedCustomer]

    /// Returns the ids for which an app states an email address in `$email`, also of customers
    /// without an answer, in the order and with the bounds of the list by prefix.
    func customers(
        in scope: AppScope,
        email: EmailAddress,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [ListedCustomer]

    /// Returns the number of purchases that never had an owner, counted up to `limit`.
    func unclaimedCount(
        in scope: AppScope,
        limit: Int
    ) throws(StorageError) -> Int

    /// Returns the records of an app in an environment, page by page. A page has records of the
    /// kind of `place` after that place, in the order of their keys (`RecordKey`), or of the next
    /// kind that has any. It has at most `limit` records; fewer of evidence, which can be long.
    ///
    /// - Throws: `corrupt` if the bytes of evidence no longer match the digest that is their id.
    func records(
        in scope: AppScope,
        from place: RecordPlace,
        limit: Int
    ) throws(StorageError) -> RecordPage

    /// Returns a bookmark as JSON text; nil if there is none.
    func bookmark(_ key: BookmarkKey) throws(StorageError) -> [UInt8]?

    /// Returns the bookmarks of an app in an environment with names that are longer than `prefix`
    /// and begin with it, by name. `prefix` ends in plain ASCII.
    func bookmarks(
        in scope: AppScope,
        prefix: String
    ) throws(StorageError) -> [String: [UInt8]]

    /// Returns the attributes stated for this id of a customer, also deleted ones, in the order of
    /// their names.
    func attributes(of customer: CustomerKey) throws(StorageError) -> [CustomerAttribute]

    /// The recorded versions of an app's catalogue and policy in an environment, in the order they
    /// took effect.
    func policyVersions(
        in scope: AppScope
    ) throws(StorageError) -> [PolicyVersion]

    /// Returns an app's counters.
    func counts(app: String) throws(StorageError) -> [Tally: Int64]

    /// Returns all keys, including revoked ones, in the order of their ids.
    func keys() throws(StorageError) -> [KeyRecord]

    /// Returns what to compare for changes by other servers; nil if no other process can change
    /// this storage.
    func sharedChanges() throws(StorageError) -> SharedChanges?

    // MARK: Figures

    // Every write that changes facts, owners or aliases also marks the purchases and customers
    // concerned as stale, in the same transaction. Removing a purchase or a customer removes its
    // figures.

    /// Returns figures of one kind in the order of their subjects' names, after the name `after`,
    /// at most `limit` of them.
    func figures(
        in scope: AppScope,
        kind: FiguresSubject.Kind,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [FiguresRow]

    /// Returns at most `limit` stale subjects.
    func staleFigures(
        in scope: AppScope,
        limit: Int
    ) throws(StorageError) -> StaleFiguresPage

    // MARK: Webhooks

    // A webhook has a position in the outbox. An event after it is new to the webhook. An event at
    // or before it was delivered, or did not match, or waits as a `WebhookDelivery` for its next
    // attempt.

    /// Returns the webhooks of an app in the order of their ids.
    func webhooks(app: String) throws(StorageError) -> [WebhookRecord]

    /// Returns one webhook; nil if it is unknown.
    func webhook(_ key: WebhookKey) throws(StorageError) -> WebhookRecord?

    /// Returns the waiting deliveries of a webhook that are due at `now`, the earliest first, at
    /// most `limit` of them.
    func webhookQueue(
        of key: WebhookKey,
        now: Instant,
        limit: Int
    ) throws(StorageError) -> WebhookQueue

    /// Returns attempts of a webhook, the newest first, at most `limit` of them. With `before`,
    /// only those with a smaller number.
    func webhookAttempts(
        of key: WebhookKey,
        before: Int64?,
        limit: Int
    ) throws(StorageError) -> [WebhookAttempt]
}
