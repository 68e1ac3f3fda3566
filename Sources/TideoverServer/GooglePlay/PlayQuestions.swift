import TideoverCore
import TideoverGooglePlay
import TideoverStorage

/// Queries of purchase tokens, and the processing of responses.
extension PlayPoller {
    /// Sends each query once; a query without a response stays open. If the store throttles, it
    /// waits up to `patience`, by default that of all background work.
    ///
    /// - Throws: `StorageError`, `BackfillStop` if the wait is too long, or `CancellationError`.
    @discardableResult
    func ask(
        _ questions: [PlayPlan.Question],
        about lineage: Lineage,
        patience: Milliseconds? = nil
    ) async throws -> [Answered] {
        let lineageRecord = try context.storage.lineageRecord(lineage, app: app.id)
        let wanted = Set(questions.map(\.token))
        let finder = PlayTokens(context: context, trust: trust)
        let tokens = try await onPool { try finder.find(wanted, in: lineageRecord.facts) }
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

    /// Returns whether a token that a lineage only mentions was queried in another lineage.
    private func isKnownElsewhere(_ token: PlayToken, than lineage: Lineage) async throws -> Bool {
        guard let other = try await playLookup.lineage(of: token), other != lineage else {
            return false
        }
        let facts = try context.storage.lineageRecord(other, app: app.id).facts
        return PlayLineageWords(facts).firstAsked[token] != nil
    }

    /// Queries one token, of a lineage if known, and processes the response.
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
            guard let ended = try playLookup.ended(question, failure, lineage) else {
                return try await unanswered(failure, name, about: lineage)
            }
            return try await take(ended, name, nil, about: lineage)
        }
    }

    /// The outcome of a query.
    enum Answered: Equatable {
        /// The store answered, with this number of new facts.
        case told(newFacts: Int)
        /// The store does not know the token, or no longer.
        case unknown
        /// The query is still open.
        case failed(Failure)

        var isFailure: Bool { failure != nil }

        var failure: Failure? {
            if case .failed(let failure) = self { failure } else { nil }
        }

        var isRetryable: Bool { failure?.isRetryable ?? false }

        /// Whether the reason of the failure is not the token or the response about it.
        var isOpen: Bool { failure.map { $0.isRetryable || $0.concernsAll } ?? false }
    }

    /// The reason why a query is still open.
    struct Failure: Equatable {
        let code: String
        /// Whether the same query may succeed later.
        let isRetryable: Bool
        /// Whether every other query fails too: the store throttles, or rejects our account.
        var concernsAll = false
        /// When the store accepts queries again, by our clock; nil if it stated nothing.
        var retryAt: Instant?
    }

    // MARK: Failures

    private func unanswered(
        _ failure: PlayAPIFailure,
        _ token: PlayToken,
        about lineage: Lineage?
    ) async throws -> Answered {
        try await pause(after: failure)
        let isKnown = try lineage.map { lineage in
            let facts = try context.storage.lineageRecord(lineage, app: app.id).facts
            return PlayLineageWords(facts).firstAsked[token] != nil
        }
        // For a token never answered about, nothing is assumed that a failure could limit.
        if isKnown ?? false || failure.outcome?.isFailure ?? false {
            try await playLookup.note(failure, lineage)
        }
        guard failure.outcome == .gone || failure.outcome == nil else {
            return .failed(Failure(failure))
        }
        if let lineage { try await settle(token, lineage, because: failure.sentence) }
        return .unknown
    }

    /// Pauses queries and the agenda if the store throttles, and stores the end of the pause for a
    /// later process.
    func pause(after failure: PlayAPIFailure) async throws {
        guard case .throttled = failure.reason else { return }
        let until = failure.retryAt ?? timing.clock() + Self.usualPause
        await limiter.pause(until: until)
        pollQueue.rest(until: until)
        try await cursors.keep(until, Self.pause)
    }

    /// The pause if the store states none; quotas are per minute.
    private static let usualPause = Milliseconds.minutes(1)

    /// Stops querying a token of a lineage, at least for a long time.
    private func settle(
        _ token: PlayToken,
        _ lineage: Lineage,
        because reason: String
    ) async throws {
        try await cursors.keep(timing.clock(), Self.settled(token, lineage))
        context.log(
            .info,
            "a purchase is not asked about any more",
            in: environment,
            detail: reason
        )
    }

    // MARK: Responses

    private func take(
        _ read: PlayRead,
        _ token: PlayToken,
        _ linked: String?,
        about lineage: Lineage?
    ) async throws -> Answered {
        var chains: [PlayToken: Lineage] = [:]
        chains[token] = try await playLookup.lineage(of: token)
        if let linked = linked.map(trust.token) {
            chains[linked] = try await playLookup.lineage(of: linked)
        }
        let answers = PlayAnswers([read], chains: PlayChains(chains))
        let facts: [Fact]
        do {
            facts = try self.facts(in: answers)
        } catch {
            context.log(
                .warning,
                "the store's answer is not understood",
                in: environment,
                code: error.code,
                detail: error.sentence
            )
            if let lineage { try await playLookup.note(read.exchange, .refused, lineage) }
            return .failed(Failure(code: error.code, isRetryable: false))
        }
        if let lineage, try await playLookup.isConfirmation(facts, of: lineage, read.exchange) {
            return .told(newFacts: 0)
        }
        return .told(newFacts: try await commit(answers, facts))
    }

    /// Returns the facts of a response.
    private func facts(in answers: PlayAnswers) throws(PlayRefusal) -> [Fact] {
        let id = EvidenceID(of: answers.bytes)
        return try trust.reader.read(answers)
            .flatMap { $0.facts(learnedAt: timing.clock(), evidence: id) }
    }

    /// Stores responses with their facts.
    func commit(_ answers: PlayAnswers, _ facts: [Fact]) async throws -> Int {
        let outcome = try await playLookup.keep(
            Evidence(of: answers, at: facts.first?.learnedAt ?? timing.clock()),
            facts,
            in: environment
        )
        guard case .committed(let newFacts, _, _) = outcome else { return 0 }
        return newFacts
    }

    func count(_ kind: RequestKind, _ outcome: String) {
        context.metrics.count(.storeRequests, app.id, kind.rawValue, outcome)
    }
}

extension BackfillStop {
    /// Creates the reason from a failed query about something.
    init(_ failure: PlayPoller.Failure, about subject: String) {
        self.init(
            code: failure.code,
            sentence: "Google Play could not be asked about \(subject).",
            retryAt: failure.retryAt
        )
    }
}

extension PlayPoller.Failure {
    fileprivate init(_ failure: PlayAPIFailure) {
        code = failure.code
        isRetryable = failure.isRetryable
        retryAt = failure.retryAt
        switch failure.reason {
        case .throttled, .unauthorised, .forbidden, .noAccess: concernsAll = true
        case .unaskable, .unreachable, .notFound, .gone, .conflict, .status, .malformedJSON,
            .malformed, .endless:
            concernsAll = false
        }
    }
}
