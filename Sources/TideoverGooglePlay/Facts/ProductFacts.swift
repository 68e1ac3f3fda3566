package import TideoverCore

extension PlayReader {
    /// Reads the response for a one-time purchase.
    package func read(
        _ purchase: ProductPurchaseV2,
        of purchaseToken: String,
        _ exchange: StoreExchange,
        chains: PlayChains = PlayChains()
    ) throws(PlayRefusal) -> PlayReading {
        guard let state = purchase.purchaseState else { throw .missingMember("purchaseState") }
        let environment = try app.environment(ofTest: purchase.isTestPurchase)
        let token = name(purchaseToken)
        let lineage = chains.lineage(of: token, replacing: nil, in: environment)
        let said = exchange.inquiredAt
        let read = PlayPurchase(
            token: token,
            askedAt: exchange.askedAt,
            state: PlayPurchase.State(state),
            items: purchase.productLineItem.map(PlayPurchase.Item.init),
            orderId: purchase.orderId,
            completedAt: purchase.purchaseCompletionTime,
            isAcknowledged: purchase.acknowledgementState?.isAcknowledged,
            isTest: purchase.isTestPurchase,
            region: purchase.regionCode,
            accountId: purchase.obfuscatedExternalAccountId.flatMap { CustomerID(ofAccount: $0) }
        )
        let words = purchase.unrecognised.map { Statement(lineage, .unrecognised($0), at: said) }
        let statements = [Statement(lineage, .playPurchase(read), at: said)] + words
        return PlayReading(environment, rank: .store, source: .playAPI, statements)
    }

    /// Reads a list of voided orders. The list does not identify licence testers. Unless the
    /// token's environment is known, the usual environment applies.
    package func read(
        _ orders: [VoidedPurchase],
        chains: PlayChains = PlayChains()
    ) -> PlayReading {
        let environment = app.usualEnvironment
        var statements: [Statement] = []
        for order in orders {
            let token = name(order.purchaseToken)
            let own = chains[token]?.environment ?? environment
            let lineage = chains.lineage(of: token, replacing: nil, in: own)
            let date = order.voidedTime
            // The date is the store's, so reading a list again adds nothing new.
            let void = PlayVoidedOrder(
                token: token,
                orderId: order.orderId,
                date: date,
                isPartial: order.voidedQuantity != nil,
                reason: order.voidedReason?.raw
            )
            statements.append(Statement(lineage, .playVoidedOrder(void), at: date))
            let words = [
                order.voidedReason.unrecognised(as: "voidedReason"),
                order.voidedSource.unrecognised(as: "voidedSource"),
            ].compactMap { $0 }
            statements += words.map { Statement(lineage, .unrecognised($0), at: date) }
        }
        return PlayReading(environment, rank: .store, source: .playAPI, statements)
    }
}

extension PlayPurchase.State {
    fileprivate init(_ word: OpenEnum<ProductPurchaseV2.State>) {
        self =
            switch word.known {
            case .purchased: .purchased
            case .cancelled: .cancelled
            case .pending: .pending
            case nil: .unrecognised(word.raw)
            }
    }
}

extension PlayPurchase.Item {
    fileprivate init(_ item: ProductPurchaseV2.LineItem) {
        self.init(
            productId: item.productId,
            isConsumed: item.consumptionState?.known == .consumed,
            quantity: item.quantity,
            refundableQuantity: item.refundableQuantity
        )
    }
}

extension ProductPurchaseV2 {
    /// The values that this version does not know, without duplicates.
    fileprivate var unrecognised: [Unrecognised] {
        let words =
            [
                purchaseState.unrecognised(as: "purchaseState"),
                acknowledgementState.unrecognised(as: "acknowledgementState"),
            ] + productLineItem.map { $0.consumptionState.unrecognised(as: "consumptionState") }
        let all = words.compactMap { $0 }
        return all.indices.filter { !all[..<$0].contains(all[$0]) }.map { all[$0] }
    }
}
