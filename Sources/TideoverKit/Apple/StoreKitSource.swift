#if canImport(StoreKit)
import Foundation
public import StoreKit
import TideoverCore

// The only file that knows StoreKit's types, apart from the purchase call beside it. No type of the
// framework leaves it.

extension StoreSource {
    /// The device's own store.
    public static let storeKit = StoreSource(
        read: { await StoreKitReading.read() },
        updates: { StoreKitUpdates.stream() },
        finish: { await StoreKitReading.finish($0) },
        sync: { try await AppStore.sync() }
    )
}

private enum StoreKitReading {
    /// Statuses come from every group, not from the first: a customer may subscribe in several.
    static func read() async -> StoreReading {
        var reading = StoreReading()
        for await group in StoreKit.Product.SubscriptionInfo.Status.all {
            reading.statuses += group.statuses.map(SignedStatus.init)
        }
        // The history also holds refunded purchases, which the current entitlements leave out.
        var seen: Set<UInt64> = []
        for await result in StoreKit.Transaction.all {
            add(result, to: &reading, seen: &seen)
        }
        for await result in StoreKit.Transaction.currentEntitlements {
            add(result, to: &reading, seen: &seen)
        }
        for await result in StoreKit.Transaction.unfinished {
            reading.unfinished.append(SignedPurchase(result))
        }
        return reading
    }

    /// Subscriptions are known by their statuses; what is used up unlocks nothing.
    private static func add(
        _ result: StoreKit.VerificationResult<StoreKit.Transaction>,
        to reading: inout StoreReading,
        seen: inout Set<UInt64>
    ) {
        let purchase = SignedPurchase(result)
        let isSubscription = result.unsafePayloadValue.subscriptionGroupID != nil
        guard !isSubscription, !purchase.isConsumable,
            seen.insert(purchase.transactionId).inserted
        else { return }
        reading.purchases.append(purchase)
    }

    static func finish(_ id: UInt64) async {
        for await result in StoreKit.Transaction.unfinished
        where result.unsafePayloadValue.id == id {
            await result.unsafePayloadValue.finish()
            return
        }
    }
}

private enum StoreKitUpdates {
    /// One task for each sequence: it is not documented that several iterators each get everything.
    static func stream() -> AsyncStream<StoreSource.Update> {
        AsyncStream { continuation in
            let transactions = Task {
                for await result in StoreKit.Transaction.updates {
                    continuation.yield(.transaction(SignedPurchase(result)))
                }
            }
            let statuses = Task {
                for await _ in StoreKit.Product.SubscriptionInfo.Status.updates {
                    continuation.yield(.statusChanged)
                }
            }
            continuation.onTermination = { _ in
                transactions.cancel()
                statuses.cancel()
            }
        }
    }
}

extension SignedPurchase {
    init(_ result: StoreKit.VerificationResult<StoreKit.Transaction>) {
        let transaction = result.unsafePayloadValue
        let isVerified =
            switch result {
            case .verified: true
            case .unverified: false
            }
        self.init(
            transactionId: transaction.id,
            productId: transaction.productID,
            isVerified: isVerified,
            isConsumable: transaction.productType == .consumable,
            jws: result.jwsRepresentation
        )
    }
}

extension SignedStatus {
    fileprivate init(_ status: StoreKit.Product.SubscriptionInfo.Status) {
        let renewalInfo: String? =
            switch status.renewalInfo {
            case .verified: status.renewalInfo.jwsRepresentation
            case .unverified: nil
            }
        self.init(
            transaction: SignedPurchase(status.transaction),
            renewalInfo: renewalInfo,
            state: State(status.state)
        )
    }
}

extension SignedStatus.State {
    fileprivate init(_ state: StoreKit.Product.SubscriptionInfo.RenewalState) {
        // A structure, not an enumeration: a state that is not known here counts as none.
        switch state {
        case .subscribed: self = .subscribed
        case .expired: self = .expired
        case .inBillingRetryPeriod: self = .inBillingRetry
        case .inGracePeriod: self = .inGracePeriod
        case .revoked: self = .revoked
        default: self = SignedStatus.State(rawValue: 0)
        }
    }
}

extension EntitlementMachine.PurchaseResult {
    /// How a purchase ended. A cancellation comes in two shapes.
    init(_ result: Result<StoreKit.Product.PurchaseResult, any Error>) {
        switch result {
        case .success(let ended): self.init(ended)
        case .failure(StoreKitError.userCancelled): self = .cancelled
        case .failure: self = .failed
        }
    }

    private init(_ ended: StoreKit.Product.PurchaseResult) {
        switch ended {
        case .success(let transaction): self = .bought(SignedPurchase(transaction))
        case .pending: self = .pending
        case .userCancelled: self = .cancelled
        // Whatever it is, the store is read again.
        @unknown default: self = .failed
        }
    }
}

extension EntitlementStore {
    /// Buys a product. The account token is the customer's id where that is a UUID, so that the server
    /// knows whose purchase it is.
    @available(visionOS, unavailable)
    public func purchase(
        _ product: StoreKit.Product,
        options: Set<StoreKit.Product.PurchaseOption> = []
    ) async throws -> PurchaseOutcome {
        var options = options
        if let token = customer.flatMap({ UUID(uuidString: $0.text) }) {
            options.insert(.appAccountToken(token))
        }
        let chosen = options
        return try await purchase(product.id) { try await product.purchase(options: chosen) }
    }

    /// Ends a purchase that the app makes by itself, such as with a scene to confirm it in, or with
    /// SwiftUI's `PurchaseAction`.
    public func purchase(
        _ productId: String,
        by buy: @MainActor () async throws -> StoreKit.Product.PurchaseResult
    ) async throws -> PurchaseOutcome {
        let result: Result<StoreKit.Product.PurchaseResult, any Error>
        do {
            result = .success(try await buy())
        } catch {
            result = .failure(error)
        }
        let ended = EntitlementMachine.PurchaseResult(result)
        purchaseEnded(productId, ended)
        if case .failure(let error) = result, ended == .failed { throw error }
        return PurchaseOutcome(ended)
    }
}
#endif
