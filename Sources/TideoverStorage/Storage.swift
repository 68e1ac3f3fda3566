public import TideoverCore

/// What is durable, behind one door for truth.
///
/// Writes wait until the storage has confirmed them on disk: what returned without an error
/// survives a power cut. A write that throws left nothing behind, or, where the confirmation itself
/// was lost, is answered `duplicate` when it is tried again.
///
/// Reads are synchronous, so that a request can be answered on the thread it arrived on. They see
/// every commit that has returned, never a part of one, and wait at most a moment for a free reader.
public protocol Storage: Sendable {
    /// Commits evidence, facts, ownership, derived rows, drift, events and counts of several intakes as
    /// one transaction, in their order. The outcomes are in that order too.
    ///
    /// Evidence known by its dedupe key makes the outcome of its intake `duplicate`, and nothing else
    /// comes of that intake.
    /// After the last intake every customer who owns or ever owned a lineage of which something new was
    /// learned, and every one of their `customers` and `reconciled`, is derived again from what is then
    /// stored: `derive` is a pure function that runs inside the transaction, on the storage's own
    /// thread, once for each. For a customer with many lineages a storage may call it before the
    /// transaction, on another thread, and more than once; only a result that was derived from exactly
    /// what the transaction finds is stored.
    /// Claims to lineages are ruled on in between, by facts and owners as they then are, and everyone
    /// who owns or ever owned a lineage claimed is derived again too.
    /// Lineages that a derivation under the same fingerprint called settled are left out, all but the
    /// first by key, until something new is learned of them; where `derive` says that it needs all, it
    /// is called again with all.
    /// Who has aliases is derived once, under the id that they stand for. Whatever changes hands, is
    /// given by hand or refused leaves a line in the audit.
    /// Events are told by their instants, and each customer's in the order they were derived.
    ///
    /// - Throws: `refused` also where they are not all of one app, environment and instant; then, as
    ///   after every other error, nothing of any of them is stored.
    func commit(
        _ intakes: [Intake],
        derive: @escaping @Sendable (CustomerLineages) -> Derivation
    ) async throws(StorageError) -> [CommitOutcome]

    /// A customer's row as last derived; nil for one who was never derived.
    func row(of customer: CustomerKey) throws(StorageError) -> CustomerRow?

    /// Claims customers of an app and environment whose answers fell due by an instant, those due
    /// longest first, at most as many as asked for.
    ///
    /// Nobody else is given them until the claim runs out, or a commit has derived them again. Whoever
    /// claims hands the claims to `commit`, which derives only those that still hold: of a claim that
    /// ran out and was given to somebody else nothing comes.
    func claimDue(_ order: DueOrder) async throws(StorageError) -> [DueClaim]

    /// What is due in an app and environment by `now`, claimed or not; counted up to `limit`.
    func due(
        app: String,
        environment: Environment,
        now: Instant,
        limit: Int
    ) throws(StorageError) -> DueReading

    /// Everything that `derive` would be given for a customer at `now`; nil for one of whom nothing
    /// is known.
    func lineages(
        of customer: CustomerKey,
        now: Instant
    ) throws(StorageError) -> CustomerLineages?

    /// A piece of evidence with the bytes exactly as they were received.
    ///
    /// - Throws: `corrupt` when the bytes no longer have the digest that is their id.
    func evidence(_ id: EvidenceID, app: String) throws(StorageError) -> Evidence?

    /// An app's events behind `after`, oldest first, at most `limit` of them.
    /// Ids rise in the order of commits, so that no event appears behind one already read.
    func outbox(
        app: String,
        after: EventID?,
        limit: Int
    ) throws(StorageError) -> [OutboxEvent]

    /// Every piece of evidence of an app in an environment in the order of their ids, those behind
    /// `after`, at most `limit` of them.
    ///
    /// - Throws: `corrupt` when the bytes of one no longer have the digest that is their id.
    func evidence(
        app: String,
        environment: Environment,
        after: EvidenceID?,
        limit: Int
    ) throws(StorageError) -> [Evidence]

    /// The evidence of an app in an environment whose dedupe keys begin with `prefix`, which is not empty, in
    /// the order of those keys, those behind the key `after`, at most `limit` of them.
    ///
    /// - Throws: `corrupt` when the bytes of one no longer have the digest that is their id.
    func evidence(
        app: String,
        environment: Environment,
        keyed prefix: String,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [Evidence]

    /// Every lineage of an app in an environment of which a fact is stored, owned or not, in the order
    /// of their keys, those behind the key `after`, at most `limit` of them.
    func lineages(
        app: String,
        environment: Environment,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [Holding]

    /// All that is stored of one lineage; without facts and owners where nothing is.
    func holding(_ lineage: Lineage, app: String) throws(StorageError) -> Holding

    /// The lineages of an app, in any environment, that a fact gave a name, at most `limit` of them.
    func holdings(
        named name: PurchaseName,
        app: String,
        limit: Int
    ) throws(StorageError) -> [Holding]

    /// A customer's differences from what devices saw, newest first, at most `limit` of them.
    func drift(of customer: CustomerKey, limit: Int) throws(StorageError) -> [Drift]

    /// All such differences of an app in an environment in the order of customers and ids, those
    /// behind `after`, at most `limit` of them.
    func drift(
        app: String,
        environment: Environment,
        after: Drift?,
        limit: Int
    ) throws(StorageError) -> [Drift]

    /// The ids that a customer goes by, as declared so far.
    func identity(of customer: CustomerKey) throws(StorageError) -> CustomerIdentity

    /// Lines of an app's audit behind `after`, oldest first, at most `limit` of them; of one customer
    /// alone, by whatever id, where one is named.
    func audit(
        app: String,
        customer: CustomerKey?,
        after: EventID?,
        limit: Int
    ) throws(StorageError) -> [AuditRecord]

    /// The purchases of an app in an environment that nobody ever owned, in the order of their
    /// lineages' keys, those behind the key `after`, at most `limit` of them.
    func unclaimed(
        app: String,
        environment: Environment,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [Holding]

    /// The ids of customers of an app in an environment that begin with `prefix`, aliases among them, in
    /// the order of their UTF-8 bytes, those behind the id `after`, at most `limit` of them.
    func customers(
        app: String,
        environment: Environment,
        prefix: String,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [ListedCustomer]

    /// How many purchases nobody ever owned, counted up to `limit`.
    func unclaimedCount(
        app: String,
        environment: Environment,
        limit: Int
    ) throws(StorageError) -> Int

    /// Everything of an app in an environment, page by page: records of the kind of `place` that stand
    /// behind it, or of the first kind after that one of which there are any. At most `limit` of them,
    /// and of evidence, which can be long, fewer.
    ///
    /// - Throws: `corrupt` when the bytes of evidence no longer have the digest that is their id.
    func records(
        app: String,
        environment: Environment,
        from place: RecordPlace,
        limit: Int
    ) throws(StorageError) -> RecordPage

    /// Puts records of another storage in their places, in one transaction, and says of each what became
    /// of it; what stands in a place already stays.
    ///
    /// Nothing is derived and no event is added: that happened where the records were made. An answer
    /// brought in bears nobody's fingerprint, and loses it where its lineages grow, so that it goes through
    /// `commit` before it is answered.
    func restore(
        _ records: [StoredRecord],
        app: String,
        environment: Environment,
        now: Instant
    ) async throws(StorageError) -> [Restored]

    /// Removes one batch of old rows in one transaction. Derives no answers.
    func prune(_ order: PruneOrder) async throws(StorageError) -> Pruned

    /// Erases a customer in one transaction: the answer, aliases, events and differences, and the
    /// facts, owners, names and evidence of purchases that no other customer ever owned. Derives no
    /// answers. The latest event of the app remains, under the pseudonym, because later ids are
    /// derived from it.
    ///
    /// - Returns: the numbers of removed rows; nil, with no change, if a fact refers to evidence that
    ///   the erasure does not list. Read the customer again and retry.
    func erase(_ erasure: Erasure) async throws(StorageError) -> Erased?

    /// What a bookmark says, as JSON text; nil where none was kept.
    func bookmark(_ key: BookmarkKey) throws(StorageError) -> [UInt8]?

    /// Keeps a bookmark in the place of the one before; a storage does not look inside.
    func keep(_ form: [UInt8], as key: BookmarkKey) async throws(StorageError)

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

    /// How often each thing was counted for an app.
    func counts(app: String) throws(StorageError) -> [Tally: Int64]

    /// Adds to an app's counts; whoever counts often gathers before.
    func add(_ counts: [Tally: Int64], app: String) async throws(StorageError)

    /// Every key there ever was, revoked ones too, in the order of their ids.
    func keys() throws(StorageError) -> [KeyRecord]

    /// Adds a key; `refused` where its id or its digest is taken.
    func add(_ key: KeyRecord) async throws(StorageError)

    /// Revokes a key for ever and returns it as it now is; one revoked before keeps its instant. Nil
    /// for an id that no key has.
    func revokeKey(_ id: String, at now: Instant) async throws(StorageError) -> KeyRecord?

    /// Finishes what was asked before, and lets go of files and locks. What is asked afterwards is
    /// refused as `closed`; closing again does nothing.
    func close() async
}

extension Storage {
    /// Commits one intake as a transaction of its own.
    public func commit(
        _ intake: Intake,
        derive: @escaping @Sendable (CustomerLineages) -> Derivation
    ) async throws(StorageError) -> CommitOutcome {
        guard let outcome = try await commit([intake], derive: derive).first else {
            preconditionFailure("each intake has an outcome")
        }
        return outcome
    }
}
