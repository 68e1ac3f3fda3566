import TideoverCore
import TideoverGooglePlay
import TideoverStorage

/// Queries Google Play about the purchases of one app, and finds the lineages of their tokens.
struct PlayLookup: Sendable {
    let context: AppContext
    let trust: PlayTrust

    private var app: App { context.app }

    /// How long the store may not know a purchase that it has announced, because its API can lag
    /// behind its messages.
    private static let settling = Milliseconds.hours(1)

    /// The store's responses, and the known lineages of the queried tokens and of those they
    /// replace.
    struct Answers: Sendable {
        var reads: [PlayRead] = []
        var chains: [PlayToken: Lineage] = [:]
    }

    /// Sends one query after the other; none if no credentials are configured. "Not found" is a
    /// valid result without a read, as is a token that the store cannot be asked about. The
    /// exception is an unknown purchase that the store announced at `toldAt`, by its clock, less
    /// than an hour ago: if no query finds it, that is a failure.
    ///
    /// - Throws: `PlayAPIFailure` for that and for other failures, after recording an inquiry;
    ///   `StorageError`.
    func ask(
        _ questions: [PlayNotification.Question],
        toldAt: Instant
    ) async throws -> Answers {
        var answers = Answers()
        var unknown: PlayAPIFailure?
        for question in questions {
            do {
                try await ask(question, &answers)
            } catch let failure as PlayAPIFailure where failure.isFinal {
                let isNew = answers.chains[trust.token(question.token)] == nil
                if isNew && failure.isOfUnknown && toldAt + Self.settling > context.clock() {
                    unknown = failure
                }
            }
        }
        if let unknown, answers.reads.isEmpty { throw unknown }
        return answers
    }

    /// Sends one query.
    ///
    /// - Throws: `PlayAPIFailure`, after recording an inquiry; `StorageError`.
    func ask(_ question: PlayNotification.Question, _ answers: inout Answers) async throws {
        let token = trust.token(question.token)
        answers.chains[token] = try await lineage(of: token)
        guard let api = trust.api else { return }
        do {
            let (read, replaced) = try await api.ask(question)
            count("answered")
            if let replaced = replaced.map(trust.token) {
                answers.chains[replaced] = try await lineage(of: replaced)
            }
            answers.reads.append(read)
        } catch let failure as PlayAPIFailure {
            count(failure.metricWord)
            guard let ended = try ended(question, failure, answers.chains[token]) else {
                try await note(failure, answers.chains[token])
                throw failure
            }
            answers.reads.append(ended)
        }
    }

    private func count(_ outcome: String) {
        context.metrics.count(.storeRequests, app.id, RequestKind.purchases.rawValue, outcome)
    }

    /// Returns the lineage of a token: the one with the token's name, or one with a fact of the
    /// token.
    func lineage(of token: PlayToken) async throws -> Lineage? {
        let (storage, app) = (context.storage, app)
        return try await onPool {
            for environment in app.environments {
                let own = Lineage(store: .googlePlay, environment: environment, id: token.id)
                if try !storage.lineageRecord(own, app: app.id).facts.isEmpty { return own }
            }
            let named = try storage.lineageRecords(
                named: .transaction(token.id),
                app: app.id,
                limit: 8
            )
            return named.map(\.lineage).first { $0.store == .googlePlay }
        }
    }

    /// Records a query about a lineage and its outcome, because an outage limits what may be
    /// assumed.
    func note(_ failure: PlayAPIFailure, _ lineage: Lineage?) async throws {
        context.log(
            failure.outcome == .gone ? .info : .warning,
            failure.outcome == .gone
                ? "Google Play does not know a purchase" : "Google Play could not be asked",
            code: failure.code,
            detail: failure.sentence
        )
        guard let lineage, let outcome = failure.outcome else { return }
        try await note(failure.exchange, outcome, lineage)
    }

    /// Records a query about a lineage and its outcome. Of a purchase that always fails only the
    /// time of the last query is stored, so that its facts do not grow with each query.
    func note(
        _ exchange: StoreExchange,
        _ outcome: Inquiry.Outcome,
        _ lineage: Lineage
    ) async throws {
        if outcome.isFailure {
            let facts = try context.storage.lineageRecord(lineage, app: app.id).facts
            let history = LineageHistory(
                lineage: lineage,
                facts: facts,
                catalogue: app.catalogue
            )
            let words = PlayLineageWords(facts)
            if words.isKnownToFail(at: context.clock(), pace: history.pace) {
                let cursors = context.cursors(in: lineage.environment)
                return try await cursors.keep(exchange.askedAt, PlayPoller.failed(lineage))
            }
        }
        try await context.note(lineage, exchange, outcome)
    }

    // MARK: Storage

    /// A store response, and the facts read from it.
    struct Answered: Sendable {
        /// The bytes that contain the facts.
        let evidence: Evidence
        /// The facts of all environments.
        let facts: [Fact]
        /// The environment of a response without facts.
        let presumed: Environment

        fileprivate func facts(in environment: Environment) -> [Fact]? {
            if facts.isEmpty { return environment == presumed ? [] : nil }
            let own = facts.filter { $0.lineage.environment == environment }
            return own.isEmpty ? nil : own
        }
    }

    /// Commits a store response, alone or with the message that prompted the query, and its facts,
    /// once in each environment of the facts. The same commit decides the claims of a relay's
    /// customers to these purchases.
    ///
    /// - Returns: `duplicate` if no environment had anything new.
    /// - Throws: `StorageError`.
    func keep(
        _ evidence: Evidence,
        _ facts: [Fact],
        in presumed: Environment
    ) async throws -> CommitOutcome {
        let answered = Answered(evidence: evidence, facts: facts, presumed: presumed)
        var outcome = CommitOutcome.duplicate
        for each in try await keep([answered], at: evidence.receivedAt) { outcome.add(each) }
        return outcome
    }

    /// Commits several responses in one transaction for each environment, so that each customer is
    /// derived once.
    ///
    /// - Throws: `StorageError`; then nothing of that environment is stored.
    func keep(_ answers: [Answered], at now: Instant) async throws -> [CommitOutcome] {
        var outcomes = answers.map { _ in CommitOutcome.duplicate }
        for environment in Environment.allCases {
            var places: [Int] = []
            var unknowns: [NotUnderstood] = []
            var commitRequests: [CommitRequest] = []
            for (place, answered) in answers.enumerated() {
                guard let facts = answered.facts(in: environment) else { continue }
                let (commitRequest, unknown) = try commitRequest(
                    of: answered,
                    facts,
                    in: environment,
                    at: now
                )
                places.append(place)
                unknowns.append(unknown)
                commitRequests.append(commitRequest)
            }
            let ended = try await context.commit(commitRequests)
            for (index, outcome) in ended.enumerated() {
                if outcome != .duplicate { context.count(unknowns[index]) }
                outcomes[places[index]].add(outcome)
            }
        }
        return outcomes
    }

    private func commitRequest(
        of answered: Answered,
        _ facts: [Fact],
        in environment: Environment,
        at now: Instant
    ) throws -> (CommitRequest, NotUnderstood) {
        let unknown = notUnderstood(in: facts, environment)
        context.warn(of: unknown)
        let commitRequest = CommitRequest(
            app: app.id,
            environment: environment,
            evidence: answered.evidence,
            facts: facts,
            ownership: try context.relayedClaims(on: facts, at: now),
            transfer: app.policy.transfer,
            tallies: unknown.tallies,
            now: now
        )
        return (commitRequest, unknown)
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
    var token: String {
        switch self {
        case .subscription(let token), .product(let token): token
        }
    }
}

extension PlayAPIFailure {
    /// Whether the store does not know the purchase, or not yet.
    fileprivate var isOfUnknown: Bool {
        switch reason {
        case .notFound, .status: true
        default: false
        }
    }

    /// Whether the same query gets no other answer, except about a new purchase.
    fileprivate var isFinal: Bool {
        switch reason {
        case .notFound, .gone, .unaskable: true
        case .status(400, let word): word?.text == "INVALID_ARGUMENT"
        default: false
        }
    }

    /// The outcome for `/metrics`.
    var metricWord: String {
        if case .unauthorised = reason { return "unauthorised" }
        switch outcome {
        case .throttled: return "throttled"
        case .unreachable: return "unreachable"
        case .gone: return "answered"
        case .answered, .refused, .unrecognised, nil: return "refused"
        }
    }
}

extension PlayAPI {
    /// Returns the response to a query, and the token that the purchase replaces.
    func ask(
        _ question: PlayNotification.Question
    ) async throws -> (PlayRead, replaced: String?) {
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

extension Fact {
    /// The products in a response of Google Play.
    var playProducts: [PlayProduct] {
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
    fileprivate func has(_ product: PlayProduct) -> Bool { id(of: product) != nil }
}

extension Evidence {
    /// Creates evidence of responses to our own queries, which their digest identifies.
    init(of answers: PlayAnswers, at receivedAt: Instant) {
        let bytes = answers.bytes
        let id = EvidenceID(of: bytes)
        self.init(
            id: id,
            dedupeKey: "play-answers:\(id.hex)",
            source: .playAPI,
            signedAt: nil,
            receivedAt: receivedAt,
            bytes: bytes
        )
    }
}
