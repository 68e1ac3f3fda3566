import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Takes in pushes of Pub/Sub with notifications of Google Play: verified, asked about, committed, then
/// answered. Where the store can be asked, a notification's content changes nothing: only the answer does.
struct PlayIngest: Sendable {
    let ingest: Ingest

    private var app: App { ingest.app }

    func respond(to request: Request) async throws -> Response {
        guard let trust = app.googlePlay else { throw Problem.googlePlayNotConfigured(app.id) }
        let sender = ingest.budget.sender(of: request, to: app.id)
        do {
            try ingest.budget.admit(sender)
            let message = try await believed(request, trust, from: sender)
            return try await take(message, trust)
        } catch let problem as Problem {
            ingest.refused(problem.slug)
            throw problem
        } catch {
            ingest.metrics.count(.notifications, app.id, "failed")
            throw error
        }
    }

    /// The message of a push that Pub/Sub made for this app. A refusal is charged to the sender.
    private func believed(
        _ request: Request,
        _ trust: PlayTrust,
        from sender: Sender?
    ) async throws -> Message {
        do {
            let now = ingest.clock()
            _ = try await trust.pushes.admit(request, at: now)
            let push = try PubSubMessage(request)
            let notification = try trust.reader.read(push.notification())
            guard notification.eventTime <= now + Ingest.clockTolerance else {
                throw Problem.signedInTheFuture(by: notification.eventTime - now)
            }
            return Message(push: push, notification: notification, receivedAt: now)
        } catch let failure as PushKeysFailure {
            ingest.log(
                LogLine(.error, "pushes cannot be verified", app: app.id, detail: "\(failure)")
            )
            throw Problem.pushKeysUnavailable(failure)
        } catch {
            guard let problem = (error as? any Refusal)?.problem else { throw error }
            ingest.budget.charge(sender)
            throw problem
        }
    }

    private struct Message: Sendable {
        let push: PubSubMessage
        let notification: PlayNotification
        let receivedAt: Instant
    }

    // MARK: Asking

    private func take(_ message: Message, _ trust: PlayTrust) async throws -> Response {
        var chains: [PlayToken: Lineage] = [:]
        var reads: [PlayRead] = []
        for question in message.notification.questions {
            try await find(trust.token(question.token), &chains)
            guard let api = trust.api else { continue }
            do {
                let (read, linked) = try await api.ask(question)
                if let linked { try await find(trust.token(linked), &chains) }
                reads.append(read)
            } catch let failure as PlayAPIFailure {
                try await note(failure, chains[trust.token(question.token)])
                // What the store does not know is an answer; whatever else failed is asked again.
                guard failure.outcome == .gone else {
                    throw Problem.storeNotAsked(failure, at: ingest.clock())
                }
            }
        }
        let delivery = PlayDelivery(
            message.push,
            isAskedAbout: trust.api != nil,
            reads: reads,
            chains: PlayChains(chains)
        )
        return try await commit(delivery, message, trust)
    }

    /// Looks up where a token belongs: to a lineage of its own name, or to one that a fact of that token
    /// stands in.
    private func find(_ token: PlayToken, _ chains: inout [PlayToken: Lineage]) async throws {
        let (storage, app) = (ingest.storage, app)
        chains[token] = try await onPool {
            for environment in app.environments {
                let own = Lineage(store: .googlePlay, environment: environment, id: token.id)
                if try !storage.holding(own, app: app.id).facts.isEmpty { return own }
            }
            let named = try storage.holdings(
                named: .transaction(token.id),
                app: app.id,
                limit: 8
            )
            return named.map(\.lineage).first { $0.store == .googlePlay }
        }
    }

    /// Keeps that we asked about a lineage, and how it went: an outage bounds what may be assumed.
    private func note(_ failure: PlayAPIFailure, _ lineage: Lineage?) async throws {
        ingest.log(
            LogLine(
                .warning,
                "Google Play could not be asked",
                app: app.id,
                code: failure.code,
                detail: failure.sentence
            )
        )
        guard let lineage, let outcome = failure.outcome else { return }
        let record = InquiryRecord(lineage, failure.exchange, outcome)
        let intake = Intake(
            app: app.id,
            environment: lineage.environment,
            evidence: record.evidence,
            facts: [record.fact],
            transfer: app.policy.transfer,
            now: ingest.clock()
        )
        _ = try await ingest.storage.commit(intake, derive: Deriver(app: app).derive)
    }

    // MARK: Committing

    private func commit(
        _ delivery: PlayDelivery,
        _ message: Message,
        _ trust: PlayTrust
    ) async throws -> Response {
        let bytes = delivery.bytes
        let evidence = Evidence(
            id: EvidenceID(of: bytes),
            dedupeKey: message.notification.dedupeKey(messageId: message.push.messageId),
            source: .playNotification,
            signedAt: message.notification.eventTime,
            receivedAt: message.receivedAt,
            bytes: bytes
        )
        let facts: [Fact]
        do {
            facts = try trust.reader.facts(in: delivery, of: evidence)
        } catch {
            // The notification was read before: it is the store's answer that is not understood.
            throw Problem.answerNotUnderstood(error)
        }
        let environment =
            facts.first?.lineage.environment ?? message.notification.presumed.environment
        let unknown = notUnderstood(in: facts, environment)
        ingest.warn(of: unknown)
        let intake = Intake(
            app: app.id,
            environment: environment,
            evidence: evidence,
            facts: facts,
            transfer: app.policy.transfer,
            tallies: unknown.tallies,
            now: message.receivedAt
        )
        let outcome = try await ingest.storage.commit(intake, derive: Deriver(app: app).derive)
        if case .committed = outcome { ingest.count(unknown) }
        return answer(outcome, message, environment)
    }

    private func answer(
        _ outcome: CommitOutcome,
        _ message: Message,
        _ environment: Environment
    ) -> Response {
        switch outcome {
        case .duplicate:
            ingest.metrics.count(.notifications, app.id, "duplicate")
            return .json(["status": "duplicate"])
        case .committed(let newFacts, _, _):
            ingest.metrics.count(.notifications, app.id, "committed")
            ingest.log(
                LogLine(
                    .info,
                    "notification committed",
                    app: app.id,
                    environment: environment,
                    code: message.notification.notification.announcement
                )
            )
            return .json(["status": "committed", "newFacts": .integer(Int64(newFacts))])
        }
    }

    private func notUnderstood(in facts: [Fact], _ environment: Environment) -> NotUnderstood {
        let words = facts.compactMap { fact -> Unrecognised? in
            if case .unrecognised(let word) = fact.assertion { word } else { nil }
        }
        let products = facts.flatMap(\.playProducts).filter { !app.catalogue.has($0) }
        return NotUnderstood(
            environment: environment,
            words: words,
            products: products.map(\.id)
        )
    }
}

extension PlayNotification.Question {
    fileprivate var token: String {
        switch self {
        case .subscription(let token), .product(let token): token
        }
    }
}

extension PlayAPI {
    /// The answer to a question, and the token that the purchase replaces.
    fileprivate func ask(
        _ question: PlayNotification.Question
    ) async throws -> (PlayRead, linked: String?) {
        switch question {
        case .subscription(let token):
            let answer = try await subscription(token)
            let read = PlayRead(.subscription, of: token, in: packageName, answer)
            return (read, answer.content.linkedPurchaseToken)
        case .product(let token):
            let answer = try await product(token)
            return (PlayRead(.product, of: token, in: packageName, answer), nil)
        }
    }
}

/// A product of Google Play as a catalogue may list it: with its base plan, or alone.
private struct PlayProduct {
    let id: String
    let basePlan: String?
}

extension Fact {
    fileprivate var playProducts: [PlayProduct] {
        switch assertion {
        case .playSubscription(let read):
            read.items.map { PlayProduct(id: $0.productId, basePlan: $0.basePlan) }
        case .playPurchase(let read):
            read.items.map { PlayProduct(id: $0.productId, basePlan: nil) }
        default: []
        }
    }
}

extension Catalogue {
    fileprivate func has(_ product: PlayProduct) -> Bool {
        let plan = product.basePlan.flatMap { self["\(product.id):\($0)"] }
        return plan != nil || self[product.id] != nil
    }
}
