import Testing
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSandbox
import TideoverSignatures

/// Scenarios with Google Play.
@Suite struct PlayScenarioTests {
    private func text(_ steps: String, customers: String = "{ anna: {} }") -> [UInt8] {
        Array(
            """
            {
              scenario: "A case", source: "These tests",
              app: { id: "cards" },
              googlePlay: {
                packageName: "com.example.cards",
                subscriptions: {
                  "cards.pro": { entitlements: ["premium"], basePlans: {
                    monthly: { period: "P1M", price: "9.99 USD", grace: "7 d" } } },
                },
                products: { "cards.lifetime": { entitlements: ["premium"], price: "49.99 USD" } },
              },
              customers: \(customers),
              start: "2026-05-01T10:00:00Z",
              steps: [\(steps)],
            }
            """.utf8
        )
    }

    private func trouble(_ steps: String) throws -> String {
        do {
            _ = try Scenario(reading: text(steps))
            return "none"
        } catch {
            return "\(error.reason)"
        }
    }

    @Test func `a scenario with only Google Play products has all customers there`() throws {
        let scenario = try Scenario(reading: text("{ do: 'buy', product: 'cards.pro' }"))
        #expect(scenario.googlePlay?.customers.map(\.name) == ["anna"])
        #expect(scenario.app.store.bundleId == "com.example.cards")
        let plan = try #require(scenario.googlePlay?.app.subscriptions.first?.basePlans.first)
        #expect((plan.graceDays, plan.holdDays) == (7, 53))
        guard case .googlePlay(let action) = scenario.steps.first?.action else {
            Issue.record("the step takes place in Google Play")
            return
        }
        #expect(
            action.deed
                == .act(
                    .subscribe(to: [GooglePlayChoice("cards.pro")], payment: .prompt, from: .app),
                    acknowledges: true
                )
        )
    }

    @Test func `an error suggests the probable correction`() throws {
        #expect(try trouble("{ do: 'resumee' }").contains("\"resume\""))
        #expect(try trouble("{ do: 'buy', product: 'cards.prof' }").contains("\"cards.pro\""))
        #expect(try trouble("{ do: 'buy' }").contains("several products"))
        #expect(try trouble("{ do: 'pause' }").contains("\"for\""))
        #expect(try trouble("{ do: 'resume', refused: 'notPausd' }").contains("\"notPaused\""))
        #expect(try trouble("{ do: 'disturbAPI', fault: 'stall' }").contains("\"stale\""))
        #expect(try trouble("{ do: 'shares' }").contains("is no action"))
    }

    @Test func `a quantity that overflows the price is refused`() throws {
        let most = "9223372036854775807"
        let buying = "{ do: 'buy', product: 'cards.lifetime', quantity: \(most) }"
        let refunding = "{ do: 'refund', product: 'cards.lifetime', quantity: \(most) }"
        #expect(try trouble(buying).contains("from 0 to 1000000"))
        #expect(try trouble(refunding).contains("from 0 to 1000000"))
    }

    @Test func `a long-lived store gets Google Play actions, and time passes without steps`()
        async throws
    {
        let stage = try Scenario(stage: text("", customers: "{ anna: {}, ben: {} }")) { _ in [] }
        let target = ScenarioTarget(
            deliver: { _ in Response(status: 200) },
            readBack: { _ in Response(body: Array("{}".utf8)) },
            setClock: { _ in }
        )
        let authority = try SandboxAuthority()
        let session = await ScenarioSession(stage, target: target, authority: authority)
        func take(_ step: String) async throws -> [TraceEntry] {
            try await session.take(Array(step.utf8))
        }
        _ = try await take("{ do: 'buy', customer: 'ben', product: 'cards.pro' }")
        _ = try await take("{ do: 'failPayments', customer: 'ben' }")
        _ = try await take("{ after: '32 d' }")
        var ben = try #require(await session.standings().last)
        #expect(ben.store == .googlePlay)
        // Seven days of grace from 1 June on, then the rest of sixty.
        #expect((ben.state, ben.until) == ("grace", InstantText.read("2026-06-08T10:00:00Z")))
        _ = try await take("{ at: '2026-06-07T12:00:00Z', customer: 'ben' }")
        _ = try await session.passToNextEvent()
        ben = try #require(await session.standings().last)
        #expect(ben.state == "hold")
        let anna = try #require(await session.standings().first)
        #expect((anna.customer.name, anna.state, anna.until) == ("anna", "never", nil))
        let verdict = try await take("{ do: 'resume', customer: 'ben' }").first
        #expect(verdict?.passed == false)
    }

    /// Plays steps against a back end that answers every push with the statuses in turn.
    private func play(_ steps: String, answering statuses: [Int]) async throws -> ScenarioReport {
        let rest = Locked(statuses)
        let target = ScenarioTarget(
            deliver: { request in
                #expect(request.path == "/v1/apps/cards/notifications/google-play")
                #expect(request.headers["Authorization"]?.hasPrefix("Bearer ey") == true)
                return Response(
                    status: rest.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? 200 }
                )
            },
            readBack: { _ in Response(body: Array(#"{"entitlements":{}}"#.utf8)) },
            setClock: { _ in }
        )
        let scenario = try Scenario(reading: text(steps))
        return try await played(scenario, against: target)
    }

    private func pushes(_ report: ScenarioReport) -> [String] {
        report.moments.compactMap { moment in
            guard case .push(let push) = moment.happening else { return nil }
            return "\(push.name) \(push.status ?? 0)"
        }
    }

    @Test(
        .timeLimit(.minutes(20)),
        arguments: [
            (#""P1M", price: "9.99 USD", grace: "7 d""#, #""1 s", price: "9.99 USD""#),
            ("start:", "delivery: { lag: '40 d' }, start:"),
        ]
    )
    func `a scenario ends although a subscription renews before its messages are sent`(
        part: String,
        replacement: String
    ) async throws {
        let text = String(decoding: text("{ do: 'buy', product: 'cards.pro' }"), as: UTF8.self)
        let target = ScenarioTarget(
            deliver: { _ in Response(status: 200) },
            readBack: { _ in Response(body: Array(#"{"entitlements":{}}"#.utf8)) },
            setClock: { _ in }
        )
        let report = try await ScenarioRunner(target: target, authority: SandboxAuthority()).run(
            try Scenario(reading: Array(text.replacing(part, with: replacement).utf8))
        )
        #expect(pushes(report).first == "SUBSCRIPTION_PURCHASED 200")
        #expect(pushes(report).contains("SUBSCRIPTION_RENEWED 200"))
    }

    @Test func `the store's messages are pushed, and refusals are judged`() async throws {
        let report = try await play(
            """
            { do: 'buy', product: 'cards.pro' },
            { after: '1 h', do: 'restart', refused: 'renewalAlreadyOn' },
            { after: '1 h', do: 'cancel' }, { after: '2 months', do: 'failPayments' },
            """,
            answering: [204]
        )
        #expect(
            pushes(report) == [
                "SUBSCRIPTION_PURCHASED 204", "SUBSCRIPTION_CANCELED 204",
                "SUBSCRIPTION_EXPIRED 204",
            ]
        )
        #expect(report.passed)
        let truths = report.readings.map(\.truth.isEntitled)
        #expect(truths == [true, true, false])
        // The naive check agrees: there was no pause and no failed payment.
        #expect(report.readings.allSatisfy { $0.naiveMistake == nil })
    }

    @Test func `a push that failed with a server error must be accepted later`() async throws {
        let late = "{ do: 'buy', product: 'cards.pro' }, { after: '1 h', do: 'failPayments' }"
        let taken = try await play(late, answering: [503, 503, 200])
        #expect(pushes(taken).map { $0.suffix(3) } == ["503", "503", "200"])
        #expect(taken.passed)
        let never = try await play(late, answering: [503])
        #expect(!never.passed)
        let refused = try await play(late, answering: [401, 200])
        #expect(!refused.passed)
    }

    @Test func `the events that a step requires are requested`() async throws {
        let scenario = try Scenario(
            reading: text("{ do: 'buy', product: 'cards.pro', events: ['started'] }")
        )
        func verdicts(telling kinds: [String]) async throws -> [Bool] {
            let target = ScenarioTarget(
                deliver: { _ in Response(status: 200) },
                readBack: { request in
                    guard request.path == "/v1/apps/cards/events" else {
                        return Response(body: Array("{}".utf8))
                    }
                    let events = kinds.map { kind -> JSONValue in
                        let customer = scenario.customers[0].appAccountToken
                        return [
                            "kind": .string(kind),
                            "customer": customer.map { .string($0) } ?? .null,
                        ]
                    }
                    let feed: JSONValue = ["events": .array(events)]
                    return Response(body: feed.encoded())
                },
                setClock: { _ in }
            )
            return try await played(scenario, against: target).verdicts.map(\.holds)
        }
        #expect(try await verdicts(telling: ["started", "entitlement_changed"]) == [true])
        #expect(try await verdicts(telling: ["started", "expired"]) == [false])
        #expect(try await verdicts(telling: []) == [false])
    }

    @Test func `the same scenario gives the same messages`() async throws {
        let steps = "{ do: 'buy', product: 'cards.pro' }, { after: '3 months', do: 'cancel' }"
        func messages() async throws -> [PlayMessage] {
            try await play(steps, answering: [200]).moments.compactMap { moment in
                guard case .push(let push) = moment.happening else { return nil }
                return push.message
            }
        }
        let (first, second) = (try await messages(), try await messages())
        #expect(first == second)
        #expect(first.count == 5)
    }
}
