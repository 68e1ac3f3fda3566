import TideoverCore
import TideoverGooglePlay

/// The queries and acknowledgements for one Google Play lineage, and their times. It depends only
/// on stored data, so it is the same after a restart.
struct PlayPlan: Equatable {
    /// A purchase token to query, and when.
    struct Question: Equatable {
        let token: PlayToken
        let kind: PlayRead.Kind
        let at: Instant
    }

    /// A purchase to acknowledge at the store.
    struct Acknowledgement: Equatable {
        let token: PlayToken
        let kind: PlayRead.Kind
        /// Any one of the purchase's products.
        let productId: String
        /// When the store refunds it if it is not acknowledged.
        let dueBy: Instant
        /// The time that was available for it.
        let allowance: Milliseconds

        /// Returns whether most of the time has passed.
        func isLate(at now: Instant) -> Bool {
            now >= dueBy - min(.days(1), Milliseconds(allowance.count / 3))
        }
    }

    /// The queries, by token.
    let questions: [Question]
    /// The acknowledgements, by token.
    let acknowledgements: [Acknowledgement]

    /// The earliest query; nil if none remains.
    var nextQuestion: Instant? { questions.map(\.at).min() }
}

/// Stored information about queries that says nothing about a purchase, and so is not a fact.
struct PlayMemory: Equatable {
    /// When a response about a token last repeated the previous one.
    var confirmed: [PlayToken: Instant] = [:]
    /// Tokens that the store does not know, or that cannot be queried, and since when.
    var settled: [PlayToken: Instant] = [:]
    /// When a query last failed without a fact of it.
    var failed: Instant?
}

extension PlayPlan {
    init(_ words: PlayLineageWords, pace: Pace, _ memory: PlayMemory) {
        let pollSchedule = PollSchedule(pace: pace)
        let tokens = words.tokens.sorted()
        let failures = (words.failures + [memory.failed].compactMap(\.self)).sorted()
        questions = tokens.compactMap { token in
            guard let kind = words.kind(of: token),
                let at = Self.question(on: token, words, pollSchedule, memory, failures)
            else { return nil }
            return Question(token: token, kind: kind, at: at)
        }
        acknowledgements = tokens.compactMap { Self.acknowledgement(of: $0, words) }
    }

    // MARK: Queries

    private static func question(
        on token: PlayToken,
        _ words: PlayLineageWords,
        _ pollSchedule: PollSchedule,
        _ memory: PlayMemory,
        _ failures: [Instant]
    ) -> Instant? {
        let settledAt = memory.settled[token]
        guard words.firstAsked[token] != nil else {
            // The token was reported but never queried.
            guard settledAt == nil else { return nil }
            return pollSchedule.delayed(.distantPast, by: failures, since: .distantPast)
        }
        guard !words.replaced.contains(token) else { return nil }
        let asked: Instant
        let next: Instant?
        if let read = words.subscriptions[token] {
            asked = max(read.askedAt, memory.confirmed[token] ?? .distantPast)
            next = pollSchedule.next(read, askedAt: asked)
            if let settledAt, settledAt > read.askedAt {
                let end = read.items.compactMap(\.expiresAt).max() ?? .distantPast
                guard settledAt < end else { return nil }
                return next.map { max($0, settledAt + PollSchedule.restOfUnknown) }
            }
        } else if let read = words.purchases[token] {
            guard settledAt == nil else { return nil }
            asked = max(read.askedAt, memory.confirmed[token] ?? .distantPast)
            next = pollSchedule.next(read, askedAt: asked, voidedAt: words.voided[token])
        } else {
            return nil
        }
        return next.map { pollSchedule.delayed($0, by: failures, since: asked) }
    }

    // MARK: Acknowledgements

    /// Returns the acknowledgement of a token. Only granted purchases can be acknowledged, and
    /// renewals need none; the store states this for each.
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

    /// How long the store waits: three days; for a licence tester five minutes; for a prepaid plan
    /// shorter than a week half its length.
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
