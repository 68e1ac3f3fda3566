import Foundation
import Testing
import TideoverSandbox

@testable import tideover

/// Tests the naive back end with its own clock, on which a month of the store takes half a minute.
@Suite(.timeLimit(.minutes(20))) struct PacedNaiveBackEndTests {
    @Test(
        arguments: [
            "app-store-recovered-in-grace", "app-store-recovered-in-retry",
            "app-store-refund-reversed", "app-store-trial-converted", "app-store-wire-retried",
            "google-grace-recovered", "google-hold-ended",
        ]
    )
    func `the naive check errs equally in scaled time and in store time`(_ name: String)
        async throws
    {
        let file = NaiveBackEndTests.project.appending(path: "Scenarios/\(name).json5")
        let bytes = try Array(Data(contentsOf: file))
        let free = try #require(try await NaiveBackEndTests.play(bytes))
        let paced = try #require(try await NaiveBackEndTests.play(bytes, month: 30_000))
        #expect(!free.verdicts.isEmpty)
        #expect(paced.verdicts.map(\.holds) == free.verdicts.map(\.holds))
        #expect(NaiveBackEndTests.mistakes(in: paced) == NaiveBackEndTests.mistakes(in: free))
    }

    @Test(
        arguments: [
            ("30s", 30_000), ("5min", 300_000), ("720h", 2_592_000_000), ("250ms", 250),
            ("30d", 2_592_000_000), ("", nil), ("30", nil), ("0s", nil), ("-3s", nil),
            ("5 min", nil), ("min", nil),
        ] as [(String, Int64?)]
    )
    func `a length is a number and its unit`(_ text: String, _ milliseconds: Int64?) {
        #expect(WallPace.milliseconds(in: text) == milliseconds)
    }
}
