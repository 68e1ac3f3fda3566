import Foundation
import Testing
import TideoverCore
import TideoverJSON
import TideoverRehearsal
import TideoverSandbox
import TideoverServer

@testable import TideoverTestServer

/// Account holds that end unpaid; Google moves their expiry to the end of the hold.
@Suite struct PlayUnpaidHoldTests {
    private static let end: Instant = "2026-06-01T10:00:00Z"
    private static let held: Instant = "2026-06-02T10:00:00Z"
    private static let over: Instant = "2026-07-02T10:00:00Z"

    /// Creates a back end that followed a month, its hold, and the weeks after the hold ended
    /// unpaid.
    private func lived() async throws -> PlayBackEnd {
        let google = ScriptedPlay(TestTime(at: PlayBackEnd.start, movesClock: true))
        google.play("token-1") { now in
            if now < Self.end { return ScriptedPlay.subscription("ACTIVE", until: Self.end) }
            if now < Self.held { return ScriptedPlay.subscription("ACTIVE", until: Self.held) }
            if now < Self.over { return ScriptedPlay.subscription("ON_HOLD", until: Self.held) }
            return ScriptedPlay.subscription(
                "EXPIRED",
                until: Self.over,
                isOn: false,
                ["canceledStateContext": ["systemInitiatedCancellation": [:]]]
            )
        }
        let backEnd = try PlayBackEnd(google)
        #expect(try await backEnd.push(4, "token-1") == 200)
        try await backEnd.live(until: Self.over - .minutes(1))
        #expect(try await backEnd.words() == "hold accountHold confirmed none")
        try await backEnd.live(until: Self.over + .minutes(1))
        for type: Int64 in [3, 13] { #expect(try await backEnd.push(type, "token-1") == 200) }
        try await backEnd.live(until: Self.over + .days(20))
        return backEnd
    }

    @Test func `the recovery report counts the hold as not recovered`() async throws {
        let backEnd = try await lived()
        #expect(try await backEnd.words() == "expired billingError confirmed none")
        let facts = try backEnd.facts()
        let lineage = try #require(facts.first?.lineage)
        let told = LineageTimeline(
            lineage: lineage,
            facts: facts,
            catalogue: Versioned(PlayBackEnd.catalogue),
            policy: Versioned(Policy()),
            until: backEnd.time.clock.now
        )
        let report = RecoveryReport(of: told.issues, asOf: backEnd.time.clock.now)
        let row = try #require(report.rows.first)
        #expect((row.issues, row.recovered, row.unrecovered) == (1, 0, 1))
        await backEnd.close()
    }

    @Test func `the explanation of an instant in the hold is the hold`() async throws {
        let backEnd = try await lived()
        for day: Int64 in [1, 10, 20, 29] {
            let at = (Self.held + .days(day)).rfc3339
            let why = try await backEnd.get(
                "/v1/apps/cards/customers/\(TestServer.anna)/explain?environment=production&at=\(at)"
            )
            let decision = why["entitlements"]?["premium"]?["decision"]
            #expect(decision?["state"]?.string == "hold", "at \(at)")
            #expect(decision?["access"]?.bool == false, "at \(at)")
        }
        await backEnd.close()
    }

    // MARK: Rehearsals

    private struct Rehearsed: Sendable {
        let file: String
        let held: Instant
        let over: Instant
    }

    private static let rehearsed = [
        Rehearsed(
            file: "google-hold-unpaid-after-grace.json5",
            held: "2026-06-08T10:00:00Z",
            over: "2026-07-08T10:00:00Z"
        ),
        Rehearsed(
            file: "google-hold-unpaid-bought-again.json5",
            held: "2026-06-02T10:00:00Z",
            over: "2026-07-02T10:00:00Z"
        ),
    ]

    @Test(arguments: rehearsed)
    private func `the timeline of a rehearsed hold has no recovery and no paid day in the hold`(
        _ life: Rehearsed
    ) async throws {
        let path = ScenarioTests.folder.appending(path: life.file)
        let scenario = try Scenario(reading: Array(try Data(contentsOf: path)))
        try await Rehearsal.played(scenario) { rehearsal, report in
            #expect(report.passed)
            let customer = "/v1/apps/cards/customers/6d2f3c1a-5b7e-4c90-9a41-0f8e27b3d516"
            let timeline = try await rehearsal.get("\(customer)/timeline?environment=simulated")
            let premium = timeline["entitlements"]?["premium"]
            let kinds = premium?["transitions"]?.array?.compactMap { $0["kind"]?.string } ?? []
            #expect(kinds.contains("expired"))
            #expect(!kinds.contains { $0.contains("recovered") })
            let spans = try #require(premium?["spans"]?.array)
            let hold = spans.first { $0["state"]?.string == "hold" }
            #expect(hold?["from"]?.string.flatMap { Instant(rfc3339: $0) } == life.held)
            // The two messages at the end arrive a second later.
            let until = try #require(hold?["until"]?.string.flatMap { Instant(rfc3339: $0) })
            #expect(until >= life.over && until <= life.over + .seconds(2))
            let why = try await rehearsal.get(
                "\(customer)/explain?environment=simulated&at=\((life.held + .days(15)).rfc3339)"
            )
            let decision = why["entitlements"]?["premium"]?["decision"]
            #expect(decision?["state"]?.string == "hold")
        }
    }
}
