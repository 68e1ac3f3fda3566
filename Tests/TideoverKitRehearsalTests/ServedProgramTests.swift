import StoreKitFaking
import Testing
import TideoverCore
import TideoverJSON
import TideoverKit
import TideoverLocks
import TideoverSandbox

/// The kit and `tideover serve` on a loopback socket. `scripts/kit-trial.sh` compares all scenarios
/// this way.
@Suite(
    .enabled(if: ComparedServer.hasProgram, "the executable is not beside the tests"),
    .timeLimit(.minutes(20))
)
@MainActor struct ServedProgramTests {
    @Test(arguments: ["drift-missed-refund", "app-store-message-shown"])
    func `device and program give the same answer at each step`(name: String) async throws {
        let lives = try await ComparedLives.played(try Scenario.named(name), at: .program)
        #expect(lives.differences == [])
        #expect(lives.comparisons > 4)
        #expect(lives.drifts.isEmpty == !name.hasPrefix("drift-"))
    }

    @Test func `every log line about a fast sandbox names its environment`() async throws {
        let lives = try await ComparedLives.played(
            .fastSandbox(),
            at: .program,
            renewalRate: .threeMinutes
        )
        #expect(lives.differences == [])
        #expect(lives.ends.count == 13)
        // Starting and stopping concern no app.
        let lines = lives.log.filter { $0["app"] != nil }
        let messages = lines.filter { $0["route"]?.string?.hasSuffix("/app-store") ?? false }
        let committed = lines.filter { $0["event"]?.string == "notification committed" }
        #expect(committed.count >= 13)
        #expect(committed.count == messages.count)
        #expect(lines.contains { $0["route"]?.string?.hasSuffix("/pass-keys") ?? false })
        #expect(lines.count > 2 * committed.count + 16)
        #expect(lines.filter { $0["environment"]?.string != "simulated" } == [])
    }

    // MARK: - The pass

    private func rehearse(
        _ body: @MainActor (KitRehearsal) async throws -> Void
    ) async throws {
        let scenario = try Scenario(reading: Array(StoreFaultTests.scenario.utf8))
        let rehearsal = try await KitRehearsal(scenario, at: .program)
        try await rehearsal.device.fakeStore().serve {
            try await rehearsal.store.perform(
                .buy(product: "cards.pro.monthly", outsideApp: true),
                by: "anna"
            )
            let app = await rehearsal.launch(withServer: true)
            #expect(app["premium"].confidence == .confirmed)
            // Later launches reach neither the server nor the purchases.
            rehearsal.connection.withLock { $0 = .none }
            await rehearsal.device.signIn(as: "nobody")
            try await body(rehearsal)
        }
        try await rehearsal.close()
    }

    private static let day = Int64(86_400_000)

    private func launch(_ rehearsal: KitRehearsal, onDay day: Int64) async throws
        -> EntitlementStore
    {
        try await rehearsal.pass(until: rehearsal.scenario.start + day * Self.day)
        return await rehearsal.launch(withServer: true)
    }

    @Test func `the server's pass keeps access offline within its life, not longer`() async throws {
        try await rehearse { rehearsal in
            let within = try await launch(rehearsal, onDay: 6)
            #expect(within["premium"].access == .granted)
            let beyond = try await launch(rehearsal, onDay: 8)
            #expect(beyond["premium"].access == .denied)
            #expect(beyond["premium"].confidence == .unknown)
            rehearsal.connection.withLock { $0 = .complete }
            let online = await rehearsal.launch(withServer: true)
            #expect(online["premium"].access == .granted)
        }
    }

    @Test func `a clock that is set back does not extend the server's pass`() async throws {
        try await rehearse { rehearsal in
            _ = try await launch(rehearsal, onDay: 8)
            rehearsal.clockOffset.withLock { $0 = -5 * Self.day }
            let app = await rehearsal.launch(withServer: true)
            #expect(app["premium"].access == .denied)
            #expect(app.state.isClockSetBack)
        }
    }
}
