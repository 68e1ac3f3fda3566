/// The complete state of the simulated Google Play, except its keys and those of its callers.
struct SavedGooglePlay: SavedState {
    static let format = "tideover.simulated-google-play.2"

    let format: String
    let machine: GooglePlayMachine
    let past: [GooglePlayMachine]
    let post: PlayPost
    let queue: PubSubQueue
    let tokens: PlayTokenDesk.Given
    let faults: FaultPlan<PlayFault, PlayOperation>
    let wire: DisturbedWire<PlayWireFault>
    let quotas: PlayQuotas

    init(_ service: PlayService) {
        format = SavedGooglePlay.format
        machine = service.machine
        past = service.past
        post = service.post
        queue = service.queue
        tokens = service.desk.given
        faults = service.faults
        wire = service.wire
        quotas = service.quotas
    }

    /// Replaces a store's state with this one; its keys and service accounts stay.
    func restore(_ service: inout PlayService) {
        service.machine = machine
        service.past = past
        service.post = post
        service.queue = queue
        service.desk.given = tokens
        service.faults = faults
        service.wire = wire
        service.quotas = quotas
    }
}

extension SimulatedGooglePlay {
    /// Saves the store's state as JSON. A store made from it continues as this one would. Keys and
    /// service accounts are not included. End any push attempt in progress first.
    public func saved() -> [UInt8] { state.bytes }

    var state: SavedGooglePlay { SavedGooglePlay(service) }

    /// Creates a store that continues from a saved one.
    ///
    /// - Parameters:
    ///   - bytes: The output of `saved`.
    ///   - authority: Signs its pushes from now on.
    ///   - push: The recipient and the format of its pushes.
    ///   - accounts: The service accounts that exist; tokens issued to others become invalid.
    ///   - tokenURL: `token_uri` of their key files. An assertion names it, or one of Google's own
    ///     token endpoints, as its audience.
    ///   - wait: Waits for a slow answer; in real time by default.
    /// - Throws: the reason why the bytes cannot be used.
    public init(
        resuming bytes: [UInt8],
        authority: PlayAuthority,
        push: PubSubPush,
        accounts: [PlayServiceAccount] = [],
        tokenURL: String = SimulatedGooglePlay.tokenURL,
        wait: @escaping @Sendable (_ milliseconds: Int64) async throws -> Void = {
            try await Task.sleep(for: .milliseconds($0))
        }
    ) throws(SavedStoreError) {
        let saved = try SavedGooglePlay(bytes)
        var service = PlayService(
            machine: saved.machine,
            seed: 0,
            habits: PubSubDeliveryFaults(),
            accounts: accounts,
            tokenURL: tokenURL,
            authority: authority
        )
        saved.restore(&service)
        self.init(service, push: push, wait: wait)
    }
}
