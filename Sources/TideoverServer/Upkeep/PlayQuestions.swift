import TideoverCore
import TideoverGooglePlay
import TideoverStorage

/// Asking about purchase tokens, and taking the answers in.
extension PlayUpkeep {
    /// Asks each question once; one that brings no answer stays open. A store that wants to be left alone is
    /// waited for on the spot for as long as `patience` says, by default that of all long work.
    ///
    /// - Throws: `StorageError`, `BackfillStop` where that is too long, or `CancellationError`.
    @discardableResult
    func ask(
        _ questions: [PlayPlan.Question],
        about lineage: Lineage,
        patience: Milliseconds? = nil
    ) async throws -> [Answered] {
        let holding = try ingest.storage.holding(lineage, app: app.id)
        let wanted = Set(questions.map(\.token))
        let finder = PlayTokens(app: app, storage: ingest.storage, trust: trust)
        let tokens = try await onPool { try finder.find(wanted, in: holding.facts) }
        var answers: [Answered] = []
        for question in questions {
            let name = question.token
            guard let token = tokens[name] else {
                try await settle(name, lineage, because: "no evidence holds its token")
                continue
            }
            guard try await !isKnownElsewhere(name, than: lineage) else {
                try await settle(name, lineage, because: "it is asked about with its own chain")
                continue
            }
            answers.append(
                try await ask(question.kind, token, about: lineage, patience: patience)
            )
        }
        return answers
    }

    /// Whether a token that a lineage only names was answered about in another.
    private func isKnownElsewhere(_ token: PlayToken, than lineage: Lineage) async throws -> Bool {
        guard let other = try await asking.lineage(of: token), other != lineage else {
            return false
        }
        let facts = try ingest.storage.holding(other, app: app.id).facts
        return PlayLineageWords(facts).firstAsked[token] != nil
    }

    /// Asks about one token of a lineage, where it is known of any, and takes in what that brings.
    func ask(
        _ kind: PlayRead.Kind,
        _ token: String,
        about lineage: Lineage?,
        patience: Milliseconds? = nil
    ) async throws -> Answered {
        let name = trust.token(token)
        try await limiter.admit(.purchases, patience: patience)
        let question: PlayNotification.Question =
            kind == .product ? .product(token: token) : .subscription(token: token)
        do {
            let (read, linked) = try await api.ask(question)
            count(.purchases, "answered")
            return try await take(read, name, linked, about: lineage)
        } catch let failure as PlayAPIFailure {
            try Task.checkCancellation()
            count(.purchases, failure.metricWord)
            guard let ended = try asking.ended(question, failure, lineage) else {
                return try await unanswered(failure, name, about: lineage)
            }
            return try await take(ended, name, nil, about: lineage)
        }
    }

    /// What became of a question.
    enum Answered: Equatable {
        /// How many facts were new.
        case told(newFacts: Int)
        /// The store does not know the token, or not any more.
        case unknown
        /// The question is still open.
        case failed(retryable: Bool)
    }

    // MARK: No answer

    private func unanswered(
        _ failure: PlayAPIFailure,
        _ token: PlayToken,
        about lineage: Lineage?
    ) async throws -> Answered {
        try await pause(after: failure)
        let isKnown = try lineage.map { lineage in
            let facts = try ingest.storage.holding(lineage, app: app.id).facts
            return PlayLineageWords(facts).firstAsked[token] != nil
        }
        // Of one that was never answered about nothing is assumed that a failure could bound.
        if isKnown ?? false || failure.outcome?.isFailure ?? false {
            try await asking.note(failure, lineage)
        }
        guard failure.outcome == .gone || failure.outcome == nil else {
            return .failed(retryable: failure.isRetryable)
        }
        if let lineage { try await settle(token, lineage, because: failure.sentence) }
        return .unknown
    }

    /// Leaves the store alone if it wants that, the agenda too, and remembers it for a process that comes
    /// after.
    func pause(after failure: PlayAPIFailure) async throws {
        guard case .throttled = failure.reason else { return }
        let until = failure.retryAt ?? timing.clock() + Self.usualPause
        await limiter.pause(until: until)
        agenda.rest(until: until)
        try await bookmarks.keep(until, Self.pause)
    }

    /// How long the store is left alone if it does not say for how long: quotas are by the minute.
    private static let usualPause = Milliseconds.minutes(1)

    /// Asks no more about a token because of a lineage, or not for a good while.
    private func settle(
        _ token: PlayToken,
        _ lineage: Lineage,
        because reason: String
    ) async throws {
        try await bookmarks.keep(timing.clock(), Self.settled(token, lineage))
        ingest.log(
            LogLine(
                .info,
                "a purchase is not asked about any more",
                app: app.id,
                environment: environment,
                detail: reason
            )
        )
    }

    // MARK: An answer

    private func take(
        _ read: PlayRead,
        _ token: PlayToken,
        _ linked: String?,
        about lineage: Lineage?
    ) async throws -> Answered {
        var chains: [PlayToken: Lineage] = [:]
        chains[token] = try await asking.lineage(of: token)
        if let linked = linked.map(trust.token) {
            chains[linked] = try await asking.lineage(of: linked)
        }
        let answers = PlayAnswers([read], chains: PlayChains(chains))
        let facts: [Fact]
        do {
            facts = try self.facts(in: answers)
        } catch {
            ingest.log(
                LogLine(
                    .warning,
                    "the store's answer is not understood",
                    app: app.id,
                    environment: environment,
                    code: error.code,
                    detail: error.sentence
                )
            )
            if let lineage { try await ingest.note(lineage, read.exchange, .refused) }
            return .failed(retryable: false)
        }
        if let lineage, try await isConfirmation(facts, of: lineage, read.exchange) {
            return .told(newFacts: 0)
        }
        return .told(newFacts: try await commit(answers, facts))
    }

    /// What an answer states.
    private func facts(in answers: PlayAnswers) throws(PlayRefusal) -> [Fact] {
        let id = EvidenceID(of: answers.bytes)
        return try trust.reader.read(answers)
            .flatMap { $0.facts(learnedAt: timing.clock(), evidence: id) }
    }

    /// Keeps answers with their facts.
    func commit(_ answers: PlayAnswers, _ facts: [Fact]) async throws -> Int {
        let outcome = try await asking.keep(
            Evidence(of: answers, at: facts.first?.learnedAt ?? timing.clock()),
            facts,
            in: environment
        )
        guard case .committed(let newFacts, _, _) = outcome else { return 0 }
        return newFacts
    }

    /// An answer that says what the one before it said adds no fact; only when it was confirmed is
    /// remembered, and where the store could not be asked before, that it answered.
    private func isConfirmation(
        _ facts: [Fact],
        of lineage: Lineage,
        _ exchange: StoreExchange
    ) async throws -> Bool {
        guard facts.count == 1, let fact = facts.first, fact.lineage == lineage else {
            return false
        }
        let known = try ingest.storage.holding(lineage, app: app.id).facts
        let words = PlayLineageWords(known)
        guard words.repeats(fact) else { return false }
        if words.isUnanswered { try await ingest.note(lineage, exchange, .answered) }
        try await bookmarks.keep(exchange.askedAt, Self.confirmed(lineage))
        return true
    }

    func count(_ kind: RequestKind, _ outcome: String) {
        ingest.metrics.count(.storeRequests, app.id, kind.rawValue, outcome)
    }
}

extension PlayLineageWords {
    /// Whether an answer says of its token what the newest answer before it said, and nobody has said
    /// anything since.
    fileprivate func repeats(_ fact: Fact) -> Bool {
        switch fact.assertion {
        case .playSubscription(var read):
            guard let known = subscriptions[read.token] else { return false }
            guard (heard[read.token] ?? .distantPast) < known.askedAt else { return false }
            read.askedAt = known.askedAt
            return read == known
        case .playPurchase(var read):
            guard let known = purchases[read.token] else { return false }
            guard (heard[read.token] ?? .distantPast) < known.askedAt else { return false }
            // Behind a voided order it is news that the purchase still stands.
            let doubted = voided[read.token].map { $0 + PlayRhythm.staleness }
            guard doubted ?? .distantPast <= known.askedAt else { return false }
            read.askedAt = known.askedAt
            return read == known
        default: return false
        }
    }
}
