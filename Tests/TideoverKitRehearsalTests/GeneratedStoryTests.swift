import Foundation
import Testing
import TideoverCore
import TideoverKit
import TideoverSandbox

/// A device that decides from StoreKit alone gives the same answers as the server, in stories with
/// faults of messages, of the store's API and of the device.
@Suite @MainActor struct GeneratedStoryTests {
    /// A few seeds in each run of the tests. `TIDEOVER_KIT_STORIES` is a number of them, or the
    /// first and the last, like `41-80`.
    private nonisolated static var seeds: [UInt64] {
        let text = ProcessInfo.processInfo.environment["TIDEOVER_KIT_STORIES"] ?? "3"
        let bounds = text.split(separator: "-").compactMap { UInt64($0) }
        guard let last = bounds.last else { return [] }
        let first = bounds.count == 2 ? bounds[0] : 1
        return first <= last ? Array(first...last) : []
    }

    @Test(arguments: seeds)
    func `device and server give the same answer throughout a generated story`(
        seed: UInt64
    ) async throws {
        let lives = try await ComparedLives.played(
            .generated(seed: seed, of: .appStore),
            at: .chosen
        )
        #expect(lives.differences == [])
        #expect(lives.comparisons > 50)
        // The device's report heals what a fault caused, and the server records the difference.
        #expect(lives.remained == 0)
        #expect(lives.unrecorded == [])
    }
}
