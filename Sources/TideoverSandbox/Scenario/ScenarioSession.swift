public import TideoverJSON

/// A simulated store that stays: it is told what happens step by step, and between them time passes as
/// whoever holds it says. Instants are in milliseconds since 1970.
public actor ScenarioSession {
    let scenario: Scenario
    private let reader: StepReader
    private(set) var play: ScenarioPlay
    /// The end of the line of those who want something: a step is over before the next begins.
    private var last: Task<Void, Never>?

    /// A store with what a scenario's head describes, at its start.
    public init(
        _ stage: Scenario,
        target: ScenarioTarget,
        authority: SandboxAuthority
    ) async {
        await self.init(stage, target: target, authority: authority, going: nil)
    }

    /// A store that goes on from where a play had come; nil for its start.
    init(
        _ stage: Scenario,
        target: ScenarioTarget,
        authority: SandboxAuthority,
        going saved: SavedPlay?
    ) async {
        scenario = stage
        let sales =
            stage.app.store.products.map(ScenarioProduct.Sale.subscription)
            + stage.app.store.oneTimeProducts.map(ScenarioProduct.Sale.oneTime)
        let products = sales.map { sale in
            let product = ScenarioProduct(sale: sale, entitlements: [])
            return ScenarioProduct(
                sale: sale,
                entitlements: stage.app.entitlements[product.id] ?? []
            )
        }
        reader = StepReader(
            app: stage.app,
            customers: stage.customers,
            products: products,
            play: stage.googlePlay,
            revenueCat: stage.revenueCat
        )
        var play = await ScenarioPlay(stage, target, authority)
        await saved?.restore(&play)
        self.play = play
        await play.tellClock()
    }

    /// What the store's clock shows.
    public var now: Int64 { play.now }

    /// Does what a step says, which is written as in a scenario file, and answers with what happened on the
    /// way to it and with it.
    ///
    /// - Throws: `ScenarioError` for what is no step, `AheadOfClock` for one that the clock has not reached,
    ///   `SignatureRefusal` as the runner does.
    public func take(_ step: [UInt8]) async throws -> [Moment] {
        try await inTurn { session in
            let caughtUp = try await session.keepUp()
            let steps = try session.reader.steps(in: step, from: session.play.now)
            try session.checkTime(of: steps.map(\.at))
            return try await caughtUp
                + session.playing { play in
                    for step in steps { try await play.take(step) }
                    try await play.settle()
                }
        }
    }

    /// Lets time pass up to an instant; one that has gone by is now.
    public func pass(until instant: Int64) async throws -> [Moment] {
        try await inTurn { session in
            try await session.playing { play in
                try await play.pass(until: max(instant, play.now))
            }
        }
    }

    /// Lets time pass up to what the store does next by itself; nothing where it does nothing.
    public func passToNextEvent() async throws -> [Moment] {
        try await inTurn { session in
            guard let next = await session.play.nextEvent() else { return [] }
            try session.checkTime(of: [next])
            return try await session.playing { play in
                try await play.pass(until: max(next, play.now))
                try await play.settle()
            }
        }
    }

    /// How each customer stands now with the store that the customer buys in, in the order of the stage.
    public func standings() async -> [CustomerStanding] {
        var standings: [CustomerStanding] = []
        for customer in scenario.customers {
            standings.append(await play.standing(of: customer))
        }
        return standings
    }

    // MARK: At a pace

    /// An instant of the store on the clock by which it dates what it says.
    public func shown(_ instant: Int64) -> Int64 { play.dial.shown(instant) }

    /// A document with the store's instants, by the clock by which it dates what it says.
    public func dated(_ document: JSONValue) -> JSONValue { play.dial.dated(document) }

    /// The last instant of the store that its pace allows; nil where there is none.
    public var present: Int64? { play.target.pace?.present(play.dial) }

    /// A step takes place now, and not when time passed last.
    private func keepUp() async throws -> [Moment] {
        guard let present, play.target.pace?.beginsNow == true else { return [] }
        return try await playing { play in try await play.pass(until: max(present, play.now)) }
    }

    private func checkTime(of instants: [Int64]) throws(AheadOfClock) {
        guard let present, let last = instants.max(), last > max(present, play.now) else { return }
        throw AheadOfClock()
    }

    // MARK: One after the other

    func inTurn<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable (isolated ScenarioSession) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let before = last
        let turn = Task { () async -> Result<Value, Failure> in
            await before?.value
            do throws(Failure) {
                return .success(try await work(self))
            } catch {
                return .failure(error)
            }
        }
        last = Task { _ = await turn.value }
        return try await turn.value.get()
    }

    /// Time that has passed has passed, even where what followed could not be sent.
    private func playing(
        _ act: (inout ScenarioPlay) async throws -> Void
    ) async throws -> [Moment] {
        var going = play
        defer { play = going }
        try await act(&going)
        return going.takeMoments()
    }
}
