public import Observation
public import TideoverCore

/// The customer's entitlements, for views to observe.
///
/// `store["premium"].access` is unknown until the first answer; then it is granted or denied. The
/// store listens for transactions from `Tideover.start` on, for as long as the app runs.
@MainActor
@Observable
public final class EntitlementStore {
    /// All answers as they are now.
    public private(set) var state: EntitlementState

    @ObservationIgnored private var runtime: KitRuntime?
    @ObservationIgnored private var observers: [Int: @MainActor (EntitlementState) -> Void] = [:]
    @ObservationIgnored private var nextObserver = 0

    package init(_ settings: KitSettings, _ effects: KitEffects) {
        state = EntitlementState(environment: settings.environment)
        runtime = KitRuntime(settings, effects) { [weak self] in self?.show($0) }
    }

    /// The entitlement of a name.
    public subscript(_ name: String) -> Entitlement { state[name] }

    /// What to show a customer whose payment failed; nil where there is nothing to show.
    public var prompt: RecoveryPrompt? { state.prompt }

    /// The time that answers are decided by: a device's clock that is set back gains nothing.
    public var now: Instant { runtime?.now ?? .distantPast }

    private func show(_ state: EntitlementState) {
        self.state = state
        for id in observers.keys.sorted() { observers[id]?(state) }
    }

    // MARK: - Events

    /// Starts listening. Called once, as early as the app can.
    package func start() async { await runtime?.start() }

    /// Reconciles again. Call it whenever the app returns to the foreground; the views of this package
    /// do so by themselves.
    public func enteredForeground() { runtime?.send(.foregrounded) }

    /// Reports to the server that the prompt was shown, and what the customer did with it, so that a
    /// quiet prompt waits as the server's policy says. Call it when the prompt appears, and again with
    /// the response; the banner of this package does both. A report that fails is not repeated.
    public func reportPrompt(_ response: PromptExposure.Response? = nil) {
        guard let prompt = state.prompt else { return }
        runtime?.report(prompt, response, in: state.environment)
    }

    /// Restores purchases after the user asked for it: what the store already shows is looked at first,
    /// and only if nothing gives access does the store synchronise, which asks for a password.
    public func restore() async -> RestoreOutcome { await runtime?.restore() ?? .notAnswered }

    /// Reports that the app delivered a consumable, where no server does. Deliver each transaction once:
    /// after a crash it is listed again.
    public func delivered(_ purchase: SignedPurchase) {
        runtime?.send(.delivered(transactionId: purchase.transactionId))
    }

    /// Reports that time passed. The store also wakes up by itself.
    package func seeClock() { runtime?.send(.clockSeen) }

    /// Returns once nothing that the store began is under way.
    package func settled() async { await runtime?.settled() }

    package func purchaseEnded(_ productId: String, _ result: EntitlementMachine.PurchaseResult) {
        runtime?.send(.purchaseEnded(productId: productId, result))
    }

    // MARK: - Changes

    /// The present answers, then every change of them.
    public var changes: AsyncStream<EntitlementState> {
        AsyncStream { continuation in
            let id = observe { continuation.yield($0) }
            continuation.onTermination = { _ in
                Task { @MainActor [weak self] in self?.observers[id] = nil }
            }
        }
    }

    /// Calls a closure with the present answers and after every change, for as long as the returned
    /// observer is kept.
    public func onChange(_ body: @escaping @MainActor (EntitlementState) -> Void) -> ChangeObserver
    {
        ChangeObserver(self, observe(body))
    }

    private func observe(_ body: @escaping @MainActor (EntitlementState) -> Void) -> Int {
        nextObserver += 1
        observers[nextObserver] = body
        body(state)
        return nextObserver
    }

    fileprivate func forget(_ observer: Int) { observers[observer] = nil }

    /// The customer's id, for account tokens.
    var customer: CustomerID? { runtime?.customer }
}

/// Ends when it is cancelled or no longer kept.
@MainActor
public final class ChangeObserver {
    private weak var store: EntitlementStore?
    private let id: Int

    fileprivate init(_ store: EntitlementStore, _ id: Int) {
        self.store = store
        self.id = id
    }

    public func cancel() { store?.forget(id) }

    deinit {
        Task { @MainActor [store, id] in store?.forget(id) }
    }
}

/// How a purchase ended for the customer.
public enum PurchaseOutcome: Hashable, Sendable {
    /// The store has a transaction for it. Access follows once it is decided on, at once on this device.
    case bought
    /// It waits for approval and may still come.
    case pending
    /// The user cancelled. The store is asked again nonetheless.
    case cancelled
    /// The store's signature could not be verified here. Only a server can still accept it.
    case unverified

    package init(_ result: EntitlementMachine.PurchaseResult) {
        switch result {
        case .bought(let purchase): self = purchase.isVerified ? .bought : .unverified
        case .pending: self = .pending
        case .cancelled, .failed: self = .cancelled
        }
    }
}
