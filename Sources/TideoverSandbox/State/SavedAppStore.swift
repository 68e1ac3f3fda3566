// Saving and resuming a store: its state as JSON.

/// The complete state of a store, except its signing keys and the keys for its API.
struct SavedAppStore: SavedState {
    static let format = "tideover.simulated-app-store.2"

    let format: String
    let machine: AppStoreMachine
    let post: AppStorePost
    let faults: FaultPlan<AppStoreFault, AppStoreOperation>
    let wire: DisturbedWire<AppStoreWireFault>
    let allowance: AppStoreAllowance
    let hasNotificationURL: Bool
    let tests: [AppStoreService.Test]
    let consumptions: [AppStoreConsumption]
    let finished: [String]

    init(_ service: AppStoreService) {
        format = SavedAppStore.format
        machine = service.machine
        post = service.post
        faults = service.faults
        wire = service.wire
        allowance = service.allowance
        hasNotificationURL = service.hasNotificationURL
        tests = service.tests
        consumptions = service.consumptions
        finished = service.finished.sorted()
    }

    /// Replaces a store's state with this one; its keys stay.
    func restore(_ service: inout AppStoreService) {
        service.machine = machine
        service.post = post
        service.faults = faults
        service.wire = wire
        service.allowance = allowance
        service.hasNotificationURL = hasNotificationURL
        service.tests = tests
        service.consumptions = consumptions
        service.finished = Set(finished)
    }
}

extension SimulatedAppStore {
    /// Saves the store's state as JSON. A store made from it continues as this one would. Keys are
    /// not included. End any delivery attempt in progress first.
    public func saved() -> [UInt8] { state.bytes }

    var state: SavedAppStore { SavedAppStore(service) }

    /// Creates a store that continues from a saved one.
    ///
    /// - Parameters:
    ///   - bytes: The output of `saved`.
    ///   - authority: Signs everything that the store issues from now on.
    ///   - keys: The API keys that the Server API accepts.
    ///   - wait: Waits for a slow answer; in real time by default.
    /// - Throws: the reason why the bytes cannot be used.
    public init(
        resuming bytes: [UInt8],
        authority: SandboxAuthority,
        keys: [AppStoreAPIKey] = [],
        wait: @escaping @Sendable (_ milliseconds: Int64) async throws -> Void = {
            try await Task.sleep(for: .milliseconds($0))
        }
    ) throws(SavedStoreError) {
        let saved = try SavedAppStore(bytes)
        var service = AppStoreService(
            machine: saved.machine,
            seed: 0,
            lag: 0,
            keys: keys,
            authority: authority
        )
        saved.restore(&service)
        self.init(service, wait: wait)
    }
}
