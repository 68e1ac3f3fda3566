import Testing
import TideoverRehearsal
import TideoverSandbox

/// Stories by a seed, with notifications and answers going wrong. `scripts/stories.sh` plays many more.
@Suite struct GeneratedStoryTests {
    private func faults(seed: UInt64, planting: Bool = false) async throws -> [StoryFault] {
        let scenario = Scenario.generated(seed: seed, planting: planting)
        return try await Rehearsal.played(scenario) { $1.storyFaults }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `when it is quiet the answer is the store's own truth`(seed: UInt64) async throws {
        #expect(try await faults(seed: seed) == [])
    }

    @Test func `a refund that nobody heard of and nobody asked about is found`() async throws {
        let faults = try await faults(seed: 1, planting: true)
        #expect(faults.count == 1)
        #expect(faults.first?.description.contains("the store says revoked") == true)
    }

    @Test func `a story is the same for the same seed`() {
        #expect(Scenario.generated(seed: 5) == Scenario.generated(seed: 5))
        #expect(Scenario.generated(seed: 5) != Scenario.generated(seed: 6))
    }
}
