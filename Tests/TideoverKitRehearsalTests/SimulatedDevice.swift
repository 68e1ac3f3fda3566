import StoreKit
import StoreKitFaking
import TideoverJSON
import TideoverSandbox

/// A device signed in to one customer's account in the simulated App Store, with StoreKit's known
/// faults.
actor SimulatedDevice {
    private let store: SimulatedAppStore
    /// The customer of the purchases.
    private let customer: String
    /// The customer who is signed in to the store.
    private var account: String
    private var cache: [AppStoreDevicePurchase] = []
    private var finished: Set<String> = []
    private var reported: Set<String> = []
    private let listeners = Listeners()
    /// Whether the cache is frozen at the time when this was set.
    private var isStale = false
    /// Whether external changes are reported while the app runs.
    private var reports = true
    private var verifies = true
    /// Readings that wait while the store is slow.
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var isSlow = false
    private(set) var syncs = 0
    /// How often a finished transaction was finished again.
    private(set) var repeatedFinishes = 0

    init(_ store: SimulatedAppStore, customer: String) {
        self.store = store
        self.customer = customer
        account = customer
    }

    /// Signs in to another customer's account of the store; nil for the own one.
    func signIn(as other: String?) { account = other ?? customer }

    func set(stale: Bool) { isStale = stale }
    func set(reports: Bool) { self.reports = reports }
    func set(verifies: Bool) { self.verifies = verifies }

    /// Makes readings of the store wait, or answers them.
    func set(slow: Bool) {
        isSlow = slow
        let waiting = waiting
        self.waiting = []
        for continuation in waiting { continuation.resume() }
    }

    /// The ids of finished transactions.
    var finishedIds: Set<String> { finished }

    private func look() async -> [AppStoreDevicePurchase] {
        while isSlow { await withCheckedContinuation { waiting.append($0) } }
        if !isStale, let seen = try? await store.device(of: account) { cache = seen }
        return cache
    }

    private func document(_ value: JSONValue) -> FakeStore.Document {
        FakeStore.Document(value.string ?? "", isVerified: verifies)
    }

    /// Reports each new transaction, like `Transaction.updates` while the app runs.
    func reportNews() async {
        for purchase in await look() where reported.insert(purchase.newsKey).inserted {
            if reports { listeners.report(document(purchase.signedTransaction)) }
        }
    }

    private func all() async -> [FakeStore.Document] {
        await look().map { document($0.signedTransaction) }
    }

    private func unfinished() async -> [FakeStore.Document] {
        await look().filter { !finished.contains($0.transactionId) }
            .map { document($0.signedTransaction) }
    }

    private func currentEntitlements() async -> [FakeStore.Document] {
        let now = await store.now
        return await look().filter { !$0.isRevoked && ($0.end.map { $0 > now } ?? true) }
            .map { document($0.signedTransaction) }
    }

    private func statuses() async -> [FakeStore.Status] {
        let now = await store.now
        return await look().compactMap { purchase in
            guard let renewal = purchase.signedRenewalInfo else { return nil }
            return FakeStore.Status(
                group: purchase.payload["subscriptionGroupIdentifier"]?.string ?? "",
                state: purchase.state(at: now),
                transaction: document(purchase.signedTransaction),
                renewalInfo: document(renewal)
            )
        }
    }

    private func finish(_ id: UInt64) {
        if !finished.insert("\(id)").inserted { repeatedFinishes += 1 }
    }

    private func sync() {
        syncs += 1
        isStale = false
    }

    /// Buys in the app. A bought product is in `unfinished` until it is finished.
    private func buy(_ product: String, _ fault: PurchaseFault?) async throws -> FakeStore.Bought {
        if fault == .asksToBuy {
            try await store.perform(.askToBuy(product: product), by: customer)
            return .pending
        }
        try await store.perform(.buy(product: product, outsideApp: false), by: customer)
        switch fault {
        case .interrupted: throw CancellationError()
        case .reportedAsCancelled: return .userCancelled
        case .asksToBuy, nil: break
        }
        guard let bought = await look().last(where: { $0.productId == product }) else {
            return .userCancelled
        }
        reported.insert(bought.newsKey)
        return .success(document(bought.signedTransaction))
    }

    /// Returns the stand-in's responses.
    nonisolated func fakeStore(_ fault: PurchaseFault? = nil) -> FakeStore {
        var fake = FakeStore()
        fake.all = { await self.all() }
        fake.unfinished = { await self.unfinished() }
        fake.currentEntitlements = { await self.currentEntitlements() }
        fake.statuses = { await self.statuses() }
        fake.updates = { [listeners] in listeners.stream() }
        fake.finish = { await self.finish($0) }
        fake.sync = { await self.sync() }
        fake.purchase = { product, _ in try await self.buy(product, fault) }
        return fake
    }
}

/// What happens to a purchase in the app.
enum PurchaseFault: Hashable, Sendable {
    /// A parent must approve it.
    case asksToBuy
    /// The purchase is paid, and the call that made it ends without a result.
    case interrupted
    /// The purchase is paid, and StoreKit reports that the customer cancelled it.
    case reportedAsCancelled
}

/// The iterators over `Transaction.updates`.
private final class Listeners: Sendable {
    private let channel = AsyncStream<FakeStore.Document>.makeStream()

    func stream() -> AsyncStream<FakeStore.Document> { channel.stream }
    func report(_ document: FakeStore.Document) { channel.continuation.yield(document) }
}

extension AppStoreDevicePurchase {
    /// The payload of the signed transaction.
    var payload: JSONValue { Self.payload(of: signedTransaction) }

    /// A refund is reported as a new update of its transaction.
    fileprivate var newsKey: String { "\(transactionId)\(isRevoked)" }

    private static func payload(of document: JSONValue) -> JSONValue {
        let parts = (document.string ?? "").split(separator: ".")
        guard parts.count == 3, let bytes = Base64.decode(parts[1].utf8, .urlSafe),
            let json = try? JSONDocument(bytes)
        else { return .null }
        return JSONValue(json.root)
    }

    /// Returns the state of the subscription, numbered as in the App Store Server API.
    fileprivate func state(at now: Int64) -> Int {
        guard !isRevoked else { return 5 }
        let renewal = signedRenewalInfo.map(Self.payload) ?? .null
        let isRetrying = renewal["isInBillingRetryPeriod"] == .bool(true)
        if isRetrying {
            let grace = renewal["gracePeriodExpiresDate"]?.int64
            return grace.map { $0 > now } ?? false ? 4 : 3
        }
        return (end ?? .max) > now ? 1 : 2
    }
}
