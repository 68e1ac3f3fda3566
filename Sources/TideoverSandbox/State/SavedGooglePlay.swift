/// Everything that the simulated Google Play knows, apart from its keys and those of who asks it.
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

    /// Has a store know this and nothing else; keys and service accounts stay.
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
    /// What the store knows, as JSON: a store made from it goes on as this one would. Neither keys nor
    /// service accounts are part of it; an attempt at pushing that is under way is to be ended before.
    public func saved() -> [UInt8] { state.bytes }

    var state: SavedGooglePlay { SavedGooglePlay(service) }

    /// A store that goes on where another was saved.
    ///
    /// - Parameters:
    ///   - bytes: What `saved` wrote.
    ///   - authority: What its pushes are signed with from now on.
    ///   - push: To whom its notifications are pushed, and in which form.
    ///   - accounts: The service accounts that there are; tokens given to others open nothing any more.
    ///   - tokenURL: `token_uri` of their key files. An assertion names it, or one of Google's own
    ///     token endpoints, as its audience.
    ///   - wait: How a slow answer is waited for; without one in real time.
    /// - Throws: why nothing can be made of the bytes.
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
            habits: PubSubHabits(),
            accounts: accounts,
            tokenURL: tokenURL,
            authority: authority
        )
        saved.restore(&service)
        self.init(service, push: push, wait: wait)
    }
}
