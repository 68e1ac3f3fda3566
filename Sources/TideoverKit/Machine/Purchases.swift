import TideoverCore

// Accepts, stores and finishes transactions.

extension EntitlementMachine {
    mutating func update(_ purchase: SignedPurchase) -> [Action] {
        take(purchase)
        return beginRound()
    }

    /// How long a purchase is shown as waiting for approval.
    static let patience = Milliseconds.days(7)

    mutating func endPurchase(
        of productId: String,
        _ result: PurchaseResult,
        at reading: ClockReading
    ) -> [Action] {
        switch result {
        case .bought(let purchase): take(purchase)
        case .pending:
            let end = clock.now(reading) + Self.patience
            kept.waiting.removeAll { $0.productId == productId }
            kept.waiting.append(WaitingPurchase(productId: productId, until: end))
        // StoreKit has reported paid purchases as cancelled: the store is read again in any case.
        case .cancelled, .failed: break
        }
        return beginRound()
    }

    /// Accepts a transaction that must be finished.
    mutating func take(_ purchase: SignedPurchase) {
        let id = purchase.transactionId
        kept.waiting.removeAll { $0.productId == purchase.productId }
        if let known = unfinished[id] {
            // A later document of a transaction, such as a refund, was not sent with the first.
            if known.purchase.jws != purchase.jws { committed.remove(id) }
            unfinished[id]?.purchase = purchase
        } else {
            let needsDelivery = purchase.isConsumable && settings.server == nil
            unfinished[id] = Unfinished(purchase: purchase, isDelivered: !needsDelivery)
        }
        guard purchase.isVerified else { return }
        enqueue(purchase)
        facts = nil
    }

    /// Adds each document to the queue once. A full queue accepts no more: the store keeps
    /// unfinished transactions and offers them again.
    private mutating func enqueue(_ purchase: SignedPurchase) {
        guard kept.queue.count < settings.capacity,
            !kept.queue.contains(where: { $0.purchase.jws == purchase.jws })
        else { return }
        kept.queue.append(QueuedPurchase(purchase, of: settings.customer))
    }

    /// Whether a transaction may be finished.
    private func isAccepted(_ entry: Unfinished) -> Bool {
        if committed.contains(entry.purchase.transactionId) { return true }
        // The store keeps no history of a used consumable, so that the queue has the only copy.
        if entry.purchase.isConsumable, settings.server != nil, !settings.isFileLasting {
            return false
        }
        return entry.purchase.isVerified && entry.isDelivered
            && durable.contains(entry.purchase.jws)
            && kept.queue.contains { $0.purchase.jws == entry.purchase.jws }
    }

    mutating func finishWhatIsAccepted() -> [Action] {
        let ready = unfinished.filter { !$0.value.isFinishing && isAccepted($0.value) }.keys
            .sorted()
        for id in ready { unfinished[id]?.isFinishing = true }
        return ready.map { .finish(transactionId: $0) }
    }

    mutating func finished(_ id: UInt64) -> [Action] {
        unfinished[id] = nil
        finishedInRound.insert(id)
        // Without a server, the store's history contains it from now on.
        if settings.server == nil { kept.queue.removeAll { $0.purchase.transactionId == id } }
        return []
    }

    mutating func delivered(_ id: UInt64) -> [Action] {
        unfinished[id]?.isDelivered = true
        return []
    }

    /// Whether a purchase is presented as this customer's. Another customer of this app bought the
    /// rest.
    func isOwn(_ queued: QueuedPurchase) -> Bool {
        queued.customer.map { $0 == settings.customer } ?? true
    }

    /// Verified purchases that no response of the server includes yet.
    var unanswered: [SignedPurchase] {
        let waiting = unfinished.values.map(\.purchase).filter {
            $0.isVerified && !committed.contains($0.transactionId)
        }
        let documents = kept.documents
        let rest = waiting.filter { !documents.contains($0.jws) }
        return kept.queue.filter(isOwn).map(\.purchase)
            + rest.sorted { $0.transactionId < $1.transactionId }
    }

    /// Queued purchases that no answer of the server can include: none of their documents was in a
    /// round that ended with an answer.
    var unseen: Set<UInt64> {
        Set(kept.queue.filter { isOwn($0) && !$0.isAnswered }.map(\.purchase.transactionId))
            .subtracting(committed)
    }

    /// Consumables that the app must deliver, if there is no server.
    var undelivered: [SignedPurchase] {
        unfinished.values.filter { !$0.isDelivered && durable.contains($0.purchase.jws) }
            .map(\.purchase).sorted { $0.transactionId < $1.transactionId }
    }
}
