import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSignatures
import TideoverStorage

/// Receives App Store Server Notifications: verifies them, reads facts, commits, then responds.
struct Ingest: Sendable {
    let app: App
    let storage: any Storage
    let clock: Clock
    let log: Log
    let tallies: CounterBuffer
    let metrics: Metrics
    let verifications: ConcurrencyLimiter
    let rateLimiter: RateLimiter
    let arrivals: NotificationLog
    let consumption: ConsumptionQueues
    /// Receives the environment of a request's content, for the request's log line.
    var noteEnvironment: @Sendable (Environment) -> Void = { _ in }

    /// How far in the future a signature may be dated.
    static let clockTolerance = Milliseconds.minutes(5)
    /// How far back the App Store can repeat a notification, plus a week.
    static let mostAge = Milliseconds.days(187)
    /// How long the App Store repeats a notification that is not answered 200: 157 hours after the
    /// first attempt, plus half a day.
    static let longestRepeat = Milliseconds.days(7)

    func respond(to request: Request) async throws -> Response {
        guard let trust = app.appStore else { throw Problem.appStoreNotConfigured(app.id) }
        let now = clock()
        let sender = rateLimiter.sender(of: request, to: app.id, for: .notification)
        do {
            let received = try await rateLimiter.pass(sender, through: verifications) { objection in
                try await believed(request.body, trust, at: now, from: sender, objection)
            }
            return try await commit(received)
        } catch let problem as Problem {
            refused(problem.slug)
            throw problem
        } catch {
            failed()
            throw error is ConcurrencyLimiter.Full ? Problem.overloaded : error
        }
    }

    /// Verifies and reads a notification. A rejection counts against the sender, unless our clock
    /// may be wrong. Beyond the sender's budget each rejection is answered with `objection`, and is
    /// not counted.
    private func believed(
        _ body: [UInt8],
        _ trust: AppStoreTrust,
        at now: Instant,
        from sender: Sender?,
        _ objection: Problem?
    ) async throws -> Received {
        do {
            // Verification is the largest cost of a notification, so it leaves the thread that
            // reads sockets.
            let received = try await onPool {
                let received = try Self.verify(
                    body,
                    trust,
                    at: now,
                    onlyKnownChains: objection != nil
                )
                noteEnvironment(received.reading.environment)
                try judgeSigner(of: received, trust, at: now)
                return received
            }
            try judgeDate(of: received.reading, at: now)
            return received
        } catch {
            if case .wrongEnvironment(_, let found)? = error as? AppStoreRefusal {
                noteEnvironment(found)
            }
            guard let problem = error as? Problem ?? (error as? any Refusal)?.problem else {
                throw error
            }
            guard problem.status < 500 else { throw problem }
            if let objection { throw objection }
            rateLimiter.charge(sender)
            throw problem
        }
    }

    private static func verify(
        _ body: [UInt8],
        _ trust: AppStoreTrust,
        at now: Instant,
        onlyKnownChains: Bool
    ) throws -> Received {
        let reading = try AppStoreReader(app: trust.identity).readNotification(
            body: body,
            check: trust.check(at: now, onlyKnownChains: onlyKnownChains)
        )
        let evidence = Evidence(body, of: reading, from: .appStoreNotification, at: now)
        return Received(evidence: evidence, reading: reading)
    }

    private struct Received: Sendable {
        let evidence: Evidence
        let reading: AppStoreReading
    }

    /// Rejects a date in the future. The cause may be our clock, so the sender tries again.
    func requireNotAhead(_ reading: AppStoreReading, at now: Instant) throws(Problem) {
        let newest = reading.latestSignedAt
        guard newest > now + Self.clockTolerance else { return }
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

    /// Rejects an old notification. Only here is age checked, and only for the store with a known
    /// schedule of repetitions.
    private func judgeDate(of reading: AppStoreReading, at now: Instant) throws(Problem) {
        try requireNotAhead(reading, at: now)
        guard reading.environment != .simulated, reading.signedAt < now - Self.mostAge else {
            return
        }
        throw .tooOld
    }

    /// Rejects old notifications of an expired signer. The holder of the key of an expired
    /// certificate could date a message back to its validity. Such a message is accepted while the
    /// App Store may still repeat it, and later only if it is known.
    private func judgeSigner(
        of received: Received,
        _ trust: AppStoreTrust,
        at now: Instant
    ) throws {
        let reading = received.reading
        guard reading.environment != .simulated, reading.signedAt < now - Self.longestRepeat,
            reading.signedAt >= now - Self.mostAge
        else { return }
        do {
            _ = try AppStoreReader(app: trust.identity).readNotification(
                body: received.evidence.bytes,
                check: trust.check(at: now, validNow: true)
            )
        } catch SignatureRefusal.certificateNotValidAt {
            guard try isKnown(received) else { throw Problem.signerExpired }
        }
    }

    private func isKnown(_ received: Received) throws(StorageError) -> Bool {
        let key = received.evidence.dedupeKey
        // Few keys lie between this key without its last character and this key.
        return try storage.evidence(
            app: app.id,
            environment: received.reading.environment,
            keyed: "notification:",
            after: String(key.dropLast()),
            limit: 32
        ).contains { $0.dedupeKey == key }
    }

    /// Commits facts with their evidence, and counts unknown content if it is new.
    func commit(
        _ reading: AppStoreReading,
        _ evidence: Evidence
    ) async throws(StorageError) -> CommitOutcome {
        let (commitRequest, unknown) = try commitRequest(of: reading, evidence)
        let outcome = try await storage.commit(commitRequest, derive: Projector(app: app).derive)
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
        let outcomes = try await storage.commit(commitRequests, derive: Projector(app: app).derive)
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

    private func commit(_ received: Received) async throws -> Response {
        let reading = received.reading
        let outcome = try await commit(reading, received.evidence)
        note(received)
        switch outcome {
        case .duplicate:
            metrics.count(.notifications, app.id, "duplicate")
            return .json(["status": "duplicate"])
        case .committed(let newFacts, _, _):
            metrics.count(.notifications, app.id, "committed")
            log(
                LogLine(
                    .info,
                    "notification committed",
                    app: app.id,
                    environment: reading.environment,
                    code: reading.notificationType,
                    notificationUUID: reading.notificationUUID
                )
            )
            return .json(["status": "committed", "newFacts": .integer(Int64(newFacts))])
        }
    }

    /// Records the arrival of a notification of any type.
    private func note(_ received: Received) {
        let reading = received.reading
        let arrivedAt = received.evidence.receivedAt
        let test = reading.notificationUUID.flatMap { uuid in
            reading.isTest
                ? NotificationLog.Test(
                    id: uuid,
                    signedAt: reading.signedAt,
                    arrivedAt: arrivedAt
                ) : nil
        }
        let place = NotificationLog.Place(
            app: app.id,
            environment: reading.environment,
            store: .appStore
        )
        arrivals.note(arrivedAt, in: place, test: test, telling: log)
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

    /// Counts a notification that could not be processed, and so may be missing.
    func failed() {
        metrics.count(.notifications, app.id, "failed")
        for store in app.stores { arrivals.missed(of: store, in: app.id) }
    }

    func refused(_ code: String) {
        metrics.count(.notifications, app.id, "refused")
        metrics.count(.refusals, app.id, code)
        tallies.count(Tally(environment: nil, kind: "refusal", name: code), app: app.id)
    }
}

extension Evidence {
    /// Creates the evidence of a reading from the bytes it was read from.
    init(
        _ bytes: [UInt8],
        of reading: AppStoreReading,
        from source: Source,
        at receivedAt: Instant
    ) {
        self.init(
            id: EvidenceID(of: bytes),
            dedupeKey: reading.dedupeKey,
            source: source,
            signedAt: reading.signedAt,
            receivedAt: receivedAt,
            bytes: bytes
        )
    }
}
