import TideoverJSON

/// The saved state of a session: a stage with both of its stores.
struct SavedSession: SavedState {
    static let format = "tideover.simulated-stage.2"

    let format: String
    let stage: SavedStage
    let play: SavedPlay
}

/// The saved progress of a play.
struct SavedPlay: Codable, Sendable {
    let now: Int64
    let appStore: SavedAppStore
    let googlePlay: SavedGooglePlay?
    let naive: [String: NaiveCheck]
    let devices: [String: ScenarioDevice]
    let losesNotifications: Bool
    let losesPushes: Bool
    let eventsRead: [String: Int]

    init(_ play: ScenarioPlay) async {
        now = play.now
        appStore = await play.store.state
        googlePlay = await play.googlePlay?.store.state
        naive = play.naive
        devices = play.devices
        losesNotifications = play.losesNotifications
        losesPushes = play.losesPushes
        eventsRead = play.eventsRead
    }

    /// Restores this state in a play that has just begun.
    func restore(_ play: inout ScenarioPlay) async {
        await play.store.restore(appStore)
        if let googlePlay { await play.googlePlay?.store.restore(googlePlay) }
        play.now = now
        play.naive = naive
        play.devices = devices
        play.losesNotifications = losesNotifications
        play.losesPushes = losesPushes
        play.eventsRead = eventsRead
    }
}

/// The stage on which a saved session can be resumed: a scenario's head without its texts.
struct SavedStage: Codable, Hashable, Sendable {
    private struct Play: Codable, Hashable {
        let app: GooglePlayApp
        let entitlements: [String: [String]]
        let customers: [GooglePlayCustomer]
        let habits: PubSubDeliveryFaults
    }

    private let appId: String
    private let appStore: AppStoreApp
    private let entitlements: [String: [String]]
    private let googlePlay: Play?
    private let customers: [StoreCustomer]
    private let start: Int64
    private let seed: UInt64
    private let lag: Int64

    init(_ scenario: Scenario) {
        appId = scenario.app.id
        appStore = scenario.app.store
        entitlements = scenario.app.entitlements
        googlePlay = scenario.googlePlay.map {
            Play(
                app: $0.app,
                entitlements: $0.entitlements,
                customers: $0.customers,
                habits: $0.habits
            )
        }
        customers = scenario.customers
        start = scenario.start
        seed = scenario.seed
        lag = scenario.lag
    }

    /// Returns the keys of a scenario's head in which another one differs.
    func differences(from other: SavedStage) -> [String] {
        let differing = [
            ("app", appId != other.appId || appStore.bundleId != other.appStore.bundleId),
            (
                "products",
                appStore.products != other.appStore.products || entitlements != other.entitlements
                    || appStore.oneTimeProducts != other.appStore.oneTimeProducts
            ),
            ("googlePlay", googlePlay != other.googlePlay),
            ("customers", customers != other.customers),
            ("start", start != other.start), ("seed", seed != other.seed),
            ("lag", lag != other.lag),
        ]
        let keys = differing.filter(\.1).map(\.0)
        // The remaining parts of an app are the store's environment and renewal rate.
        return keys.isEmpty && self != other ? ["app"] : keys
    }
}

extension ScenarioSession {
    /// Saves the stage with the state of its stores as JSON, after the current work has ended. A
    /// session that resumes it continues as this one would. Keys are not included.
    public func saved() async -> [UInt8] {
        await inTurn { session in
            let stage = SavedStage(session.scenario)
            let play = await SavedPlay(session.play)
            return SavedSession(format: SavedSession.format, stage: stage, play: play).bytes
        }
    }

    /// Returns the seed of a saved session's stage; nil for any other bytes.
    public static func seed(of bytes: [UInt8]) -> UInt64? {
        guard let saved = try? JSONDocument(bytes, limits: .local).root else { return nil }
        return saved["stage"]?["seed"]?.int64.map { UInt64(bitPattern: $0) }
    }

    /// Resumes a saved session.
    ///
    /// - Parameters:
    ///   - bytes: The output of `saved`.
    ///   - stage: The scenario with the saved session's head.
    ///   - target: The system under test.
    ///   - authority: Signs for the App Store from now on.
    /// - Throws: the reason why the bytes cannot be resumed on this stage.
    public init(
        resuming bytes: [UInt8],
        on stage: Scenario,
        target: ScenarioTarget,
        authority: SandboxAuthority
    ) async throws(SavedStoreError) {
        let saved = try SavedSession(bytes)
        let differences = SavedStage(stage).differences(from: saved.stage)
        guard differences.isEmpty else { throw .stage(differences) }
        await self.init(stage, target: target, authority: authority, going: saved.play)
    }
}
