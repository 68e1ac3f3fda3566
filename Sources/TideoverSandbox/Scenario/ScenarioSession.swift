public import TideoverJSON

/// A simulated store that keeps running: it takes steps one by one, and its owner advances the time
/// between them. Instants are in milliseconds since 1970.
public actor ScenarioSession {
    let scenario: Scenario
    private let reader: StepReader
    private(set) var play: ScenarioPlay
    /// The last task in the queue: a step ends before the next begins.
    private var last: Task<Void, Never>?

    /// Creates a store with the contents of a scenario's head, at its start.
    public init(
        _ stage: Scenario,
        target: ScenarioTarget,
        authority: SandboxAuthority
    ) async {
        await self.init(stage, target: target, authority: authority, going: nil)
    }

    /// Creates a store that continues an earlier play; nil begins at the start.
    init(
        _ stage: Scenario,
        target: ScenarioTarget,
        authority: SandboxAuthority,
        going saved: SavedPlay?
    ) async {
        var play = await ScenarioPlay(stage, target, authority)
        await saved?.restore(&play)
        await play.tellClock()
        self.init(continuing: play)
    }

    /// Creates a store that continues a play from where it is.
    init(continuing play: ScenarioPlay) {
        let stage = play.scenario
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
        self.play = play
    }

    /// The store's clock.
    public var now: Int64 { play.now }

    /// Performs a step, written as in a scenario file. Returns the trace of the time before it and
    /// of the step itself.
    ///
    /// - Throws: `ScenarioError` for an invalid step, `AheadOfClock` for one that the clock has not
    ///   reached, `StepTooLong` for one that is too far ahead, `SignatureRefusal` as the runner
    ///   does.
    public func take(_ step: [UInt8]) async throws -> [TraceEntry] {
        try await inTurn { session in
            let caughtUp = try await session.keepUp()
            let steps = try session.reader.steps(in: step, from: session.play.now)
            try session.checkTime(of: steps.map(\.at))
            if let last = steps.last?.at, last - session.play.now > StepTooLong.most {
                throw StepTooLong()
            }
            return try await caughtUp
                + session.playing { play in
                    for step in steps { try await play.take(step) }
                    try await play.settle()
                    await play.stateTime()
                }
        }
    }

    /// Advances the clock to an instant; a past instant counts as now.
    public func pass(until instant: Int64) async throws -> [TraceEntry] {
        try await inTurn { session in
            try await session.playing { play in
                try await play.pass(until: max(instant, play.now))
            }
        }
    }

    /// Advances the clock to the store's next event of its own; does nothing if there is none.
    public func passToNextEvent() async throws -> [TraceEntry] {
        try await inTurn { session in
            guard let next = await session.play.nextEvent() else { return [] }
            try session.checkTime(of: [next])
            return try await session.playing { play in
                try await play.pass(until: max(next, play.now))
                try await play.settle()
                await play.stateTime()
            }
        }
    }

    /// The current state of each customer in the store that the customer buys in, in the order of
    /// the stage.
    public func standings() async -> [CustomerStanding] {
        var standings: [CustomerStanding] = []
        for customer in scenario.customers {
            standings.append(await play.standing(of: customer))
        }
        return standings
    }

    /// The names of the products on sale, by store. A subscription of Google Play is named with
    /// each of its base plans.
    package nonisolated var products: JSONObject {
        let apple =
            scenario.app.store.products.map(\.id)
            + scenario.app.store.oneTimeProducts.map(\.id)
        let google = scenario.googlePlay?.app
        let plans = (google?.subscriptions ?? []).flatMap { subscription in
            subscription.basePlans.map { "\(subscription.id):\($0.id)" }
        }
        let oneTime = (google?.products ?? []).map(\.id)
        return [
            "appStore": .array(apple.map(JSONValue.string)),
            "googlePlay": .array((plans + oneTime).map(JSONValue.string)),
        ]
    }

    // MARK: At a pace

    /// Converts an instant of the store to the clock that dates its output.
    public func shown(_ instant: Int64) -> Int64 { play.dial.shown(instant) }

    /// Converts the store's instants in a document to the clock that dates its output.
    public func dated(_ document: JSONValue) -> JSONValue { play.dial.dated(document) }

    /// The last instant of the store that its pace allows; nil if it has no pace.
    public var present: Int64? { play.target.pace?.present(play.dial) }

    /// Advances to the present, so that a step runs now and not at the last advance.
    private func keepUp() async throws -> [TraceEntry] {
        guard let present, play.target.pace?.beginsNow == true else { return [] }
        return try await playing { play in try await play.pass(until: max(present, play.now)) }
    }

    private func checkTime(of instants: [Int64]) throws(AheadOfClock) {
        guard let present, let last = instants.max(), last > max(present, play.now) else { return }
        throw AheadOfClock()
    }

    // MARK: Serial execution

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

    /// Keeps the advanced clock even if a later delivery throws.
    private func playing(
        _ act: (inout ScenarioPlay) async throws -> Void
    ) async throws -> [TraceEntry] {
        var going = play
        defer { play = going }
        try await act(&going)
        return going.takeMoments()
    }
}

/// A step of a running store lies so far ahead that the store would be busy for hours.
package struct StepTooLong: Error, CustomStringConvertible {
    /// 20 years, in milliseconds.
    static let most: Int64 = 20 * 366 * 86_400_000

    package var description: String {
        "one step advances the store by at most 20 years; send several steps"
    }
}
