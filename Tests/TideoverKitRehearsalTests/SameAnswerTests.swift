import Foundation
import Testing
import TideoverCore
import TideoverKit
import TideoverLocks
import TideoverSandbox

/// A device that decides from StoreKit alone gives the same answers as the server.
@Suite @MainActor struct SameAnswerTests {
    @Test(arguments: Scenario.names("app-store-"))
    func `device and server give the same answer at each step`(name: String) async throws {
        let lives = try await ComparedLives.played(try Scenario.named(name), at: .chosen)
        #expect(lives.differences == [])
    }

    @Test func `a month of three minutes keeps device and server equal`() async throws {
        let lives = try await ComparedLives.played(
            .fastSandbox(),
            at: .chosen,
            renewalRate: .threeMinutes
        )
        #expect(lives.differences == [])
        // A sandbox renews twelve times, then the subscription ends.
        #expect(lives.ends.count == 13)
        #expect(lives.lastState == .expired)
    }

    @Test(arguments: Scenario.names("drift-"))
    func `each drift is recorded and healed`(name: String) async throws {
        let lives = try await ComparedLives.played(try Scenario.named(name), at: .chosen)
        #expect(lives.differences == [])
        #expect(Set(lives.drifts.map(\.cause)) == Scenario.drifts[name])
    }
}

extension Scenario {
    /// What the server records while the kit plays the device. The kit finishes, claims and corrects
    /// its clock by itself, so that some causes do not occur.
    fileprivate static let drifts: [String: Set<String>] = [
        "drift-device-clock": [], "drift-missed-extension": ["missed-notification"],
        "drift-missed-notification": ["missed-notification"],
        "drift-missed-refund": ["missed-notification"],
        "drift-other-customers-purchase": ["other-customer"],
        "drift-stale-device-cache": ["stale-device-cache"], "drift-unclaimed-purchase": [],
        "drift-unfinished-transaction": [], "drift-unverified-on-device": ["unverified-on-device"],
        "drift-wrong-environment": [],
    ]

    /// A subscription in a sandbox with months of three minutes, visited after each.
    static func fastSandbox() throws -> Scenario {
        let visits = Array(repeating: #"{ after: "3 min", do: "openApp" },"#, count: 16)
        let text = """
            {
              scenario: "A fast sandbox", source: "Tideover",
              app: { id: "cards", bundleId: "com.example.cards" },
              products: {
                "cards.pro.monthly": { entitlements: ["premium"], group: "pro", period: "P1M", price: "9.99 USD" },
              },
              customers: { anna: {} },
              start: "2026-05-01T10:00:00Z",
              steps: [ { do: "subscribe" }, \(visits.joined()) ],
            }
            """
        return try Scenario(reading: Array(text.utf8))
    }
}
