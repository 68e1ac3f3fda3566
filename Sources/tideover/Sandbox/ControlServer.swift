import TideoverCommandLine
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSandbox
import TideoverSignatures

/// The control server of long-running simulated stores: clients send steps and read results over
/// HTTP. Back ends use the store server beside it.
struct ControlServer {
    private let session: ScenarioSession
    private let storeServer: StoreServer
    private let running: Locked<RunningClock>
    private let state: StateFile?
    /// Whether the stores' clock follows the machine's from the beginning.
    private let keepsUp: Bool

    /// The machine's clock, in milliseconds since any fixed instant.
    private let ours: @Sendable () -> Int64

    /// Creates stores at the start of a scenario, or from a saved state. A speed is relative to
    /// `ours`.
    init(
        _ stage: Scenario,
        _ targetOptions: TargetOptions,
        speed: Int64 = 0,
        state: StateFile? = nil,
        ours: @escaping @Sendable () -> Int64 = { Self.uptime }
    ) async throws {
        storeServer = targetOptions.storeServer
        self.ours = ours
        self.state = state
        keepsUp = targetOptions.pace?.beginsNow ?? false
        session = try await Self.session(stage, targetOptions, state)
        running = Locked(RunningClock(speed: speed, ours: ours(), stores: await session.now))
        let controlServer = self
        storeServer.add { request in try await controlServer.answer(request) }
    }

    /// Creates the control server of stores that run already. Their clock is stopped.
    init(_ session: ScenarioSession, on storeServer: StoreServer) async {
        self.session = session
        self.storeServer = storeServer
        ours = { Self.uptime }
        state = nil
        keepsUp = false
        running = Locked(RunningClock(speed: 0, ours: Self.uptime, stores: await session.now))
        let controlServer = self
        storeServer.add { request in try await controlServer.answer(request) }
    }

    private static func session(
        _ stage: Scenario,
        _ targetOptions: TargetOptions,
        _ state: StateFile?
    ) async throws -> ScenarioSession {
        let target = try targetOptions.target(for: stage)
        guard let state, let kept = try state.read() else {
            return await ScenarioSession(stage, target: target, authority: targetOptions.authority)
        }
        do throws(SavedStoreError) {
            return try await ScenarioSession(
                resuming: kept,
                on: stage,
                target: target,
                authority: targetOptions.authority
            )
        } catch {
            throw CommandFailure(
                .data,
                "\(TextLayout.visible(state.path)): \(error)\n"
                    + "Name another file with --state to start again."
            )
        }
    }

    /// Returns nil for requests that the store server handles.
    private func answer(_ request: Request) async throws -> Response? {
        switch (request.method, request.path) {
        case ("GET", "/clock"): await clock()
        case ("GET", "/customers"): await customers()
        case ("POST", "/control"): try await control(request.body)
        case (_, "/customers"), (_, "/control"): Response(status: 405)
        default: nil
        }
    }

    // MARK: Time

    private static let begin = ContinuousClock.now

    /// In milliseconds.
    private static var uptime: Int64 {
        let gone = (ContinuousClock.now - begin).components
        return gone.seconds * 1000 + gone.attoseconds / 1_000_000_000_000_000
    }

    /// Advances the stores' clock at the last set speed, until cancelled. Prints failed deliveries
    /// to the back end.
    func letTimePass(telling output: Output) async {
        let tick = Duration.milliseconds(await session.present == nil ? 100 : 10)
        var log = MisdeliveryLog()
        defer { for sum in log.sums { output.message("tideover: \(TextLayout.visible(sum))") } }
        while true {
            do { try await Task.sleep(for: tick) } catch { return }
            do {
                for line in log.lines(of: try await catchUp()) {
                    output.message("tideover: \(TextLayout.visible(line))")
                }
            } catch {
                output.message("tideover: the store has stopped: \(error)")
                await run(at: 0)
            }
        }
    }

    /// Advances the stores to their due time, and returns what happened meanwhile.
    ///
    /// Stores on the machine's clock never get ahead of it. Those that began in step with it stay
    /// in step.
    func catchUp() async throws -> [TraceEntry] {
        let (now, present) = (await session.now, await session.present)
        var due = running.withLock {
            $0.now(at: ours(), stores: now, atMost: present ?? .max)
        }
        if let present, keepsUp { due = present }
        return due > now ? try await session.pass(until: due) : []
    }

    /// The current speed relative to real time; at most 1 once the machine's clock is reached.
    private var speed: Int64 {
        get async {
            let speed = running.withLock { $0.speed }
            guard let present = await session.present, await session.now >= present - 1_000 else {
                return speed
            }
            return min(speed, 1)
        }
    }

    private func run(at speed: Int64) async {
        let (now, present) = (await session.now, await session.present)
        running.withLock {
            let due = $0.now(at: ours(), stores: now, atMost: present ?? .max)
            $0.run(at: speed, ours: ours(), stores: due)
        }
    }

    // MARK: Keeping

    /// Saves the stores to their file; does nothing without one.
    func keep() async throws { try await state?.keep(session) }

    /// Saves the stores every few seconds, until cancelled.
    func keepNowAndThen(telling output: Output) async {
        guard state != nil else { return }
        var isFailing = false
        while true {
            do { try await Task.sleep(for: .seconds(5)) } catch { return }
            do {
                try await keep()
                isFailing = false
            } catch {
                if !isFailing { output.message("tideover: the stores were not stored: \(error)") }
                isFailing = true
            }
        }
    }

    // MARK: Answers

    /// During a step, the session returns the step's start and the front its progress.
    private func clock() async -> Response {
        let now = max(await session.shown(session.now), storeServer.now)
        return .document(["now": .string(Instant(millisecondsSince1970: now).rfc3339)])
    }

    private func customers() async -> Response {
        let standings = await session.standings()
        return .document(
            await session.dated([
                "now": .string(Instant(millisecondsSince1970: session.now).rfc3339),
                "speed": .integer(speed),
                "customers": .array(standings.map(\.json)),
                "products": .object(session.products),
            ])
        )
    }

    /// Runs a step or a control command. A step with only a time is accepted here and nowhere else.
    private func control(_ body: [UInt8]) async throws -> Response {
        let moments: [TraceEntry]
        do {
            switch try ControlCommand(body) {
            case .untilNextEvent: moments = try await session.passToNextEvent()
            case .advance(let step):
                moments = try await session.take(JSONValue.object(step).encoded())
            case .run(let speed):
                if keepsUp {
                    throw ControlCommand.Fault(description: "with --month the speed is given")
                }
                await run(at: speed)
                moments = []
            case nil: moments = try await session.take(body)
            }
        } catch let fault as ControlCommand.Fault {
            return .document(["fault": .string("\(fault)")], status: 422)
        } catch let error as ScenarioError {
            let words = ControlCommand.fault(for: error)?.description ?? error.description
            return .document(["fault": .string(words)], status: 422)
        } catch let refusal as AheadOfClock {
            return .document(["fault": .string("\(refusal)")], status: 422)
        } catch let refusal as StepTooLong {
            return .document(["fault": .string("\(refusal)")], status: 422)
        } catch let refusal as SignatureRefusal {
            return .document(["fault": .string("\(refusal)")], status: 422)
        }
        do {
            try await keep()
        } catch {
            return .document(["fault": .string("done, but not stored: \(error)")], status: 500)
        }
        return .document(
            await session.dated([
                "now": .string(Instant(millisecondsSince1970: session.now).rfc3339),
                "speed": .integer(speed),
                "moments": .array(moments.map(\.json)),
            ])
        )
    }
}

extension CustomerStanding {
    fileprivate var json: JSONValue {
        [
            "name": .string(customer.name),
            "store": .string(store.rawValue),
            "appAccountToken": customer.appAccountToken.map(JSONValue.string) ?? .null,
            "state": .string(state),
            "until": until.map { .string(Instant(millisecondsSince1970: $0).rfc3339) } ?? .null,
        ]
    }
}
