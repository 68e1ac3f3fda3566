public import Observation
public import TideoverCore

/// The customer's entitlements, for views to observe.
///
/// `store["premium"].access` is unknown until the first answer; then it is granted or denied. The
/// store observes transactions from `Tideover.start` on, for as long as the app runs.
@MainActor
@Observable
public final class EntitlementStore {
    /// The current answers.
    public private(set) var state: EntitlementState

    @ObservationIgnored private var runtime: KitRuntime?
    @ObservationIgnored private var observers: [Int: @MainActor (EntitlementState) -> Void] = [:]
    @ObservationIgnored private var streams: [Int: AsyncStream<EntitlementState>.Continuation] = [:]
    @ObservationIgnored private var nextObserver = 0

    package init(_ settings: KitSettings, _ effects: KitEffects) {
        state = EntitlementState(environment: settings.environment)
        runtime = KitRuntime(settings, effects) { [weak self] in self?.show($0) }
    }

    deinit {
        for stream in streams.values { stream.finish() }
    }

    /// Returns the entitlement with a name.
    public subscript(_ name: String) -> Entitlement { state[name] }

    /// The prompt for a customer with a failed payment; nil if there is none to show.
    public var prompt: RecoveryPrompt? { state.prompt }

    /// The time used for decisions; setting the device's clock back does not affect it.
    public var now: Instant { runtime?.now ?? .distantPast }

    private func show(_ state: EntitlementState) {
        self.state = state
        for id in observers.keys.sorted() { observers[id]?(state) }
    }

    // MARK: - Events

    /// Starts observing the store. Call it once, as early as possible.
    package func start() async { await runtime?.start() }

    /// Reconciles again. Call it whenever the app returns to the foreground; a visible
    /// `EntitlementGate` does so.
    public func enteredForeground() { runtime?.send(.foregrounded) }

    /// Reports to the server that the prompt was shown, and the customer's response, so that a soft
    /// prompt waits as the server's policy requires. Call it when the prompt appears, and again
    /// with the response; the banner of this package does both. A failed report is not repeated.
    public func reportPrompt(_ response: PromptExposure.Response? = nil) {
        guard let prompt = state.prompt else { return }
        runtime?.report(prompt, response, in: state.environment)
    }

    /// Restores purchases at the user's request. The store is read first. Only if no entitlement
    /// gives access does the store synchronize, which asks for a password.
    public func restore() async -> RestoreOutcome { await runtime?.restore() ?? .notAnswered }

    /// Whether the app delays the store's messages, for example during onboarding. Set it to false
    /// to show those that are still unresolved. It has an effect after `controlMessages`.
    @ObservationIgnored public var delaysMessages = false {
        didSet { runtime?.send(.messagesDelayed(delaysMessages)) }
    }

    /// Takes over the store's messages. Without this call StoreKit shows them by itself. `display`
    /// returns whether a message was shown.
    package func controlMessages(
        _ messages: AsyncStream<StoreMessage>,
        display: @escaping @MainActor (StoreMessage) -> Bool
    ) {
        runtime?.controlMessages(messages, display: display)
    }

    /// Presents a sheet of the store, and reads the store again when it closes: the sheets report no
    /// result.
    package func present(_ sheet: @MainActor () async throws -> Void) async rethrows {
        defer { enteredForeground() }
        try await sheet()
    }

    /// Reports that the app delivered a consumable, if no server does. Deliver each transaction
    /// once: after a crash it is listed again.
    public func delivered(_ purchase: SignedPurchase) {
        runtime?.send(.delivered(transactionId: purchase.transactionId))
    }

    /// Reports that time passed. The store also wakes up by itself.
    package func seeClock() { runtime?.send(.clockSeen) }

    /// Ends the store although a view may still hold it. Its answers stay as they are, and it
    /// observes, requests and writes nothing more. Returns the writes that have been requested: the
    /// next store must read the file after them.
    package func stop() -> Task<Void, Never>? {
        let writes = runtime?.stop()
        for stream in streams.values { stream.finish() }
        return writes
    }

    /// Returns when no effect of the store is pending.
    package func settled() async { await runtime?.settled() }

    package func purchaseEnded(_ productId: String, _ result: EntitlementMachine.PurchaseResult) {
        runtime?.send(.purchaseEnded(productId: productId, result))
    }

    // MARK: - Changes

    /// The current answers, then every change of them. It ends when the store is released, and when
    /// another one is started.
    public var changes: AsyncStream<EntitlementState> {
        AsyncStream { continuation in
            let id = observe { continuation.yield($0) }
            streams[id] = continuation
            // The stream must not keep the store: a former customer's store would go on.
            continuation.onTermination = { [weak self] _ in
                Task { @MainActor [weak self] in self?.forget(id) }
            }
            if runtime?.isStopped == true { continuation.finish() }
        }
    }

    /// Calls a closure with the current answers and after every change, until the returned observer
    /// is released.
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

    fileprivate func forget(_ observer: Int) {
        observers[observer] = nil
        streams[observer] = nil
    }

    /// The customer's id, for account tokens.
    var customer: CustomerID? { runtime?.customer }
}

/// Stops observing when it is cancelled or released.
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

/// The result of a purchase for the customer.
public enum PurchaseOutcome: Hashable, Sendable {
    /// The store has a transaction for it. Access follows after the decision, immediately on this
    /// device.
    case bought
    /// The purchase is waiting for approval and may still complete.
    case pending
    /// The user cancelled. The store is read again nonetheless.
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
