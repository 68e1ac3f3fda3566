package import TideoverCore

/// The durable store of all truth.
///
/// A write returns after the storage has confirmed it on disk, and then survives a power cut. A
/// write that throws has stored nothing. If only the confirmation was lost, a retry returns
/// `duplicate`.
///
/// Reads are synchronous, so that a request can be answered on the thread it arrived on. They see
/// every commit that has returned, never a part of one. They wait only briefly for a free reader.
package protocol Storage: WebhookStorage, FiguresStorage {
    /// Commits evidence, facts, ownership, derived rows, drift, events and counts of several
    /// commit requests as one transaction, in order. The outcomes are in the same order.
    ///
    /// Evidence with a known dedupe key makes the outcome of its commit request `duplicate`; the
    /// rest of that commit request is ignored.
    ///
    /// After the last commit request, affected customers are derived again from the stored data.
    /// These are all present and past owners of a lineage with new facts, and the commit requests'
    /// `customers` and `reconciled`. `derive` is a pure function that runs inside the transaction,
    /// on the storage's own thread, once per customer. For a customer with many lineages a storage
    /// may call it before the transaction, on another thread, and repeatedly. A result is stored
    /// only if its input equals the data that the transaction finds.
    ///
    /// Claims to lineages are decided in between, by the facts and owners stored at that point.
    /// Every present or past owner of a claimed lineage is derived again too.
    ///
    /// Lineages that a derivation under the same fingerprint marked as settled are left out, except
    /// the first by key, until new facts about them arrive. If `derive` reports that it needs all,
    /// it is called again with all.
    ///
    /// A customer with aliases is derived once, under the primary id. Transfers, manual grants and
    /// refused claims are recorded in the audit. Events are delivered by their instants, and each
    /// customer's in the order they were derived.
    ///
    /// - Throws: `refused` also if the commit requests differ in app, environment or instant. After
    ///   any error nothing is stored.
    func commit(
        _ commitRequests: [CommitRequest],
        derive: @escaping @Sendable (CustomerLineages) -> Derivation
    ) async throws(StorageError) -> [CommitOutcome]

    /// Returns a customer's latest derived row; nil if the customer was never derived.
    func row(of customer: CustomerKey) throws(StorageError) -> CustomerRow?

    /// Claims customers of an app and environment with answers that fell due by an instant, longest
    /// due first, up to a limit.
    ///
    /// A claimed customer is not given out again until the claim expires, or a commit derives the
    /// customer. Pass the claims to `commit`, which derives only those that are still valid. An
    /// expired claim that was reissued has no effect.
    func claimDue(_ order: DueOrder) async throws(StorageError) -> [DueClaim]

    /// Reports the due answers of an app and environment at `now`, claimed or not, counted up to
    /// `limit`.
    func due(
        app: String,
        environment: Environment,
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
        app: String,
        environment: Environment,
        after: EvidenceID?,
        limit: Int
    ) throws(StorageError) -> [Evidence]

    /// Returns the evidence of an app in an environment with dedupe keys that begin with `prefix`,
    /// which is not empty. The pieces are in the order of those keys, after the key `after`, at
    /// most `limit` of them.
    ///
    /// - Throws: `corrupt` if the bytes of a piece no longer match the digest that is their id.
    func evidence(
        app: String,
        environment: Environment,
        keyed prefix: String,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [Evidence]

    /// Returns the lineages of an app in an environment that have stored facts, owned or not. They
    /// are in the order of their keys, after the key `after`, at most `limit` of them.
    func lineages(
        app: String,
        environment: Environment,
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
        app: String,
        environment: Environment,
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
        app: String,
        environment: Environment,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [LineageRecord]

    /// Returns the ids of customers of an app in an environment that begin with `prefix`, including
    /// aliases. They are in the order of their UTF-8 bytes, after the id `after`, at most `limit`
    /// of them.
    func customers(
        app: String,
        environment: Environment,
        prefix: String,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [ListedCustomer]

    /// Returns the ids for which an app states an email address in `$email`, also of customers
    /// without an answer, in the order and with the bounds of the list by prefix.
    func customers(
        app: String,
        environment: Environment,
        email: EmailAddress,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [ListedCustomer]

    /// Returns the number of purchases that never had an owner, counted up to `limit`.
    func unclaimedCount(
        app: String,
        environment: Environment,
        limit: Int
    ) throws(StorageError) -> Int

    /// Returns the records of an app in an environment, page by page. A page has records of the
    /// kind of `place` after that place, or of the next kind that has any. It has at most `limit`
    /// records; fewer of evidence, which can be long.
    ///
    /// - Throws: `corrupt` if the bytes of evidence no longer match the digest that is their id.
    func records(
        app: String,
        environment: Environment,
        from place: RecordPlace,
        limit: Int
    ) throws(StorageError) -> RecordPage

    /// Imports records of another storage in one transaction, and reports the outcome of each. An
    /// existing record is kept.
    ///
    /// Nothing is derived and no event is added: that happened where the records were made. An
    /// imported answer has no fingerprint, and an existing one loses its fingerprint when its
    /// lineages grow. So it passes through `commit` before it is served.
    func restore(
        _ records: [StoredRecord],
        app: String,
        environment: Environment,
        now: Instant
    ) async throws(StorageError) -> [Restored]

    /// Removes one batch of old rows in one transaction. Derives no answers.
    func prune(_ order: PruneOrder) async throws(StorageError) -> Pruned

    /// Erases a customer in one transaction. This removes the answer, aliases, events and
    /// differences. It also removes the facts, owners, names and evidence of purchases that no
    /// other customer ever owned. Derives no answers. The latest event of the app remains, under
    /// the pseudonym, because later ids are derived from it.
    ///
    /// - Returns: the numbers of removed rows; nil, with no change, if a fact refers to evidence
    ///   that the erasure does not list. Read the customer again and retry.
    func erase(_ erasure: Erasure) async throws(StorageError) -> Erased?

    /// Returns a bookmark as JSON text; nil if there is none.
    func bookmark(_ key: BookmarkKey) throws(StorageError) -> [UInt8]?

    /// Stores a bookmark, replacing the previous one; a storage does not parse it.
    func keep(_ form: [UInt8], as key: BookmarkKey) async throws(StorageError)

    /// Returns the attributes stated for this id of a customer, also deleted ones, in the order of
    /// their names.
    func attributes(of customer: CustomerKey) throws(StorageError) -> [CustomerAttribute]

    /// Stores attributes of a customer. One that is not later than the stored one of its name has no
    /// effect.
    ///
    /// - Returns: the names that were not stored, since the customer has as many as allowed.
    func keep(_ order: AttributeOrder) async throws(StorageError) -> [String]

    /// The recorded versions of an app's catalogue and policy in an environment, in the order they
    /// took effect.
    func policyVersions(
        app: String,
        environment: Environment
    ) throws(StorageError) -> [PolicyVersion]

    /// Records a version of catalogue and policy, unless the newest recorded one has the same
    /// fingerprint or another one took effect at the same instant. Returns whether it was recorded.
    func record(
        _ version: PolicyVersion,
        app: String,
        environment: Environment
    ) async throws(StorageError) -> Bool

    /// Returns an app's counters.
    func counts(app: String) throws(StorageError) -> [Tally: Int64]

    /// Adds to an app's counters; frequent callers should batch their increments.
    func add(_ counts: [Tally: Int64], app: String) async throws(StorageError)

    /// Returns all keys, including revoked ones, in the order of their ids.
    func keys() throws(StorageError) -> [KeyRecord]

    /// Adds a key; throws `refused` if its id or digest exists.
    func add(_ key: KeyRecord) async throws(StorageError)

    /// Revokes a key permanently and returns its new record. An earlier revocation keeps its
    /// instant. Returns nil for an unknown id.
    func revokeKey(_ id: String, at now: Instant) async throws(StorageError) -> KeyRecord?

    /// Returns what to compare for changes by other servers; nil if no other process can change
    /// this storage.
    func sharedChanges() throws(StorageError) -> SharedChanges?

    /// Finishes pending operations and releases files and locks. Later calls throw `closed`;
    /// closing again has no effect.
    func close() async
}

extension Storage {
    /// Commits one commit request as a separate transaction.
    package func commit(
        _ commitRequest: CommitRequest,
        derive: @escaping @Sendable (CustomerLineages) -> Derivation
    ) async throws(StorageError) -> CommitOutcome {
        guard let outcome = try await commit([commitRequest], derive: derive).first else {
            preconditionFailure("each intake has an outcome")
        }
        return outcome
    }
}
