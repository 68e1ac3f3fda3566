import Testing
import TideoverSandbox

@Suite struct SeededRandomTests {
    @Test func `the sequence equals SplitMix64's`() {
        var random = SeededRandom(seed: 1_234_567)
        let drawn = (0..<3).map { _ in random.next() }
        #expect(
            drawn == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
            ]
        )
    }

    @Test func `numbers stay in their range and include both ends`() {
        var random = SeededRandom(seed: 5)
        let drawn = (0..<500).map { _ in random.number(in: -2...2) }
        #expect(Set(drawn) == [-2, -1, 0, 1, 2])
    }

    @Test func `UUIDs are of version 4 and do not repeat`() throws {
        var random = SeededRandom(seed: 6)
        let uuids = (0..<100).map { _ in random.uuid() }
        #expect(Set(uuids).count == 100)
        for uuid in uuids {
            let form = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/
            #expect(try form.wholeMatch(in: uuid) != nil)
        }
    }
}
