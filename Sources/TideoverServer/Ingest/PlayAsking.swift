import TideoverCore
import TideoverGooglePlay
import TideoverStorage

/// Asks Google Play about purchases of one app, and knows where their tokens belong.
struct PlayAsking: Sendable {
    let ingest: Ingest
    let trust: PlayTrust

    private var app: App { ingest.app }

    /// For how long the store may not know a purchase that it has told of: its answers can be behind its
    /// messages.
    private static let settling = Milliseconds.hours(1)

    /// What the store answered, and to which lineages the tokens asked about, and those that they
    /// replace, are known to belong.
    struct Answers: Sendable {
        var reads: [PlayRead] = []
        var chains: [PlayToken: Lineage] = [:]
    }

    /// Asks one question after the other; nothing where no credentials are configured. That the store
    /// does not know a purchase is an answer too, without a read; but a purchase never heard of before, that
    /// it has told of just now (at `toldAt`, by its clock), it has only not got round to knowing.
    ///
    /// - Throws: `PlayAPIFailure` for that and for whatever else failed, kept as an inquiry by then;
    ///   `StorageError`.
    func ask(
        _ questions: [PlayNotification.Question],
        toldAt: Instant
    ) async throws -> Answers {
        var answers = Answers()
        for question in questions {
            do {
                try await ask(question, &answers)
            } catch let failure as PlayAPIFailure where failure.outcome == .gone {
                let isNew = answers.chains[trust.token(question.token)] == nil
                guard !(isNew && failure.isOfUnknown && toldAt + Self.settling > ingest.clock())
                else { throw failure }
            }
        }
        return answers
    }

    /// Asks one question.
    ///
    /// - Throws: `PlayAPIFailure`, kept as an inquiry by then; `StorageError`.
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
        ingest.metrics.count(.storeRequests, app.id, RequestKind.purchases.rawValue, outcome)
    }

    /// Where a token belongs: to a lineage of its own name, or to one that a fact of that token stands
    /// in.
    func lineage(of token: PlayToken) async throws -> Lineage? {
        let (storage, app) = (ingest.storage, app)
        return try await onPool {
            for environment in app.environments {
                let own = Lineage(store: .googlePlay, environment: environment, id: token.id)
                if try !storage.holding(own, app: app.id).facts.isEmpty { return own }
            }
            let named = try storage.holdings(named: .transaction(token.id), app: app.id, limit: 8)
            return named.map(\.lineage).first { $0.store == .googlePlay }
        }
    }

    /// Keeps that we asked about a lineage, and how it went: an outage bounds what may be assumed.
    func note(_ failure: PlayAPIFailure, _ lineage: Lineage?) async throws {
        ingest.log(
            LogLine(
                failure.outcome == .gone ? .info : .warning,
                failure.outcome == .gone
                    ? "Google Play does not know a purchase" : "Google Play could not be asked",
                app: app.id,
                code: failure.code,
                detail: failure.sentence
            )
        )
        guard let lineage, let outcome = failure.outcome else { return }
        try await ingest.note(lineage, failure.exchange, outcome)
    }

    // MARK: Keeping

    /// What the store answered, and the facts that were read from it.
    struct Answered: Sendable {
        /// The bytes that the facts were read from.
        let evidence: Evidence
        /// The facts, of any environments.
        let facts: [Fact]
        /// The environment of an answer that states nothing.
        let presumed: Environment

        fileprivate func facts(in environment: Environment) -> [Fact]? {
            if facts.isEmpty { return environment == presumed ? [] : nil }
            let own = facts.filter { $0.lineage.environment == environment }
            return own.isEmpty ? nil : own
        }
    }

    /// Commits what the store answered, alone or with what prompted the question, and the facts read
    /// from it, once in each environment that the facts belong to. Claims of a relay's customers to
    /// these purchases are decided in the same commit.
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

    /// Commits several answers, in one transaction for each environment, so that a customer is derived
    /// once.
    ///
    /// - Throws: `StorageError`; nothing of one environment is stored then.
    func keep(_ answers: [Answered], at now: Instant) async throws -> [CommitOutcome] {
        var outcomes = answers.map { _ in CommitOutcome.duplicate }
        for environment in Environment.allCases {
            var places: [Int] = []
            var unknowns: [NotUnderstood] = []
            var intakes: [Intake] = []
            for (place, answered) in answers.enumerated() {
                guard let facts = answered.facts(in: environment) else { continue }
                let (intake, unknown) = try intake(of: answered, facts, in: environment, at: now)
                places.append(place)
                unknowns.append(unknown)
                intakes.append(intake)
            }
            let ended = try await ingest.storage.commit(intakes, derive: Deriver(app: app).derive)
            for (index, outcome) in ended.enumerated() {
                if outcome != .duplicate { ingest.count(unknowns[index]) }
                outcomes[places[index]].add(outcome)
            }
        }
        return outcomes
    }

    private func intake(
        of answered: Answered,
        _ facts: [Fact],
        in environment: Environment,
        at now: Instant
    ) throws -> (Intake, NotUnderstood) {
        let unknown = notUnderstood(in: facts, environment)
        ingest.warn(of: unknown)
        let intake = Intake(
            app: app.id,
            environment: environment,
            evidence: answered.evidence,
            facts: facts,
            ownership: try ingest.relayedClaims(on: facts, at: now),
            transfer: app.policy.transfer,
            tallies: unknown.tallies,
            now: now
        )
        return (intake, unknown)
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
    /// Whether the store says that it knows no such purchase.
    fileprivate var isOfUnknown: Bool { if case .notFound = reason { true } else { false } }

    /// How it went, for `/metrics`.
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
    /// The answer to a question, and the token that the purchase replaces.
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

/// A product of Google Play as a catalogue may list it: with its base plan, or alone.
struct PlayProduct: Hashable {
    let id: String
    let basePlan: String?
}

extension Fact {
    /// The products that an answer of Google Play lists.
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
    /// The id under which it lists a product, with its base plan or alone; nil where it does not.
    func id(of product: PlayProduct) -> String? {
        let plan = product.basePlan.map { "\(product.id):\($0)" }
        return [plan, product.id].compactMap(\.self).first { self[$0] != nil }
    }

    fileprivate func has(_ product: PlayProduct) -> Bool { id(of: product) != nil }
}

extension Evidence {
    /// Answers that nothing but our own asking prompted. Their own digest tells them apart.
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
