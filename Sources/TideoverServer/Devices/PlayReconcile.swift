import TideoverCore
import TideoverGooglePlay
import TideoverStorage

/// Queries Google Play about the purchases that a device presents, and stores the responses.
/// Without a service account it stores the product that the device states for a token.
struct PlayReconcile: Sendable {
    let context: AppContext
    let trust: PlayTrust
    /// Limits the rate of queries that devices cause for the app.
    let limiter: RequestLimiter
    /// Whether only tokens of stored purchases are queried, because the sender is beyond its
    /// budget.
    let onlyKnown: Bool

    /// How long a response is valid for further requests with the same token, and how long none is
    /// sent after a failed query about a stored purchase.
    static let rest = Milliseconds.minutes(1)
    /// How long to wait after throttling, if the store states no time.
    private static let pause = Milliseconds.seconds(10)

    private var app: App { context.app }
    private var playLookup: PlayLookup { PlayLookup(context: context, trust: trust) }

    /// The result for one purchase, before it is stored.
    struct Asked: Sendable {
        let item: DeviceItem
        fileprivate let finding: Result<Finding, any Error>
    }

    fileprivate enum Finding: Sendable {
        /// The store was queried recently, or there is no service account.
        case known(AcceptedItem)
        case answered(PlayLookup.Answers)
    }

    /// Queries one purchase, unless that was done recently. A failure becomes the outcome of the
    /// piece.
    func ask(
        _ item: DeviceItem,
        _ presented: Result<PresentedPurchase, DeviceRefusal>
    ) async -> Asked {
        do {
            return Asked(item: item, finding: .success(try await find(try presented.get())))
        } catch {
            return Asked(item: item, finding: .failure(error))
        }
    }

    private func find(_ purchase: PresentedPurchase) async throws -> Finding {
        guard purchase.packageName ?? app.packageName == app.packageName else {
            throw DeviceRefusal.otherPackage
        }
        let known = try await known(purchase)
        guard trust.api != nil else { return .known(try await presume(purchase, known)) }
        let now = context.clock()
        if let known, let read = known.latestRead {
            let answeredAt = max(read.learnedAt, try confirmedAt(purchase, known.lineage))
            if now < answeredAt + Self.rest {
                return .known(AcceptedItem(known.lineage, statedAt: read.assertedAt))
            }
        }
        if let known, let failedAt = try failedAt(known), now < failedAt + Self.rest {
            throw UnaskedPurchase.failedRecently
        }
        guard known != nil || !onlyKnown, try await limiter.admitSoon(.purchases) else {
            throw UnaskedPurchase.tooMany
        }
        do {
            return .answered(try await answers(about: purchase, known))
        } catch let failure as PlayAPIFailure {
            if failure.outcome == .throttled {
                await limiter.pause(until: failure.retryAt ?? now + Self.pause)
            }
            throw UnaskedPurchase.failed(failure)
        }
    }

    // MARK: Without a service account

    /// Accepts a purchase that a push has reported, as presumed. For others it stores the claim and
    /// the product, which take effect once a push reports the purchase. A device alone grants
    /// nothing.
    private func presume(
        _ purchase: PresentedPurchase,
        _ known: LineageRecord?
    ) async throws -> AcceptedItem {
        let token = trust.token(purchase.purchaseToken)
        let lineage =
            known?.lineage
            ?? Lineage(
                store: .googlePlay,
                environment: trust.identity.usualEnvironment,
                id: token.id
            )
        if known?.namesProduct != true {
            guard let product = listed(purchase) else { throw DeviceRefusal.storeNotAskable }
            guard known != nil || !onlyKnown, try await limiter.admitSoon(.purchases) else {
                throw UnaskedPurchase.tooMany
            }
            try await note(token, as: product, in: lineage)
        }
        return AcceptedItem(
            lineage,
            reportedAt: known?.facts.filter { !$0.isPresentation && $0.source != .operator }.map(
                \.assertedAt
            ).max(),
            isFirst: known == nil
        )
    }

    /// Returns the product that the device states, by its id in the catalogue.
    private func listed(_ purchase: PresentedPurchase) -> String? {
        guard let product = purchase.productId else { return nil }
        if let id = app.catalogue.id(of: PlayProduct(id: product, basePlan: purchase.basePlan)) {
            return id
        }
        let hasPlan = app.catalogue.products.keys.contains { $0.hasPrefix("\(product):") }
        return hasPlan ? product : nil
    }

    private func note(
        _ token: PlayToken,
        as product: String,
        in lineage: Lineage
    ) async throws {
        let now = context.clock()
        let record = PresentedRecord(token, as: product, in: lineage, at: now)
        let commitRequest = CommitRequest(
            app: app.id,
            environment: lineage.environment,
            evidence: record.evidence(of: token),
            facts: [record.fact],
            now: now
        )
        _ = try await context.commit(commitRequest)
    }

    /// Returns when a response last repeated the previous one about a purchase.
    private func confirmedAt(
        _ purchase: PresentedPurchase,
        _ lineage: Lineage
    ) throws(StorageError) -> Instant {
        let name = PlayPoller.confirmed(trust.token(purchase.purchaseToken), lineage)
        return try context.cursors(in: lineage.environment).instant(name) ?? .distantPast
    }

    /// Returns when a query about a purchase last failed, with a fact of it or without; nil for
    /// never.
    private func failedAt(_ known: LineageRecord) throws(StorageError) -> Instant? {
        let cursors = context.cursors(in: known.lineage.environment)
        let unstored = try cursors.instant(PlayPoller.failed(known.lineage))
        return [PlayLineageWords(known.facts).failures.last, unstored].compactMap(\.self).max()
    }

    private func known(_ purchase: PresentedPurchase) async throws -> LineageRecord? {
        let lineage = try await playLookup.lineage(of: trust.token(purchase.purchaseToken))
        let (storage, app) = (context.storage, app.id)
        return try await onPool { try lineage.map { try storage.lineageRecord($0, app: app) } }
    }

    // MARK: Queries

    /// Returns the store's response about a token. The store separates subscriptions and one-time
    /// purchases: unless it stated the kind, the other query follows if the likelier one finds
    /// nothing.
    private func answers(
        about purchase: PresentedPurchase,
        _ known: LineageRecord?
    ) async throws -> PlayLookup.Answers {
        var questions: [PlayNotification.Question] = [
            .subscription(token: purchase.purchaseToken), .product(token: purchase.purchaseToken),
        ]
        let kind = known.flatMap {
            PlayLineageWords($0.facts).kind(of: trust.token(purchase.purchaseToken))
        }
        if kind.map({ $0 == .product }) ?? isOneTime(purchase, known) { questions.reverse() }
        if kind != nil { questions.removeLast() }
        var answers = PlayLookup.Answers()
        for question in questions {
            do {
                try await playLookup.ask(question, &answers)
                return answers
            } catch let failure as PlayAPIFailure where failure.saysUnknown {
                continue
            }
        }
        throw DeviceRefusal.unknownPurchase
    }

    /// Returns whether a device names a one-time product, now or before the store could be queried.
    private func isOneTime(_ purchase: PresentedPurchase, _ known: LineageRecord?) -> Bool {
        let product = purchase.productId ?? known?.presentedProduct
        switch product.flatMap({ app.catalogue[$0] })?.kind {
        case .nonConsumable, .consumable: return true
        case .autoRenewable, .nonRenewing, nil: return false
        }
    }

    // MARK: Storage

    /// Stores the results of all queries. The responses are committed together, so that each
    /// customer is derived once.
    func keep(_ asked: [Asked]) async -> [KeptItem] {
        let now = context.clock()
        var kept: [KeptItem] = []
        var read: [ReadAnswer] = []
        for asked in asked {
            do {
                switch try asked.finding.get() {
                case .known(let accepted):
                    kept.append(KeptItem(item: asked.item, outcome: .success(accepted)))
                case .answered(let answers):
                    let answer = try self.read(answers, of: asked.item, at: now)
                    if try await isConfirmation(answer, answers) {
                        let accepted = AcceptedItem(answer.lineage, statedAt: answer.statedAt)
                        kept.append(KeptItem(item: asked.item, outcome: .success(accepted)))
                    } else {
                        read.append(answer)
                    }
                }
            } catch {
                kept.append(KeptItem(item: asked.item, outcome: .failure(error)))
            }
        }
        return kept + (await keep(read, at: now))
    }

    private struct ReadAnswer {
        let item: DeviceItem
        let answered: PlayLookup.Answered
        let lineage: Lineage
        let statedAt: Instant
    }

    private func read(
        _ answers: PlayLookup.Answers,
        of item: DeviceItem,
        at now: Instant
    ) throws -> ReadAnswer {
        let kept = PlayAnswers(answers.reads, chains: PlayChains(answers.chains))
        let evidence = Evidence(of: kept, at: now)
        let facts: [Fact]
        do {
            facts = try trust.reader.facts(in: kept, of: evidence)
        } catch .wrongEnvironment(let accepted, let found) {
            throw PlayRefusal.wrongEnvironment(accepted: accepted, found: found)
        } catch {
            throw UnaskedPurchase.notUnderstood(error)
        }
        guard let lineage = facts.first?.lineage, let said = facts.map(\.assertedAt).max() else {
            throw DeviceRefusal.unknownPurchase
        }
        return ReadAnswer(
            item: item,
            answered: PlayLookup.Answered(
                evidence: evidence,
                facts: facts,
                presumed: lineage.environment
            ),
            lineage: lineage,
            statedAt: said
        )
    }

    private func isConfirmation(
        _ answer: ReadAnswer,
        _ answers: PlayLookup.Answers
    ) async throws -> Bool {
        guard let exchange = answers.reads.last?.exchange else { return false }
        return try await playLookup.isConfirmation(
            answer.answered.facts,
            of: answer.lineage,
            exchange
        )
    }

    /// Commits all responses together; if the storage rejects the commit, each one separately.
    private func keep(_ read: [ReadAnswer], at now: Instant) async -> [KeptItem] {
        do {
            let outcomes = try await playLookup.keep(read.map(\.answered), at: now)
            return zip(read, outcomes).map { read, outcome in
                let isKnown = outcome == .duplicate
                let accepted = AcceptedItem(
                    read.lineage,
                    statedAt: read.statedAt,
                    isKnown: isKnown
                )
                return KeptItem(item: read.item, outcome: .success(accepted))
            }
        } catch {
            var kept: [KeptItem] = []
            for piece in read {
                guard (error as? StorageError)?.reason == .refused, read.count > 1 else {
                    kept.append(KeptItem(item: piece.item, outcome: .failure(error)))
                    continue
                }
                kept += await keep([piece], at: now)
            }
            return kept
        }
    }
}

/// A purchase that could not be queried now; nothing about it is known or lost.
enum UnaskedPurchase: Error {
    case failed(PlayAPIFailure)
    /// A query about the purchase failed a short time ago, so none was sent.
    case failedRecently
    /// The response lacks required data.
    case notUnderstood(PlayRefusal)
    /// Too many device queries are waiting.
    case tooMany

    /// A stable code.
    var code: String {
        switch self {
        case .failed(let failure): failure.code
        case .failedRecently: "failed-recently"
        case .notUnderstood: "store-answer-not-understood"
        case .tooMany: "too-many-questions"
        }
    }

    var sentence: String {
        switch self {
        case .failed(let failure): failure.sentence + " Present the purchase again."
        case .failedRecently:
            "A query to Google Play about this purchase failed less than a minute ago, so none was "
                + "sent. Present the purchase again in a minute."
        case .notUnderstood(let refusal):
            "Google Play's response is not understood. \(refusal.sentence) Present it again."
        case .tooMany: "Too many queries are in progress. Present it again."
        }
    }
}

extension PlayAPIFailure {
    /// Whether the store does not know the token; it may be a purchase of the other kind.
    fileprivate var saysUnknown: Bool {
        switch reason {
        case .notFound, .gone, .unaskable: true
        case .status(let status, _): status == 400
        default: false
        }
    }
}

extension App {
    fileprivate var packageName: String? { googlePlay?.identity.packageName }
}

extension LineageRecord {
    /// Whether a notification or a device named its product.
    fileprivate var namesProduct: Bool {
        facts.contains { fact in
            switch fact.assertion {
            case .playSubscription, .playPurchase: true
            case .playNotice(let notice): notice.productId != nil
            default: false
            }
        }
    }

    /// The product that a device named without an answer of the store.
    fileprivate var presentedProduct: String? {
        facts.lazy.compactMap { fact in
            if case .playNotice(let notice) = fact.assertion, notice.kind == .presented {
                notice.productId
            } else {
                nil
            }
        }.first
    }

    /// The store's most recently learned response.
    fileprivate var latestRead: Fact? {
        facts.filter { fact in
            switch fact.assertion {
            case .playSubscription, .playPurchase: true
            default: false
            }
        }.max { $0.learnedAt < $1.learnedAt }
    }
}
