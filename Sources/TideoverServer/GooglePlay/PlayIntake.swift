import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverStorage

/// Processes one verified Pub/Sub message, pushed or pulled: queries the store, then commits. If
/// the store can be queried, only its response counts, not the notification's content.
struct PlayIntake: Sendable {
    let context: AppContext
    let trust: PlayTrust
    let pollers: [PlayPoller]

    private var app: App { context.app }
    private var playLookup: PlayLookup { PlayLookup(context: context, trust: trust) }

    /// A message for this app.
    struct Message: Sendable {
        let message: PubSubMessage
        let notification: PlayNotification
        let receivedAt: Instant

        /// - Throws: `PlayRefusal`, `signed-in-the-future`.
        init(_ message: PubSubMessage, _ trust: PlayTrust, at now: Instant) throws {
            self.message = message
            receivedAt = now
            notification = try trust.reader.read(message.notification())
            guard notification.eventTime <= now + .clockTolerance else {
                throw Problem.signedInTheFuture(by: notification.eventTime - now)
            }
        }
    }

    /// The outcome of a message.
    enum Outcome: Hashable, Sendable {
        case duplicate
        case committed(newFacts: Int)
        /// The purchase is of an environment that the app does not serve, such as a licence
        /// tester's if only production is served. Nothing is stored, and the message is
        /// acknowledged.
        case ignored
    }

    /// - Throws: `store-not-asked` and `store-answer-not-understood`, after which the message must
    ///   be delivered again; and `StorageError`.
    func take(_ message: Message) async throws -> Outcome {
        let answers: PlayLookup.Answers
        do {
            answers = try await playLookup.ask(
                message.notification.questions,
                toldAt: message.notification.eventTime
            )
        } catch let failure as PlayAPIFailure {
            throw Problem.storeNotAsked(failure, at: context.clock())
        }
        let delivery = PlayDelivery(
            message.message,
            isAskedAbout: trust.api != nil,
            reads: answers.reads,
            chains: PlayChains(answers.chains)
        )
        let outcome = try await commit(delivery, message)
        if case .committed = outcome {
            await PlayVoidedNotice(playLookup: playLookup, pollers: pollers).ask(about: message)
        }
        return outcome
    }

    private func commit(_ delivery: PlayDelivery, _ message: Message) async throws -> Outcome {
        let bytes = delivery.bytes
        let evidence = Evidence(
            id: EvidenceID(of: bytes),
            dedupeKey: message.notification.dedupeKey(messageId: message.message.messageId),
            source: .playNotification,
            signedAt: message.notification.eventTime,
            receivedAt: message.receivedAt,
            bytes: bytes
        )
        let facts: [Fact]
        do {
            facts = try trust.reader.facts(in: delivery, of: evidence)
        } catch .wrongEnvironment {
            context.refused("wrong-environment")
            try await note(message)
            return .ignored
        } catch {
            // The notification itself is readable; the store's response is not.
            throw Problem.answerNotUnderstood(error)
        }
        let presumed = message.notification.presumed.environment
        let outcome = try await playLookup.keep(evidence, facts, in: presumed)
        let environment = facts.first?.lineage.environment ?? presumed
        context.noteEnvironment(environment)
        return try await tell(outcome, message, environment)
    }

    /// Records the arrival of a notification of any type. An app has one topic for all
    /// environments, so an arrival in one shows that the others work too.
    private func note(_ message: Message) async throws(StorageError) {
        let notification = message.notification
        let test =
            notification.isTest
            ? NotificationLog.Test(
                id: message.message.messageId ?? "",
                signedAt: notification.eventTime,
                arrivedAt: message.receivedAt
            ) : nil
        for environment in app.environments {
            try await context.noteArrival(
                message.receivedAt,
                in: .init(app: app.id, environment: environment, store: .googlePlay),
                test: test
            )
        }
    }

    private func tell(
        _ outcome: CommitOutcome,
        _ message: Message,
        _ environment: Environment
    ) async throws(StorageError) -> Outcome {
        try await note(message)
        switch outcome {
        case .duplicate:
            context.repeated()
            return .duplicate
        case .committed(let newFacts, _, _):
            context.committed(message.notification.notification.announcement, environment)
            return .committed(newFacts: newFacts)
        }
    }
}
