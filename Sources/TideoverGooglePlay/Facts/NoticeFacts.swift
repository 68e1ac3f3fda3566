import TideoverCore

extension PlayReader {
    /// Returns the facts presumed from a notification's type alone. An unknown type changes
    /// nothing.
    func presume(
        _ notification: DeveloperNotification,
        at said: Instant,
        _ chains: PlayChains
    ) -> PlayReading {
        let token = notification.purchaseToken.map(name)
        // A notification does not identify licence testers. Unless the token's environment is
        // known, the usual environment applies.
        let known = token.flatMap { chains[$0]?.environment }
        let environment = known ?? app.usualEnvironment
        var statements: [Statement] = []
        if let token {
            let lineage = chains.lineage(of: token, replacing: nil, in: environment)
            statements = notification.presumptions(about: token, at: said)
                .map { Statement(lineage, $0, at: said) }
        }
        return PlayReading(environment, rank: .inferred, source: .playNotification, statements)
    }
}

extension DeveloperNotification {
    fileprivate func presumptions(about token: PlayToken, at said: Instant) -> [Assertion] {
        switch content {
        case .subscription(let notice): notice.presumptions(about: token, at: said)
        case .oneTimeProduct(let notice): notice.presumptions(about: token)
        case .voidedPurchase(let order): order.presumptions(about: token, at: said)
        case .pendingRefundReview, .test, nil: []
        }
    }
}

extension DeveloperNotification.Subscription {
    fileprivate func presumptions(about token: PlayToken, at said: Instant) -> [Assertion] {
        guard let kind = notificationType?.known else {
            let field = "subscriptionNotification.notificationType"
            return [notificationType.unrecognised(as: field)].compactMap { $0 }
                .map(Assertion.unrecognised)
        }
        let notice = PlayNotice(token: token, kind: .init(kind), productId: subscriptionId)
        guard kind == .revoked else { return [.playNotice(notice)] }
        // An early revocation implies a refund.
        return [.playNotice(notice), .playVoidedOrder(PlayVoidedOrder(token: token, date: said))]
    }
}

extension DeveloperNotification.OneTimeProduct {
    fileprivate func presumptions(about token: PlayToken) -> [Assertion] {
        guard let kind = notificationType?.known else {
            let field = "oneTimeProductNotification.notificationType"
            return [notificationType.unrecognised(as: field)].compactMap { $0 }
                .map(Assertion.unrecognised)
        }
        return [.playNotice(PlayNotice(token: token, kind: .init(kind), productId: sku))]
    }
}

extension DeveloperNotification.VoidedPurchase {
    /// Unknown product or refund types change nothing.
    fileprivate func presumptions(about token: PlayToken, at said: Instant) -> [Assertion] {
        let words = [
            productType.unrecognised(as: "voidedPurchaseNotification.productType"),
            refundType.unrecognised(as: "voidedPurchaseNotification.refundType"),
        ].compactMap { $0 }
        guard words.isEmpty else { return words.map(Assertion.unrecognised) }
        let order = PlayVoidedOrder(
            token: token,
            orderId: orderId,
            date: said,
            isPartial: refundType?.known == .quantityBasedPartial
        )
        return [.playVoidedOrder(order)]
    }
}

extension PlayNotice.Kind {
    /// Returns the kind for each type that Google documents.
    fileprivate init(_ type: DeveloperNotification.SubscriptionType) {
        self =
            switch type {
            case .recovered: .recovered
            case .renewed: .renewed
            case .canceled: .cancelled
            case .purchased: .purchased
            case .onHold: .onHold
            case .inGracePeriod: .inGrace
            case .restarted: .restarted
            case .priceChangeConfirmed, .priceChangeUpdated, .priceStepUpConsentUpdated:
                .priceChanged
            case .deferred: .deferred
            case .paused: .paused
            case .pauseScheduleChanged: .pauseScheduled
            case .revoked: .revoked
            case .expired: .expired
            case .itemsChanged: .itemsChanged
            case .cancellationScheduled: .cancellationScheduled
            case .pendingPurchaseCanceled: .pendingCancelled
            }
    }

    fileprivate init(_ type: DeveloperNotification.OneTimeProductType) {
        self =
            switch type {
            case .purchased: .oneTimePurchased
            case .canceled: .oneTimeCancelled
            }
    }
}
