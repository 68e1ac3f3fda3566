package import TideoverCore

/// Changes stored data. All changes of one `Storage.write` are one transaction; a commit is another
/// one, see `Storage.commit`.
package protocol StorageWriter {
    /// Claims customers of an app and environment with answers that fell due by an instant, longest
    /// due first, up to a limit.
    ///
    /// A claimed customer is not given out again until the claim expires, or a commit derives the
    /// customer. Pass the claims to `commit`, which derives only those that are still valid. An
    /// expired claim that was reissued has no effect.
    func claimDue(_ order: DueOrder) throws(StorageError) -> [DueClaim]

    /// Imports records of another storage, and reports the outcome of each. An existing record is
    /// kept, but a difference can end, a prompt gets its response, and the version of an answer rises
    /// to the imported one.
    ///
    /// Nothing is derived and no event is added: that happened where the records were made. An
    /// imported answer has no fingerprint, and an existing one loses its fingerprint when its
    /// lineages or prompts grow. So it passes through `commit` before it is served.
    func restore(
        _ rows: [RestoredRow],
        in scope: AppScope,
        now: Instant
    ) throws(StorageError) -> [Restored]

    /// Removes records, found by their keys, and rebuilds what is derived from them. One that is not
    /// stored is ignored. The removal of an owner is also that of the later owners of its lineage.
    ///
    /// Derives no answers and adds no events. If facts, owners, aliases or prompts of an answer are
    /// removed, the answer loses its fingerprint, so it passes through `commit` before it is served.
    /// Only for a storage that no server uses: servers do not look for removed policies.
    func remove(
        _ records: [StoredRecord],
        in scope: AppScope,
        now: Instant
    ) throws(StorageError)

    /// Removes one batch of old rows. Derives no answers.
    func prune(_ order: PruneOrder) throws(StorageError) -> Pruned

    /// Erases a customer. This removes the answer, aliases, events and differences. It also removes
    /// the facts, owners, names and evidence of purchases that no other customer ever owned. Derives
    /// no answers. The latest event of the app remains, under the pseudonym, because later ids are
    /// derived from it.
    ///
    /// - Returns: the numbers of removed rows; nil, with no change, if a fact refers to evidence
    ///   that the erasure does not list. Read the customer again and retry.
    func erase(_ erasure: Erasure) throws(StorageError) -> Erased?

    /// Stores a bookmark, replacing the previous one; a storage does not parse it.
    func keep(_ form: [UInt8], as key: BookmarkKey) throws(StorageError)

    /// Stores a bookmark if the stored one is still `former`, byte by byte; nil means that none is
    /// stored. Returns whether it was stored.
    func replace(
        _ former: [UInt8]?,
        by form: [UInt8],
        as key: BookmarkKey
    ) throws(StorageError) -> Bool

    /// Stores attributes of a customer. One that is not later than the stored one of its name has no
    /// effect.
    ///
    /// - Returns: the names that were not stored, since the customer has as many as allowed.
    func keep(_ order: AttributeOrder) throws(StorageError) -> [String]

    /// Records a version of catalogue and policy, unless the newest recorded one has the same
    /// fingerprint or another one took effect at the same instant. Returns whether it was recorded.
    func record(
        _ version: PolicyVersion,
        in scope: AppScope
    ) throws(StorageError) -> Bool

    /// Returns the fingerprint of the newest recorded version of catalogue and policy; nil if there
    /// is none.
    func newestPolicy(in scope: AppScope) throws(StorageError) -> String?

    /// Adds to an app's counters; frequent callers should batch their increments.
    func add(_ counts: [Tally: Int64], app: String) throws(StorageError)

    /// Adds a key; throws `refused` if its id or digest exists.
    func add(_ key: KeyRecord) throws(StorageError)

    /// Revokes a key permanently and returns its new record. An earlier revocation keeps its
    /// instant. Returns nil for an unknown id.
    func revokeKey(_ id: String, at now: Instant) throws(StorageError) -> KeyRecord?

    /// Stores new figures and removes the marks of `done`. Returns false, with no change, if one of
    /// them has another mark by now, or if other figures were stored meanwhile, perhaps from older
    /// data: read the stale subjects again.
    func keep(_ update: FiguresUpdate) throws(StorageError) -> Bool

    /// Marks the purchases with another stamp as stale, among `limit` after the key `after`.
    /// Returns the last of these keys; nil after the last page.
    func markFigures(
        in scope: AppScope,
        otherThan stamp: Int64,
        after: String?,
        limit: Int
    ) throws(StorageError) -> String?

    /// Adds a webhook. If one has the same key, only its form is replaced.
    func put(_ webhook: WebhookRecord) throws(StorageError)

    /// Removes a webhook with its waiting deliveries and its attempts, and ends its claim.
    func remove(_ webhook: WebhookKey) throws(StorageError)

    /// Claims a webhook for deliveries until an instant. Returns the fence of the claim; nil for an
    /// unknown webhook, or while an earlier claim is valid.
    func claim(
        _ key: WebhookKey,
        now: Instant,
        until: Instant
    ) throws(StorageError) -> Int64?

    /// Stores the results of a claim's deliveries, and ends the claim. Returns false, with no
    /// change, if another claim was issued since.
    func settle(_ settlement: WebhookSettlement) throws(StorageError) -> Bool

    /// Adds deliveries of events that are due at an instant. A waiting one starts over.
    func queue(
        _ events: [EventID],
        to key: WebhookKey,
        at now: Instant
    ) throws(StorageError)

    /// Disables a webhook for a reason, or enables it with nil, which also ends its failing.
    /// Returns whether it exists. A disabled webhook keeps its first reason.
    func setWebhook(
        _ key: WebhookKey,
        disabled reason: String?,
        at now: Instant
    ) throws(StorageError) -> Bool
}
