import TideoverCore
import TideoverGooglePlay

/// What is to be asked of Google Play about one lineage and when, and what to tell it: decided from the
/// facts alone, so that it is the same after any restart.
struct PlayPlan: Equatable {
    /// A purchase token to ask about, and from when on.
    struct Question: Equatable {
        let token: PlayToken
        let kind: PlayRead.Kind
        let at: Instant
    }

    /// A purchase of which the store is to be told that it was granted.
    struct Acknowledgement: Equatable {
        let token: PlayToken
        let kind: PlayRead.Kind
        /// Any product of the purchase names it.
        let productId: String
        /// When the store takes it back unless it has been told.
        let dueBy: Instant
        /// How long there was for it.
        let allowance: Milliseconds

        /// Whether most of the time for it has gone by.
        func isLate(at now: Instant) -> Bool {
            now >= dueBy - min(.days(1), Milliseconds(allowance.count / 3))
        }
    }

    /// By token.
    let questions: [Question]
    /// By token.
    let acknowledgements: [Acknowledgement]

    /// The earliest question; nil where there is nothing to ask about any more.
    var nextQuestion: Instant? { questions.map(\.at).min() }
}

/// What is remembered of asking that states nothing of a purchase, and so is no fact.
struct PlayMemory: Equatable {
    /// When an answer last said the same as the one before it.
    var confirmedAt: Instant?
    /// Tokens that the store does not know, or that nobody can ask about, since when.
    var settled: [PlayToken: Instant] = [:]
}

extension PlayPlan {
    init(_ words: PlayLineageWords, pace: Pace, _ memory: PlayMemory) {
        let rhythm = PlayRhythm(pace: pace)
        let tokens = words.tokens.sorted()
        questions = tokens.compactMap { token in
            guard let kind = words.kind(of: token),
                let at = Self.question(on: token, words, rhythm, memory)
            else { return nil }
            return Question(token: token, kind: kind, at: at)
        }
        acknowledgements = tokens.compactMap { Self.acknowledgement(of: $0, words) }
    }

    // MARK: When to ask

    private static func question(
        on token: PlayToken,
        _ words: PlayLineageWords,
        _ rhythm: PlayRhythm,
        _ memory: PlayMemory
    ) -> Instant? {
        let settledAt = memory.settled[token]
        guard let first = words.firstAsked[token] else {
            // It was told of, and nobody has asked yet.
            guard settledAt == nil else { return nil }
            return rhythm.delayed(.distantPast, by: words.failures, since: .distantPast)
        }
        guard !words.replaced.contains(token) else { return nil }
        let asked: Instant
        let next: Instant?
        if let read = words.subscriptions[token] {
            asked = max(read.askedAt, memory.confirmedAt ?? .distantPast)
            next = rhythm.next(read, askedAt: asked, first)
            if let settledAt, settledAt > read.askedAt {
                let end = read.items.compactMap(\.expiresAt).max() ?? .distantPast
                guard settledAt < end else { return nil }
                return next.map { max($0, settledAt + PlayRhythm.restOfUnknown) }
            }
        } else if let read = words.purchases[token] {
            guard settledAt == nil else { return nil }
            asked = max(read.askedAt, memory.confirmedAt ?? .distantPast)
            next = rhythm.next(read, askedAt: asked, first, voidedAt: words.voided[token])
        } else {
            return nil
        }
        return next.map { rhythm.delayed($0, by: words.failures, since: asked) }
    }

    // MARK: What to acknowledge

    /// Only what was granted can be acknowledged, and renewals need none: the store says so of each.
    private static func acknowledgement(
        of token: PlayToken,
        _ words: PlayLineageWords
    ) -> Acknowledgement? {
        guard let first = words.firstAsked[token], !words.replaced.contains(token) else {
            return nil
        }
        if let read = words.subscriptions[token] {
            guard read.isAcknowledged == false, read.isPaid, read.state != .expired,
                let item = read.items.first
            else { return nil }
            let begun = read.startedAt ?? first
            let allowance = Self.allowance(isTest: read.isTest, item, from: begun)
            return Acknowledgement(
                token: token,
                kind: .subscription,
                productId: item.productId,
                dueBy: begun + allowance,
                allowance: allowance
            )
        }
        guard let read = words.purchases[token], read.isAcknowledged == false,
            read.state == .purchased, let item = read.items.first
        else { return nil }
        let allowance = Self.allowance(isTest: read.isTest, nil, from: first)
        return Acknowledgement(
            token: token,
            kind: .product,
            productId: item.productId,
            dueBy: (read.completedAt ?? first) + allowance,
            allowance: allowance
        )
    }

    /// How long the store waits: three days; of a licence tester five minutes; of a prepaid plan shorter
    /// than a week half its length.
    /// https://developer.android.com/google/play/billing/integrate#process
    private static func allowance(
        isTest: Bool,
        _ item: PlayItem?,
        from begun: Instant
    ) -> Milliseconds {
        if isTest { return .minutes(5) }
        if let item, case .prepaid = item.plan, let end = item.expiresAt, end > begun,
            end - begun < .days(7)
        {
            return Milliseconds((end - begun).count / 2)
        }
        return .days(3)
    }
}
