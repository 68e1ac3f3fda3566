import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSignatures
import TideoverStorage

/// Receives App Store Server Notifications: verifies them, reads facts, commits, then responds.
struct AppStoreIngest: Sendable {
    let context: AppContext

    private var app: App { context.app }

    /// How far back the App Store can repeat a notification, plus a week.
    static let mostAge = Milliseconds.days(187)
    /// How long the App Store repeats a notification that is not answered 200: 157 hours after the
    /// first attempt, plus half a day.
    static let longestRepeat = Milliseconds.days(7)

    func respond(to request: Request) async throws -> Response {
        guard let trust = app.appStore else { throw Problem.appStoreNotConfigured(app.id) }
        let now = context.clock()
        let sender = context.rateLimiter.sender(of: request, to: app.id, for: .notification)
        do {
            let received = try await context.rateLimiter.pass(
                sender,
                through: context.verifications
            ) { objection in
                try believed(request.body, trust, at: now, from: sender, objection)
            }
            return try await commit(received)
        } catch let problem as Problem {
            context.refused(problem.slug)
            throw problem
        } catch {
            context.failed()
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
    ) throws -> Received {
        do {
            // The largest cost of a notification. It need not leave this thread, since the handler
            // of a POST never runs on the one that reads sockets.
            let received = try Self.verify(
                body,
                trust,
                at: now,
                onlyKnownChains: objection != nil
            )
            context.noteEnvironment(received.reading.environment)
            try judgeSigner(of: received, trust, at: now)
            try judgeDate(of: received.reading, at: now)
            return received
        } catch {
            if case .wrongEnvironment(_, let found)? = error as? AppStoreRefusal {
                context.noteEnvironment(found)
            }
            let refusal = error as? any Refusal
            if objection == nil { context.noteRefusal(refusal) }
            guard let problem = error as? Problem ?? refusal?.problem else {
                throw error
            }
            guard problem.status < 500 else { throw problem }
            if let objection { throw objection }
            context.rateLimiter.charge(sender)
            throw problem
        }
    }

    private static func verify(
        _ body: [UInt8],
        _ trust: AppStoreTrust,
        at now: Instant,
        onlyKnownChains: Bool
    ) throws -> Received {
        let check = trust.check(at: now, onlyKnownChains: onlyKnownChains)
        var decoded: [DecodedDocument] = []
        let reading = try AppStoreReader(app: trust.identity).readNotification(body: body) { jws in
            let verified = try check(jws)
            decoded.append(DecodedDocument(text: jws, payload: verified.payload.bytes))
            return verified
        }
        let evidence = Evidence(
            body,
            of: reading,
            from: .appStoreNotification,
            at: now,
            decoded: decoded
        )
        return Received(evidence: evidence, reading: reading)
    }

    private struct Received: Sendable {
        let evidence: Evidence
        let reading: AppStoreReading
    }

    /// Rejects an old notification. Only here is age checked, and only for the store with a known
    /// schedule of repetitions.
    private func judgeDate(of reading: AppStoreReading, at now: Instant) throws(Problem) {
        try context.requireNotAhead(reading, at: now)
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
        return try context.storage.evidence(
            in: AppScope(app.id, received.reading.environment),
            keyed: "notification:",
            after: String(key.dropLast()),
            limit: 32
        ).contains { $0.dedupeKey == key }
    }

    private func commit(_ received: Received) async throws -> Response {
        let reading = received.reading
        let outcome = try await context.commit(reading, received.evidence)
        try await note(received)
        switch outcome {
        case .duplicate:
            context.repeated()
            return .json(["status": "duplicate"])
        case .committed(let newFacts, _, _):
            context.committed(
                reading.notificationType,
                reading.environment,
                notificationUUID: reading.notificationUUID
            )
            return .json(["status": "committed", "newFacts": .integer(Int64(newFacts))])
        }
    }

    /// Records the arrival of a notification of any type.
    private func note(_ received: Received) async throws(StorageError) {
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
        try await context.noteArrival(arrivedAt, in: place, test: test)
    }
}
