import TideoverCore

extension RevenueCatSubscriber {
    /// Returns the statements of a response about the purchases in the given environments, with the
    /// response's date.
    func relayed(
        to customer: CustomerID?,
        in environments: [Environment],
        catalogue: Catalogue
    ) -> RelayedStatements {
        var all = RelayedStatements(notes: leftOut.map { .leftOut($0) })
        for subscription in subscriptions {
            let environment = environments.place(
                of: subscription.isSandbox ? .sandbox : .production
            )
            guard environments.contains(environment) else {
                all.leaveOut(environment, outside: environments)
                continue
            }
            all += relayed(subscription, to: customer, in: environment, catalogue)
        }
        for purchase in purchases {
            let environment = environments.place(of: purchase.isSandbox ? .sandbox : .production)
            guard environments.contains(environment) else {
                all.leaveOut(environment, outside: environments)
                continue
            }
            all += purchase.relayed(in: environment, at: requestDate, catalogue: catalogue)
        }
        return all
    }

    private func relayed(
        _ subscription: RevenueCatSubscription,
        to customer: CustomerID?,
        in environment: Environment,
        _ catalogue: Catalogue
    ) -> RelayedStatements {
        let isGift =
            subscription.store.known == .promotional
            || subscription.periodType?.known == .promotional
        return isGift
            ? gift(subscription, to: customer, in: environment)
            : subscription.relayed(in: environment, at: requestDate, catalogue)
    }

    /// Returns the statements of a promotional grant. Its entitlements are those that list its
    /// product, or else the one in the product ID.
    private func gift(
        _ subscription: RevenueCatSubscription,
        to customer: CustomerID?,
        in environment: Environment
    ) -> RelayedStatements {
        let concluded = entitlements.filter { $0.productId == subscription.productId }.map(\.name)
        let names =
            concluded.isEmpty
            ? promotedEntitlement(subscription.productId).map { [$0] } ?? [] : concluded
        guard let id = subscription.transactionId, let customer,
            !names.isEmpty
        else {
            let missing = [
                subscription.transactionId == nil ? "store_transaction_id" : nil,
                customer == nil ? "original_app_user_id" : nil,
                names.isEmpty ? "entitlement" : nil,
            ].compactMap(\.self)
            return RelayedStatements(notes: [
                .incomplete(product: subscription.productId, missing: missing)
            ])
        }
        return RelayedStatements(
            statements: names.map { entitlement in
                Statement(
                    gift: "promotional:\(id):\(entitlement)",
                    in: environment,
                    of: entitlement,
                    to: customer,
                    from: subscription.purchasedAt,
                    until: subscription.refundedAt ?? subscription.expiresAt,
                    at: requestDate
                )
            }
        )
    }
}

extension RevenueCatSubscription {
    fileprivate func relayed(
        in environment: Environment,
        at asked: Instant,
        _ catalogue: Catalogue
    ) -> RelayedStatements {
        guard let store = store.known else {
            return RelayedStatements(notes: [.unknownStore(self.store.raw)])
        }
        // The response has only the newest transaction; `StoreChains` finds the lineage.
        let lineage = Lineage(
            relayedFrom: store,
            in: environment,
            original: nil,
            transaction: transactionId,
            ownership: ownership?.known == .familyShared ? .familyShared : .purchased
        )
        guard let lineage, let transactionId, let end = expiresAt else {
            let missing = transactionId == nil ? "store_transaction_id" : "expires_date"
            return RelayedStatements(notes: [.incomplete(product: productId, missing: [missing])])
        }
        let isPrepaid = periodType?.known == .prepaid
        let term = Term(
            transactionId: transactionId,
            productId: store.productId(of: productId, plan: plan, in: catalogue),
            plan: isPrepaid ? .nonRenewing : .autoRenewable,
            start: purchasedAt,
            end: end,
            offer: periodType?.known?.offer
        )
        var all = RelayedStatements(statements: words(on: term, of: lineage, at: asked))
        if !isPrepaid { all.statements += outlook(on: term, of: lineage, at: asked) }
        all.statements += unrecognised.map {
            Statement(lineage, .unrecognised($0), at: asked)
        }
        return all
    }

    /// A refunded term has the date of its purchase. Its dates may be those of the refund, and must
    /// not count as a read without a refund.
    private func words(
        on term: Term,
        of lineage: Lineage,
        at asked: Instant
    ) -> [Statement] {
        guard let refundedAt else {
            return [Statement(lineage, .term(term), from: term.start, at: asked)]
        }
        let revocation = Revocation(term: term.key, date: refundedAt, cause: .refund)
        return [
            Statement(lineage, .term(term), from: term.start, at: min(term.start, asked)),
            Statement(lineage, .revocation(revocation), from: refundedAt, at: asked),
        ]
    }

    /// Grace ends only at its own date, not at the end of the period.
    private func outlook(
        on term: Term,
        of lineage: Lineage,
        at asked: Instant
    ) -> [Statement] {
        let isFailing = billingIssueAt != nil
        // RevenueCat reports a failed payment as not renewing, but the store retries the payment.
        let willRenew: Bool? = unsubscribedAt != nil ? false : isFailing ? nil : true
        // A pause begins at the end of the term, so an earlier date is of a pause that is over.
        let resumesAt = autoResumesAt.flatMap { $0 > term.end ?? .distantFuture ? $0 : nil }
        let outlook = Outlook(
            renewalDate: term.end,
            productId: term.productId,
            willRenew: willRenew,
            isRetrying: isFailing,
            graceEnd: gracePeriodExpiresAt,
            lapse: resumesAt == nil ? nil : .paused,
            resumesAt: resumesAt
        )
        var words = [Statement(lineage, .outlook(outlook), at: asked)]
        if isFailing, unsubscribedAt == nil {
            let status: Condition.Status = gracePeriodExpiresAt == nil ? .retry : .grace
            let condition = Condition(status: status, renewalDate: term.end)
            words.append(Statement(lineage, .condition(condition), at: asked))
        }
        return words
    }
}

extension RevenueCatPurchase {
    fileprivate func relayed(
        in environment: Environment,
        at asked: Instant,
        catalogue: Catalogue
    ) -> RelayedStatements {
        guard let store = store.known else {
            return RelayedStatements(notes: [.unknownStore(self.store.raw)])
        }
        let lineage = Lineage(
            relayedFrom: store,
            in: environment,
            original: nil,
            transaction: transactionId,
            ownership: .purchased
        )
        guard let lineage, let transactionId else {
            return RelayedStatements(notes: [
                .incomplete(product: productId, missing: ["store_transaction_id"])
            ])
        }
        let product = store.productId(of: productId, in: catalogue)
        let term = Term(
            transactionId: transactionId,
            productId: product,
            plan: catalogue.plan(ofNonRenewing: product, endingAt: nil),
            start: purchasedAt,
            end: nil,
            origin: .purchase
        )
        let statement = Statement(lineage, .term(term), from: purchasedAt, at: asked)
        return RelayedStatements(statements: [statement])
    }
}

extension RelayedStatements {
    fileprivate static func += (all: inout RelayedStatements, more: RelayedStatements) {
        all.statements += more.statements
        all.notes += more.notes
    }

    fileprivate mutating func leaveOut(_ found: Environment, outside accepted: [Environment]) {
        notes.append(.leftOut(.wrongEnvironment(accepted: accepted, found: found)))
    }
}
