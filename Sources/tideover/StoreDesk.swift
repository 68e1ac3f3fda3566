import TideoverCommandLine
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSandbox
import TideoverSignatures

/// A simulated store as others meet it over HTTP: its own API, its clock, and the desk at which it is told
/// what happens.
struct StoreDesk {
    private let session: ScenarioSession
    private let root: [UInt8]
    private let storeAPI: Handler

    init(_ stage: Scenario, _ visit: BackEndVisit) async throws {
        let met = Locked<Handler?>(nil)
        var target = visit.target(for: stage)
        target.meetStore = { api in met.withLock { $0 = api } }
        target.storeKeys = try visit.storeKeys()
        session = await ScenarioSession(stage, target: target, authority: visit.authority)
        root = visit.authority.root
        guard let api = met.withLock({ $0 }) else {
            preconditionFailure("a play makes its store known before it begins")
        }
        storeAPI = api
    }

    var handler: Handler {
        { request in
            switch (request.method, request.path) {
            case ("GET", "/clock"): await clock()
            case ("GET", "/customers"): await customers()
            case ("GET", "/root.der"):
                Response(headers: ["Content-Type": "application/pkix-cert"], body: root)
            case ("POST", "/control"): try await control(request.body)
            case (_, "/clock"), (_, "/customers"), (_, "/root.der"), (_, "/control"):
                Response(status: 405)
            default: try await storeAPI(request)
            }
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

    private func clock() async -> Response {
        .document(["now": .string(Instant(millisecondsSince1970: await session.now).rfc3339)])
    }

    private func customers() async -> Response {
        let standings = await session.standings()
        return .document([
            "now": .string(Instant(millisecondsSince1970: await session.now).rfc3339),
            "customers": .array(standings.map { $0.customer.json($0.truth) }),
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

extension StoreCustomer {
    fileprivate func json(_ truth: AppStoreTruth) -> JSONValue {
        [
            "name": .string(name),
            "appAccountToken": appAccountToken.map(JSONValue.string) ?? .null,
            "state": .string(truth.name),
            "until": truth.until.map {
                .string(Instant(millisecondsSince1970: $0).rfc3339)
            } ?? .null,
        ]
    }
}

extension Response {
    fileprivate static func document(_ value: JSONValue, status: Int = 200) -> Response {
        Response(
            status: status,
            headers: ["Content-Type": "application/json"],
            body: value.encoded() + [UInt8(ascii: "\n")]
        )
    }
}
