#if canImport(StoreKit)
package import Foundation
public import StoreKit
import TideoverCore

// The only file that uses StoreKit's types, apart from the purchase call beside it. It exposes no
// type of the framework.

extension StoreSource {
    /// The device's own store.
    public static let storeKit = StoreSource(
        read: { await StoreKitReading.read() },
        updates: { storeKitUpdates(clock: .default) },
        finish: { await StoreKitReading.finish($0) },
        sync: { try await AppStore.sync() }
    )

    /// Foundation posts this when the device's clock was set. Linux has no constant for it.
    package static let clockChange = Notification.Name("NSSystemClockDidChangeNotification")

    /// One task for each sequence: it is not documented that several iterators each receive every
    /// element. A clock that was set moves every end, and the server may correct it.
    package static func storeKitUpdates(clock center: NotificationCenter) -> AsyncStream<Update> {
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
            // It is only handed back to the center, which any thread may do.
            nonisolated(unsafe) let clock = center.addObserver(
                forName: clockChange,
                object: nil,
                queue: nil
            ) { _ in continuation.yield(.statusChanged) }
            continuation.onTermination = { _ in
                transactions.cancel()
                statuses.cancel()
                center.removeObserver(clock)
            }
        }
    }
}

private enum StoreKitReading {
    /// Reads the statuses of every group, since a customer may subscribe in several.
    static func read() async -> StoreReading {
        var reading = StoreReading()
        for await group in StoreKit.Product.SubscriptionInfo.Status.all {
            reading.statuses += group.statuses.map(SignedStatus.init)
        }
        // The history also contains refunded purchases, which the current entitlements omit.
        var seen: Set<UInt64> = []
        for await result in StoreKit.Transaction.all {
            add(result, to: &reading, seen: &seen)
        }
        let stated = Set(reading.statuses.map(\.transaction.transactionId))
        for await result in StoreKit.Transaction.currentEntitlements {
            add(result, to: &reading, seen: &seen)
            // StoreKit may need a connection for statuses. Its entitlements are on the device.
            let purchase = SignedPurchase(result)
            guard result.unsafePayloadValue.subscriptionGroupID != nil,
                !stated.contains(purchase.transactionId)
            else { continue }
            reading.purchases.append(purchase)
        }
        for await result in StoreKit.Transaction.unfinished {
            reading.unfinished.append(SignedPurchase(result))
        }
        // Its transactions name the environment, too.
        if !reading.transactions.contains(where: \.isVerified) {
            reading.environment = await AppRecord.environment()
        }
        return reading
    }

    /// Adds a purchase that is no subscription. Used consumables unlock no entitlement.
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
        if let transaction = await BoughtTransactions.transaction(id) {
            await transaction.finish()
            return
        }
        for await result in StoreKit.Transaction.unfinished
        where result.unsafePayloadValue.id == id {
            await result.unsafePayloadValue.finish()
            return
        }
    }
}

/// StoreKit's signed record of the app, which a build from TestFlight has before any purchase.
private enum AppRecord {
    /// How long a reading waits for it: StoreKit may need the network.
    private static let patience = Duration.seconds(2)

    /// Returns the environment; nil if StoreKit cannot name it, or not in time.
    static func environment() async -> TideoverCore.Environment? {
        let (found, continuation) = AsyncStream<TideoverCore.Environment?>.makeStream()
        // It is not awaited: it may not end when it is cancelled.
        Task {
            let shared = try? await AppTransaction.shared
            continuation.yield(shared.flatMap(environment))
            continuation.finish()
        }
        let limit = Task {
            try? await Task.sleep(for: patience)
            continuation.finish()
        }
        defer { limit.cancel() }
        return await found.first { _ in true } ?? nil
    }

    private static func environment(
        in record: StoreKit.VerificationResult<AppTransaction>
    ) -> TideoverCore.Environment? {
        guard case .verified(let app) = record else { return nil }
        // A structure, not an enumeration: later versions may have more environments. No server
        // answers for Xcode's, so before a purchase in it the configured one counts.
        switch app.environment {
        case .production: return .production
        case .sandbox: return .sandbox
        default: return nil
        }
    }
}

/// Transactions that were bought in this process. They are finished as they came: right after a
/// purchase, StoreKit's list of unfinished ones may be empty.
@MainActor
private enum BoughtTransactions {
    private static var transactions: [UInt64: StoreKit.Transaction] = [:]

    static func add(_ result: StoreKit.VerificationResult<StoreKit.Transaction>) {
        let transaction = result.unsafePayloadValue
        transactions[transaction.id] = transaction
    }

    static func transaction(_ id: UInt64) -> StoreKit.Transaction? { transactions[id] }
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
        // A structure, not an enumeration: an unknown state is ignored.
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
    /// Converts the result of a purchase. A cancellation has two forms.
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
        // For an unknown result, the store is read again.
        @unknown default: self = .failed
        }
    }
}

extension EntitlementStore {
    /// The options for every purchase. If the customer's id is a UUID, it becomes the account token,
    /// so that the server can identify the owner.
    public var purchaseOptions: Set<StoreKit.Product.PurchaseOption> {
        guard let token = customer.flatMap({ UUID(uuidString: $0.text) }) else { return [] }
        return [.appAccountToken(token)]
    }

    /// Buys a product with these options and `purchaseOptions`.
    @available(visionOS, unavailable)
    public func purchase(
        _ product: StoreKit.Product,
        options: Set<StoreKit.Product.PurchaseOption> = []
    ) async throws -> PurchaseOutcome {
        let chosen = options.union(purchaseOptions)
        return try await purchase(product.id) { try await product.purchase(options: chosen) }
    }

    /// Completes a purchase that the app makes itself, for example with a confirmation scene, or
    /// with SwiftUI's `PurchaseAction`.
    public func purchase(
        _ productId: String,
        by buy: @MainActor () async throws -> StoreKit.Product.PurchaseResult
    ) async throws -> PurchaseOutcome {
        let result: Result<StoreKit.Product.PurchaseResult, any Error>
        do {
            let ended = try await buy()
            if case .success(let transaction) = ended { BoughtTransactions.add(transaction) }
            result = .success(ended)
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
