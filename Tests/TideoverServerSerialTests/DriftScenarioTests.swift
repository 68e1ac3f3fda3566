import Foundation
import Testing
import TideoverCore
import TideoverJSON
import TideoverRehearsal
import TideoverSandbox

@testable import TideoverTestServer

/// The reports about each rehearsal of drift, without manual intervention.
@Suite struct DriftScenarioTests {
    struct Outcome: Sendable, CustomTestStringConvertible {
        /// The name in `drift-NAME.json5`.
        let name: String
        let direction: Drift.Direction
        let cause: Drift.Cause
        let healer: Drift.Healer
        /// The time from the step that finds the drift to the step that ends it.
        let timeToHeal: Milliseconds
        /// The access we denied, all before the drift healed; each file continues after that.
        var lockout = Milliseconds.zero
        /// After its discovery, how long one side denied access that both later granted.
        var lockoutSinceFound = Milliseconds.zero

        var testDescription: String { name }
        var file: String { "drift-\(name).json5" }
    }

    /// Derived from the scenario files: their steps give the times, the rules the denials.
    static let outcomes = [
        Outcome(
            name: "stale-device-cache",
            direction: .deviceDeniesServerAllows,
            cause: .staleDeviceCache,
            healer: .device,
            timeToHeal: .hours(1),
            lockoutSinceFound: .hours(1)
        ),
        // The leeway of 24 hours ends on 2 June at 10:00; the device reports a day later.
        Outcome(
            name: "missed-notification",
            direction: .deviceAllowsServerDenies,
            cause: .missedNotification,
            healer: .asked,
            timeToHeal: .zero,
            lockout: .days(1)
        ),
        Outcome(
            name: "missed-refund",
            direction: .deviceDeniesServerAllows,
            cause: .missedNotification,
            healer: .asked,
            timeToHeal: .zero
        ),
        Outcome(
            name: "missed-extension",
            direction: .untilDiffers,
            cause: .missedNotification,
            healer: .asked,
            timeToHeal: .zero
        ),
        Outcome(
            name: "other-customers-purchase",
            direction: .deviceAllowsServerDenies,
            cause: .otherCustomer,
            healer: .device,
            timeToHeal: .hours(2)
        ),
        Outcome(
            name: "wrong-environment",
            direction: .deviceDeniesServerAllows,
            cause: .environment,
            healer: .device,
            timeToHeal: .hours(3),
            lockoutSinceFound: .hours(3)
        ),
        Outcome(
            name: "device-clock",
            direction: .deviceDeniesServerAllows,
            cause: .clock,
            healer: .device,
            timeToHeal: .minutes(15),
            lockoutSinceFound: .minutes(15)
        ),
        Outcome(
            name: "unverified-on-device",
            direction: .deviceDeniesServerAllows,
            cause: .unverifiedOnDevice,
            healer: .device,
            timeToHeal: .days(2),
            lockoutSinceFound: .days(2)
        ),
        // Bought on 1 May at 10:01 and presented on the 2nd at 11:00.
        Outcome(
            name: "unfinished-transaction",
            direction: .deviceAllowsServerDenies,
            cause: .unfinishedTransaction,
            healer: .device,
            timeToHeal: .hours(1),
            lockout: .minutes(24 * 60 + 59),
            lockoutSinceFound: .hours(1)
        ),
        Outcome(
            name: "unclaimed-purchase",
            direction: .deviceAllowsServerDenies,
            cause: .unclaimedPurchase,
            healer: .ownership,
            timeToHeal: .minutes(10),
            lockoutSinceFound: .minutes(10)
        ),
    ]

    @Test func `the scenarios cover every cause and every file of drift`() {
        #expect(Set(Self.outcomes.map(\.cause)) == Set(Drift.Cause.allCases))
        #expect(Set(Self.outcomes.map(\.direction)) == Set(Drift.Direction.allCases))
        let files = ScenarioTests.files.filter { $0.hasPrefix("drift-") }
        #expect(Set(Self.outcomes.map(\.file)) == Set(files))
    }

    @Test(arguments: outcomes)
    func `drift heals without an operator, and no customer stays locked out`(
        _ outcome: Outcome
    ) async throws {
        let folder = ScenarioTests.folder
        let bytes = Array(try Data(contentsOf: folder.appending(path: outcome.file)))
        let scenario = try Scenario(reading: bytes)
        try await Rehearsal.played(scenario) { rehearsal, report in
            #expect(report.passed)
            try await hold(rehearsal, to: outcome)
        }
    }

    /// Checks the reports two days after the drift ended.
    private func hold(_ rehearsal: Rehearsal, to outcome: Outcome) async throws {
        rehearsal.clock.now = rehearsal.clock.now + .days(2)

        let drift = try await rehearsal.get("/v1/reports/drift?app=cards")["rows"]?[0]
        #expect(drift?["found"]?.int64 == 1)
        #expect(drift?["open"]?.int64 == 0)
        #expect(drift?["openSince"] == .null)
        #expect(drift?["healedBy"]?[outcome.healer.rawValue]?.int64 == 1)
        #expect(drift?["kinds"]?.array?.count == 1)
        let kind = drift?["kinds"]?[0]
        #expect(kind?["direction"]?.string == outcome.direction.rawValue)
        #expect(kind?["cause"]?.string == outcome.cause.rawValue)
        let median = try #require(kind?["timeToHeal"]?["medianSeconds"]?.double)
        let truth = Double(outcome.timeToHeal.count) / 1_000
        // A quantile is at most 0.2 % too low.
        #expect(median <= truth && median >= truth * 0.998)

        let sinceFound = Double(outcome.lockoutSinceFound.count) / 60_000
        #expect(kind?["lockoutMinutes"]?.double == sinceFound)

        let lockouts = try await rehearsal.get("/v1/reports/lockouts?app=cards")["rows"]?[0]
        let minutes = try #require(lockouts?["ours"]?["minutes"]?.double)
        // The simulated store delivers a second after it signs.
        #expect(abs(minutes - Double(outcome.lockout.count) / 60_000) < 0.1)
        #expect(try #require(lockouts?["entitledMinutes"]?.double) > 0)
    }
}
