import Testing
import TideoverHTTP
import TideoverJSON
import TideoverSandbox

/// A saved stage with both stores continues as if it had not been interrupted.
@Suite struct SavedSessionTests {
    private static let head = """
        scenario: "A desk", source: "a test", seed: 5,
        app: { id: "cards", bundleId: "com.example.cards" },
        products: { "cards.pro.monthly": { entitlements: ["premium"], group: "pro", period: "P1M",
                    price: "9.99 USD", grace: "P16D" } },
        googlePlay: { packageName: "com.example.cards",
          subscriptions: { "cards.pro": { entitlements: ["premium"], basePlans: {
            monthly: { period: "P1M", price: "9.99 USD", grace: "P7D" } } } },
          pubSub: { scatter: "30 s", redelivered: 10, republished: 10 } },
        start: "2026-05-01T10:00:00Z",
        """
    private static let customers = #"customers: { anna: {}, ben: { store: "googlePlay" } }"#

    /// Shared, because creating its key is slow.
    private static let playAuthority = PlayAuthority(seed: 5)

    private let authority: SandboxAuthority
    private let stage: Scenario

    init() throws {
        authority = try SandboxAuthority()
        stage = try Self.stage(Self.customers)
    }

    private static func stage(_ customers: String) throws -> Scenario {
        try Scenario(stage: Array("{ \(head) \(customers) }".utf8)) { _ in [] }
    }

    /// A back end that rejects a quarter of the requests, by their length, and returns empty
    /// answers.
    private var target: ScenarioTarget {
        var target = ScenarioTarget(
            deliver: { request in
                let isRefused = request.body.count.isMultiple(of: 4)
                return Response(status: isRefused ? 503 : 200)
            },
            readBack: { _ in Response(body: Array("{}".utf8)) },
            setClock: { _ in }
        )
        target.googlePlay.authority = Self.playAuthority
        return target
    }

    private func begin() async -> ScenarioSession {
        await ScenarioSession(stage, target: target, authority: authority)
    }

    private func resumed(_ bytes: [UInt8], on other: Scenario? = nil) async throws(SavedStoreError)
        -> ScenarioSession
    {
        try await ScenarioSession(
            resuming: bytes,
            on: other ?? stage,
            target: target,
            authority: authority
        )
    }

    private static let steps = [
        #"{ do: "subscribe", customer: "anna", trial: "declined" }"#,
        #"{ do: "buy", customer: "ben", product: "cards.pro" }"#,
        #"{ do: "buy", customer: "ben", product: "cards.pro", acknowledged: false }"#,
        #"{ do: "failPayments", customer: "anna" }"#, #"{ do: "fixPayments", customer: "anna" }"#,
        #"{ do: "failPayments", customer: "ben" }"#, #"{ do: "fixPayments", customer: "ben" }"#,
        #"{ do: "cancel", customer: "ben" }"#, #"{ do: "restart", customer: "ben" }"#,
        #"{ do: "openApp", customer: "anna" }"#,
        #"{ do: "openApp", customer: "anna", looks: false }"#,
        #"{ do: "loseNotifications" }"#, #"{ do: "deliverNotifications" }"#,
        #"{ do: "loseNotifications", customer: "ben" }"#,
        #"{ do: "deliverNotifications", customer: "ben" }"#,
        #"{ customer: "anna", expect: { premium: { state: "active" } } }"#,
        #"{ after: "12 d" }"#, #"{ after: "17 d" }"#, #"{ after: "36 h" }"#,
    ]

    private enum Told: Equatable {
        case moments([TraceEntry])
        case fault(ScenarioError)

        var count: Int {
            if case .moments(let moments) = self { moments.count } else { 0 }
        }
    }

    /// Returns a session's output for a step; nil requests the store's next event.
    private func told(_ session: ScenarioSession, _ step: String?) async throws -> Told {
        do {
            guard let step else { return .moments(try await session.passToNextEvent()) }
            return .moments(try await session.take(Array(step.utf8)))
        } catch let error as ScenarioError {
            return .fault(error)
        }
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `a stage saved and restored at every step continues unchanged`(seed: UInt64)
        async throws
    {
        var random = SeededRandom(seed: seed)
        let whole = await begin()
        var interrupted = await begin()
        var heard = 0
        for _ in 0..<50 {
            let step = random.number(in: 0...3) == 0 ? nil : random.pick(Self.steps)
            interrupted = try await resumed(await interrupted.saved())
            let expected = try await told(whole, step)
            #expect(try await told(interrupted, step) == expected, "\(step ?? "next event")")
            heard += expected.count
        }
        #expect(heard > 30)
        #expect(await interrupted.now == whole.now)
    }

    @Test func `a saved stage is restored only on its own stage, and the difference is reported`()
        async throws
    {
        let saved = await begin().saved()
        func refusal(_ customers: String, _ more: String = "") async throws -> SavedStoreError? {
            let other = try Self.stage("\(customers)\(more)")
            do {
                _ = try await resumed(saved, on: other)
                return nil
            } catch {
                return error
            }
        }
        #expect(try await refusal(Self.customers) == nil)
        #expect(
            try await refusal(#"customers: { anna: {}, bo: { store: "googlePlay" } }"#)
                == .stage(["googlePlay", "customers"])
        )
        #expect(
            try await refusal(Self.customers, #", delivery: { lag: "5 s" }"#)
                == .stage(["googlePlay", "lag"])
        )
        let words = SavedStoreError.stage(["customers"]).description
        #expect(words.contains("customers of the scenario's head is not the same"))
    }

    @Test func `an invalid saved stage is refused with a reason`() async throws {
        let text = String(decoding: await begin().saved(), as: UTF8.self)
        func refusal(_ text: String) async -> SavedStoreError? {
            do {
                _ = try await resumed(Array(text.utf8))
                return nil
            } catch {
                return error
            }
        }
        guard case .syntax = await refusal("") else {
            Issue.record("nothing is no JSON")
            return
        }
        #expect(await refusal("[]") == .format(nil))
        #expect(
            await refusal(text.replacing("simulated-stage.2", with: "simulated-stage.1"))
                == .format("tideover.simulated-stage.1")
        )
        #expect(
            await refusal(text.replacing("\"losesPushes\":false", with: "\"losesPushes\":0"))
                == .content("play.losesPushes: this is no Bool")
        )
    }

    @Test func `a saved stage contains no keys`() async throws {
        let session = await begin()
        for step in Self.steps { _ = try await told(session, step) }
        let text = String(decoding: await session.saved(), as: UTF8.self)
        #expect(!text.contains("PRIVATE KEY"))
        #expect(text.contains("tideover.simulated-app-store.2"))
        #expect(text.contains("tideover.simulated-google-play.2"))
    }
}
