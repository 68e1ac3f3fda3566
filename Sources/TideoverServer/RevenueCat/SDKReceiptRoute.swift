import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverRevenueCat
import TideoverSignatures
import TideoverStorage

// A receipt goes the way of a device's reconcile. Afterwards the SDK finishes the purchase after a
// 4xx and keeps it after a 5xx, so a 4xx is only for what can never become valid.

extension SDKVisit {
    /// Answers `POST /v1/receipts`: stores and claims a purchase, and returns the customer info
    /// with it. The device unlocks by this body.
    func receipt() async throws -> Response {
        let deadline = ContinuousClock.now + service.receiptTime
        let receipt = try SDKReceipt(request.body, from: store)
        guard receipt.user.customer.isStorable else { throw SDKError.invalidUserID }
        if let evidence = try evidence(of: receipt) {
            try await take(evidence, of: receipt, by: deadline)
        }
        try await noteOrigin(receipt)
        let faults = try await keepAttributes(of: receipt)
        let answer = try await answer(about: receipt.user)
        return SDKResponse(at: answer.now).json { writer in
            answer.write(to: &writer)
            if !faults.isEmpty {
                writer.field(
                    "attributes_error_response",
                    object: { SDKError.writeAttributeErrors(faults, to: &$0) }
                )
            }
            guard receipt.evidence != .nothing else { return }
            SDKCatalogue(app.catalogue, in: store)
                .writeConsumption(of: receipt.products, to: &writer)
        }
    }

    /// Stores the attributes that come with a receipt and returns why others were not. The purchase
    /// counts more: it is answered even if the sender may store no more attributes now.
    private func keepAttributes(of receipt: SDKReceipt) async throws -> [String: String] {
        guard let stated = receipt.attributes else { return [:] }
        do {
            return try await keep(stated, of: receipt.user)
        } catch is Problem {
            return stated.values.mapValues { _ in "Not stored. Try again later." }
        }
    }

    /// Returns what a device presents as evidence; nil if it has no purchase.
    private func evidence(of receipt: SDKReceipt) throws -> DeviceEvidence? {
        let kind: DeviceItem.Kind
        let piece: JSONValue
        switch receipt.evidence {
        case .nothing: return nil
        case .transaction(let text): (kind, piece) = (.transaction, .string(text))
        case .receipt(let text): (kind, piece) = (.receipt, .string(text))
        case .purchaseToken(let token):
            var purchase: JSONObject = ["store": "google", "purchaseToken": .string(token)]
            purchase["productId"] = receipt.products.first.map { .string($0) }
            purchase["basePlanId"] = receipt.basePlan.map { .string($0) }
            (kind, piece) = (.purchase, .object(purchase))
        }
        do {
            let document = try JSONDocument(piece.encoded(), limits: .storeAnswer)
            return DeviceEvidence(kind, document.root)
        } catch {
            throw SDKError.tryLater("The receipt is too large.")
        }
    }

    /// Stores and claims what a receipt presents. A client that waited until the deadline presents
    /// it again; what is stored by then counts once.
    private func take(
        _ evidence: DeviceEvidence,
        of receipt: SDKReceipt,
        by deadline: ContinuousClock.Instant
    ) async throws {
        let customer = receipt.user.customer
        let route = ReconcileRoute(context: context, clients: service.clients)
        let request = request
        let taken = try await result(by: deadline) {
            try await route.take(evidence, from: request, for: customer)
        }
        guard let taken else { throw Self.unasked }
        for item in taken.kept.items {
            let accepted = try accepted(item)
            try await settle(accepted, taken.rulings, for: receipt)
            try await noteOrigin(accepted, of: customer)
            if receipt.wantsWholeAccount, store == .appStore {
                try await restoreAccount(of: accepted, for: customer, by: deadline)
            }
        }
    }

    /// Settles the refused purchases of an item. A receipt of StoreKit 1 has all purchases of a
    /// store account, so those of other customers in it are no error beside the presenter's own.
    /// A restore states a product, too, but asks for every purchase.
    private func settle(
        _ accepted: AcceptedItem,
        _ rulings: [Lineage: ClaimRuling],
        for receipt: SDKReceipt
    ) async throws {
        let presented = accepted.lineages(
            of: receipt.wantsWholeAccount ? [] : receipt.products
        )
        var refusals: [SDKError] = []
        for lineage in accepted.lineages {
            if case .refused(let objection) = rulings[lineage],
                let error = try await settle(objection, to: lineage, for: receipt)
            {
                if presented.contains(lineage) { refusals.append(error) }
                continue
            }
            guard try await !isUnpaid(receipt, in: lineage) else {
                throw SDKError.tryLater("The purchase awaits its payment.")
            }
        }
        if let error = refusals.first, refusals.count == presented.count { throw error }
    }

    /// Gives a purchase to its presenter after all if the store names an account of the SDK.
    /// Returns why it stays with another customer; nil if it does not.
    private func settle(
        _ refusal: ClaimRuling.Objection,
        to lineage: Lineage,
        for receipt: SDKReceipt
    ) async throws -> SDKError? {
        let customer = receipt.user.customer
        var objection = refusal
        if refusal == .namedByStore, lineage.store == .googlePlay {
            if try await adopts(lineage, customer) { return nil }
            switch try await claimUnnamed(lineage, customer) {
            case .granted, .held: return nil
            case .refused(let other): objection = other
            case nil: break
            }
        }
        if receipt.isRestore, try await restores(lineage, customer, objection) { return nil }
        return SDKError(objection)
    }

    /// Returns whether Google Play's newest response about the presented token reports an
    /// outstanding payment. A replacement that awaits its payment is in the lineage of the
    /// subscription that is to be replaced.
    private func isUnpaid(_ receipt: SDKReceipt, in lineage: Lineage) async throws -> Bool {
        guard lineage.store == .googlePlay, case .purchaseToken(let text) = receipt.evidence,
            let token = app.googlePlay?.token(text)
        else { return false }
        let facts = try await onPool {
            try context.storage.lineageRecord(lineage, app: app.id).facts
        }
        let reads = facts.compactMap { fact -> (at: Instant, isPending: Bool)? in
            switch fact.assertion {
            case .playSubscription(let read) where read.token == token:
                (fact.assertedAt, read.state == .pending)
            case .playPurchase(let read) where read.token == token:
                (fact.assertedAt, read.state == .pending)
            default: nil
            }
        }
        return reads.max { $0.at < $1.at }?.isPending ?? false
    }

    private func accepted(_ item: KeptItem) throws -> AcceptedItem {
        switch item.outcome {
        case .success(let accepted):
            guard !accepted.isAwaited else {
                throw SDKError.tryLater("Google Play has not confirmed the purchase yet.")
            }
            return accepted
        case .failure(let refusal as DeviceRefusal): throw SDKError(refusal)
        case .failure(let refusal as any Refusal): throw SDKError(refusal)
        case .failure(let error): throw error is UnaskedPurchase ? Self.unasked : error
        }
    }

    private static let unasked = SDKError.tryLater("The store could not be asked. Try again later.")
}

extension AcceptedItem {
    /// Returns the lineages of the products that the device states; all if it states none of them.
    fileprivate func lineages(of products: [String]) -> Set<Lineage> {
        let stated = (receipt?.purchases ?? []).filter {
            $0.productId.map(products.contains) ?? false
        }
        let ids = Set(stated.compactMap(\.originalTransactionId))
        let found = lineages.filter { ids.contains($0.id) }
        return Set(found.isEmpty ? lineages : found)
    }
}

extension SDKError {
    fileprivate init(_ objection: ClaimRuling.Objection) {
        switch objection {
        case .namedByStore, .movedByOperator, .heldByAnother, .holderHasAccess: self = .alreadyOwned
        case .coolingDown: self = .tryLater(objection.sentence)
        }
    }

    /// A purchase that awaits payment, or that a setting of the server keeps from being verified,
    /// may become valid.
    fileprivate init(_ refusal: DeviceRefusal) {
        switch refusal {
        case .pending, .otherStore, .receiptsNotConfigured, .storeNotAskable:
            self = .tryLater(refusal.sentence)
        case .notSigned, .wrongKind, .renewalInfoAlone, .noPurchaseToken, .otherPackage,
            .unknownPurchase, .transactionReceipt, .revenueCatResponse, .unknownMember:
            self = .invalidReceipt(refusal.sentence)
        }
    }

    /// A document that the store did not sign for this app never becomes valid. One of an
    /// environment that is not served does once it is configured, and one that is too large is not
    /// read.
    fileprivate init(_ refusal: any Refusal) {
        let unread = ["wrong-environment", "too-large", "signed-data-too-large"]
        let mayBecomeValid = refusal.status >= 500 || unread.contains(refusal.code)
        self = mayBecomeValid ? .tryLater(refusal.sentence) : .invalidReceipt(refusal.sentence)
    }
}
