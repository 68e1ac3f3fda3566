import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverStorage

extension AppContext {
    /// Rejects a date in the future. The cause may be our clock, so the sender tries again.
    func requireNotAhead(_ reading: AppStoreReading, at now: Instant) throws(Problem) {
        let newest = reading.latestSignedAt
        guard newest > now + .clockTolerance else { return }
        log(
            LogLine(
                .error,
                "signed in the future, check the clock",
                app: app.id,
                environment: reading.environment
            )
        )
        throw .signedInTheFuture(by: newest - now)
    }

    /// Commits facts with their evidence, and counts unknown content if it is new.
    func commit(
        _ reading: AppStoreReading,
        _ evidence: Evidence
    ) async throws(StorageError) -> CommitOutcome {
        let (commitRequest, unknown) = try commitRequest(of: reading, evidence)
        let outcome = try await commit(commitRequest)
        if case .committed = outcome { count(unknown) }
        try await noteConsumption(reading)
        return outcome
    }

    /// Commits several readings of one environment together, so that each customer is derived once.
    func commit(
        _ pieces: [(reading: AppStoreReading, evidence: Evidence)]
    ) async throws(StorageError) -> [CommitOutcome] {
        var commitRequests: [CommitRequest] = []
        var unknowns: [NotUnderstood] = []
        for piece in pieces {
            let (commitRequest, unknown) = try commitRequest(of: piece.reading, piece.evidence)
            commitRequests.append(commitRequest)
            unknowns.append(unknown)
        }
        let outcomes = try await commit(commitRequests)
        for (outcome, unknown) in zip(outcomes, unknowns) where outcome != .duplicate {
            count(unknown)
        }
        return outcomes
    }

    private func commitRequest(
        of reading: AppStoreReading,
        _ evidence: Evidence
    ) throws(StorageError) -> (CommitRequest, NotUnderstood) {
        let facts = reading.facts(
            learnedAt: evidence.receivedAt,
            source: evidence.source,
            evidence: evidence.id
        )
        let unknown = notUnderstood(in: reading, facts)
        warn(of: unknown)
        let commitRequest = CommitRequest(
            app: app.id,
            environment: reading.environment,
            evidence: evidence,
            facts: facts,
            ownership: try relayedClaims(on: facts, at: evidence.receivedAt),
            transfer: app.policy.transfer,
            tallies: unknown.tallies,
            now: evidence.receivedAt
        )
        return (commitRequest, unknown)
    }

    private func notUnderstood(in reading: AppStoreReading, _ facts: [Fact]) -> NotUnderstood {
        let words = [reading.notificationType, reading.subtype].compactMap(\.self)
        let products = facts.compactMap { fact -> String? in
            guard case .term(let term) = fact.assertion else { return nil }
            return app.catalogue[term.productId] == nil ? term.productId : nil
        }
        return NotUnderstood(
            environment: reading.environment,
            words: reading.unrecognised,
            rarity: reading.rarity.map { "\($0.rawValue) \(words.joined(separator: "/"))" },
            products: products
        )
    }
}

extension Evidence {
    /// Creates the evidence of a reading from the bytes it was read from.
    init(
        _ bytes: [UInt8],
        of reading: AppStoreReading,
        from source: Source,
        at receivedAt: Instant,
        decoded: [DecodedDocument] = []
    ) {
        self.init(
            id: EvidenceID(of: bytes),
            dedupeKey: reading.dedupeKey,
            source: source,
            signedAt: reading.signedAt,
            receivedAt: receivedAt,
            bytes: bytes,
            decoded: decoded
        )
    }
}
