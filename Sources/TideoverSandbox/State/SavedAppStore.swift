// A store that is laid aside and taken up again: what it knows, as JSON.

/// Everything that a store knows, apart from the keys that it signs with and those that open its API.
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

    /// Has a store know this and nothing else; its keys stay.
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
    /// What the store knows, as JSON: a store made from it goes on as this one would. Keys are not part of
    /// it; an attempt at sending that is under way is to be ended before.
    public func saved() -> [UInt8] { state.bytes }

    var state: SavedAppStore { SavedAppStore(service) }

    /// A store that goes on where another was saved.
    ///
    /// - Parameters:
    ///   - bytes: What `saved` wrote.
    ///   - authority: What everything it says is signed with from now on.
    ///   - keys: Whose tokens open the Server API.
    ///   - wait: How a slow answer is waited for; without one in real time.
    /// - Throws: why nothing can be made of the bytes.
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
