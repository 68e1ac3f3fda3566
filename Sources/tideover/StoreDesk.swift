import TideoverCommandLine
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSandbox
import TideoverSignatures

/// Simulated stores that stay, as those meet them over HTTP who tell them what happens and look at what
/// comes of it. Back ends meet the front beside it.
struct StoreDesk {
    private let session: ScenarioSession
    private let front: StoreFront

    init(_ stage: Scenario, _ visit: BackEndVisit) async throws {
        front = visit.front
        session = await ScenarioSession(
            stage,
            target: try visit.target(for: stage),
            authority: visit.authority
        )
        let desk = self
        front.add { request in try await desk.answer(request) }
    }

    /// Nil for what is not asked of the desk.
    private func answer(_ request: Request) async throws -> Response? {
        switch (request.method, request.path) {
        case ("GET", "/clock"): await clock()
        case ("GET", "/customers"): await customers()
        case ("POST", "/control"): try await control(request.body)
        case (_, "/customers"), (_, "/control"): Response(status: 405)
        default: nil
        }
    }

    /// Lets the store's time pass, so many times as fast as ours, until cancelled.
    func letTimePass(_ speed: Int, telling output: Output) async {
        let clock = ContinuousClock()
        let (began, start) = (clock.now, await session.now)
        while true {
            do { try await Task.sleep(for: .milliseconds(100)) } catch { return }
            let gone = (clock.now - began).components
            let milliseconds = gone.seconds * 1000 + gone.attoseconds / 1_000_000_000_000_000
            do {
                _ = try await session.pass(until: start + milliseconds * Int64(speed))
            } catch {
                output.message("tideover: the store stands still: \(error)")
                return
            }
        }
    }

    // MARK: Answers

    /// While a step is being done, the session shows when it began, and the front how far it has come.
    private func clock() async -> Response {
        let now = max(await session.now, front.now)
        return .document(["now": .string(Instant(millisecondsSince1970: now).rfc3339)])
    }

    private func customers() async -> Response {
        let standings = await session.standings()
        return .document([
            "now": .string(Instant(millisecondsSince1970: await session.now).rfc3339),
            "customers": .array(standings.map(\.json)),
        ])
    }

    /// Does what a step says; `{"do": "nextEvent"}` and a step of nothing but a time are for this place alone.
    private func control(_ body: [UInt8]) async throws -> Response {
        let moments: [Moment]
        do {
            switch Pause(body) {
            case .untilNextEvent?: moments = try await session.passToNextEvent()
            case .none: moments = try await session.take(body)
            }
        } catch let fault as ScenarioError {
            return .document(["fault": .string("\(fault)")], status: 422)
        } catch let refusal as SignatureRefusal {
            return .document(["fault": .string("\(refusal)")], status: 422)
        }
        return .document([
            "now": .string(Instant(millisecondsSince1970: await session.now).rfc3339),
            "moments": .array(moments.map(\.json)),
        ])
    }

    private enum Pause {
        case untilNextEvent

        init?(_ body: [UInt8]) {
            guard let root = try? JSONDocument(body, syntax: .relaxed, limits: .local).root,
                root["do"]?.string == "nextEvent"
            else { return nil }
            self = .untilNextEvent
        }
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
