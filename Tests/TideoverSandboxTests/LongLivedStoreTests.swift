import Testing
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSandbox

/// Long-running stores keep only the data that they still report.
@Suite struct LongLivedStoreTests {
    private static let stage = """
        { scenario: "A desk", source: "a test",
          app: { id: "cards", bundleId: "com.example.cards" },
          products: { "cards.yearly": { entitlements: ["premium"], group: "pro", period: "P1Y",
                      price: "79.99 USD" } },
          googlePlay: { packageName: "com.example.cards",
            subscriptions: { "cards.pro": { entitlements: ["premium"], basePlans: {
              yearly: { period: "P1Y", price: "79.99 USD" } } } } },
          customers: { anna: {}, ben: { store: "googlePlay" } }, start: "2026-05-01T10:00:00Z" }
        """

    /// The handlers of both stores.
    private let doors = Locked<[Handler]>([])

    private var target: ScenarioTarget {
        let doors = doors
        var target = ScenarioTarget(
            deliver: { _ in Response(status: 200) },
            readBack: { _ in Response(body: Array("{}".utf8)) },
            setClock: { _ in }
        )
        target.googlePlay.authority = Self.authority
        target.meetStore = { door in doors.withLock { $0.append(door) } }
        target.googlePlay.meetGoogle = { door in doors.withLock { $0.append(door) } }
        return target
    }

    private static let authority = PlayAuthority(seed: 5)

    private func live(_ session: ScenarioSession, days: ClosedRange<Int>) async throws {
        for day in days {
            let (anna, ben) = day.isMultiple(of: 2) ? ("reenable", "restart") : ("cancel", "cancel")
            let steps = [
                #"{ after: "1 d", do: "\#(anna)", customer: "anna" }"#,
                #"{ do: "\#(ben)", customer: "ben" }"#,
            ]
            for step in steps { _ = try await session.take(Array(step.utf8)) }
            // No key is accepted, but the stores record the calls.
            for ask in doors.withLock({ $0 }) {
                _ = try await ask(Request(path: "/inApps/v1/subscriptions/1"))
                _ = try await ask(
                    Request(
                        path: "/androidpublisher/v3/applications/com.example.cards/purchases"
                            + "/subscriptionsv2/tokens/none"
                    )
                )
            }
        }
    }

    @Test func `a file of long-lived stores does not grow without purchases`()
        async throws
    {
        let stage = try Scenario(stage: Array(Self.stage.utf8)) { _ in [] }
        let authority = try SandboxAuthority()
        let session = await ScenarioSession(stage, target: target, authority: authority)
        for step in [
            #"{ do: "subscribe", customer: "anna" }"#,
            #"{ do: "buy", customer: "ben", product: "cards.pro" }"#,
        ] { _ = try await session.take(Array(step.utf8)) }
        try await live(session, days: 1...200)
        let early = await session.saved()
        try await live(session, days: 201...300)
        let late = await session.saved()
        #expect(late.count < early.count + early.count / 50)

        let resumed = try await ScenarioSession(
            resuming: late,
            on: stage,
            target: target,
            authority: authority
        )
        #expect(await resumed.saved() == late)
        let standings = await session.standings().map { [$0.customer.name, $0.state] }
        #expect(await resumed.standings().map { [$0.customer.name, $0.state] } == standings)
        #expect(standings == [["anna", "active"], ["ben", "active"]])
    }

    @Test func `the seed of a saved store can be read`() async throws {
        let stage = try Scenario(stage: Array(Self.stage.utf8), salt: 77) { _ in [] }
        let session = await ScenarioSession(
            stage,
            target: target,
            authority: try SandboxAuthority()
        )
        #expect(ScenarioSession.seed(of: await session.saved()) == stage.seed)
        #expect(ScenarioSession.seed(of: Array("{}".utf8)) == nil)
        let other = try Scenario(stage: Array(Self.stage.utf8), salt: 78) { _ in [] }
        #expect(other.customers.map(\.appAccountToken) != stage.customers.map(\.appAccountToken))
    }
}
