/// The durable store of all truth.
///
/// A write returns after the storage has confirmed it on disk, and then survives a power cut. A
/// write that throws has stored nothing. If only the confirmation was lost, a retry returns
/// `duplicate`.
///
/// Reads are synchronous, so that a request can be answered on the thread it arrived on. They see
/// every commit that has returned, never a part of one. They wait only briefly for a free reader.
/// A storage answers each question by itself from a snapshot of its own; `read` answers several from
/// one.
package protocol Storage: StorageReader, Sendable {
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

    /// Answers questions from one snapshot. `questions` must not keep the reader. A storage may call
    /// it again if the connection to the database was lost.
    func read<Answer>(
        _ questions: (any StorageReader) throws(StorageError) -> Answer
    ) throws(StorageError) -> Answer

    /// Makes changes to an app's data in one transaction, on the storage's own thread. API keys
    /// belong to no app. `changes` must not keep the writer. A storage may call it again after it
    /// rolled back.
    func write<Answer: Sendable>(
        app: String?,
        _ changes: @escaping @Sendable (any StorageWriter) throws(StorageError) -> Answer
    ) async throws(StorageError) -> Answer

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
            preconditionFailure("each commit request has an outcome")
        }
        return outcome
    }
}
