package import TideoverCore

extension PlayReader {
    /// Reads the response for a subscription.
    package func read(
        _ purchase: SubscriptionPurchaseV2,
        of purchaseToken: String,
        _ exchange: StoreExchange,
        chains: PlayChains = PlayChains()
    ) throws(PlayRefusal) -> PlayReading {
        guard let state = purchase.subscriptionState else {
            throw .missingMember("subscriptionState")
        }
        let environment = try app.environment(ofTest: purchase.isTestPurchase)
        let token = name(purchaseToken)
        let replaced = purchase.linkedPurchaseToken.map(name)
        let lineage = chains.lineage(of: token, replacing: replaced, in: environment)
        let said = exchange.inquiredAt
        let subscription = PlaySubscription(
            token: token,
            askedAt: exchange.askedAt,
            state: PlaySubscription.State(state),
            items: purchase.lineItems.map { PlayItem($0, of: purchase) },
            startedAt: purchase.startTime,
            replaces: replaced,
            follows: purchase.outOfAppPurchaseContext?.expiredPurchaseToken.map(name),
            resumesAt: purchase.autoResumeTime,
            cancellation: purchase.canceledStateContext.map(PlaySubscription.Cancellation.init),
            cancelledAt: purchase.canceledStateContext?.cancelTime,
            isAcknowledged: purchase.acknowledgementState?.isAcknowledged,
            isTest: purchase.isTestPurchase,
            region: purchase.regionCode,
            accountId: purchase.accountId
        )
        var statements = [Statement(lineage, .playSubscription(subscription), at: said)]
        if let told = replacement(told: subscription, in: lineage, at: said, chains) {
            statements.append(told)
        }
        statements += purchase.unrecognised.map { Statement(lineage, .unrecognised($0), at: said) }
        return PlayReading(environment, rank: .store, source: .playAPI, statements)
    }

    /// Reads the response that a subscription ended too long ago. It states expiry; earlier reads
    /// stated its content. For an unknown token it states nothing.
    func ended(
        _ purchaseToken: String,
        _ exchange: StoreExchange,
        chains: PlayChains
    ) -> PlayReading {
        let token = name(purchaseToken)
        let statements = chains[token].map { lineage in
            let subscription = PlaySubscription(
                token: token,
                askedAt: exchange.askedAt,
                state: .expired
            )
            return [Statement(lineage, .playSubscription(subscription), at: exchange.inquiredAt)]
        }
        return PlayReading(
            chains[token]?.environment ?? app.usualEnvironment,
            rank: .store,
            source: .playAPI,
            statements ?? []
        )
    }

    /// Reports a replacement to the replaced token's lineage, if that is another one. Within one
    /// lineage the read itself states it. An unpaid subscription replaces nothing.
    private func replacement(
        told read: PlaySubscription,
        in lineage: Lineage,
        at said: Instant,
        _ chains: PlayChains
    ) -> Statement? {
        guard let replaced = read.replaces, read.state.isPaid else { return nil }
        let other = chains.lineage(of: replaced, replacing: nil, in: lineage.environment)
        guard other != lineage else { return nil }
        let from = read.startedAt ?? said
        let replacement = PlayReplacement(token: replaced, by: read.token, from: from)
        return Statement(other, .playReplacement(replacement), from: from, at: said)
    }
}

extension PlaySubscription.State {
    fileprivate init(_ word: OpenEnum<SubscriptionPurchaseV2.State>) {
        self =
            switch word.known {
            case .pending: .pending
            case .active: .active
            case .paused: .paused
            case .inGracePeriod: .inGrace
            case .onHold: .onHold
            case .canceled: .cancelled
            case .expired: .expired
            case .pendingPurchaseCanceled: .pendingCancelled
            case nil: .unrecognised(word.raw)
            }
    }

    fileprivate var isPaid: Bool {
        switch self {
        case .active, .paused, .inGrace, .onHold, .cancelled, .expired: true
        case .pending, .pendingCancelled, .unrecognised: false
        }
    }
}

extension PlaySubscription.Cancellation {
    fileprivate init(_ context: SubscriptionPurchaseV2.CanceledStateContext) {
        self =
            switch context {
            case .user: .customer
            case .system: .system
            case .developer: .developer
            case .replacement: .replacement
            case .unrecognised(let name): .unrecognised(name)
            }
    }
}

extension SubscriptionPurchaseV2.CanceledStateContext {
    fileprivate var cancelTime: Instant? {
        if case .user(let time, _) = self { time } else { nil }
    }
}

extension OpenEnum<AcknowledgementState> {
    /// Nil for a value that this version does not know.
    var isAcknowledged: Bool? {
        switch known {
        case .acknowledged: true
        case .pending: false
        case nil: nil
        }
    }
}

extension SubscriptionPurchaseV2 {
    /// The buyer as the app named them. For a purchase from outside of the app, the buyer of the
    /// expired subscription.
    fileprivate var accountId: CustomerID? {
        let former = outOfAppPurchaseContext?.expiredExternalAccountIdentifiers
        return [externalAccountIdentifiers, former].compactMap { $0?.obfuscatedExternalAccountId }
            .lazy.compactMap { CustomerID(ofAccount: $0) }.first
    }

    /// The values that this version does not know, without duplicates.
    fileprivate var unrecognised: [Unrecognised] {
        var words = [
            subscriptionState.unrecognised(as: "subscriptionState"),
            acknowledgementState.unrecognised(as: "acknowledgementState"),
        ]
        switch canceledStateContext {
        case .user(_, let reason):
            words.append(reason.unrecognised(as: "cancelSurveyResult.reason"))
        case .unrecognised(let name):
            words.append(Unrecognised(field: "canceledStateContext", value: name))
        case .system, .developer, .replacement, nil: break
        }
        words += lineItems.flatMap(\.unrecognised)
        let all = words.compactMap { $0 }
        return all.indices.filter { !all[..<$0].contains(all[$0]) }.map { all[$0] }
    }
}
