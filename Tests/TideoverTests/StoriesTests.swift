import Testing
import TideoverCommandLine
import TideoverJSON
import TideoverSandbox

@testable import tideover

/// Tests the JSON of `tideover sandbox stories`.
@Suite(.timeLimit(.minutes(20))) struct StoriesTests {
    @Test func `with --json the sums of each store are one object`() async throws {
        let (code, output) = await Tideover.run(
            ["sandbox", "stories", "--store", "appStore", "--seeds", "1", "--json"]
        )
        #expect(code == .success)
        let root = JSONValue(try JSONDocument(Array(output.results.captured.utf8)).root)
        #expect(root["stories"]?.int64 == 1)
        #expect(root["passed"]?.int64 == 1)
        #expect(root["broken"]?.array?.isEmpty == true)
        let sums = root["kinds"]?["appStore"]
        #expect(sums?["stories"]?.int64 == 1)
        #expect(sums?["passed"]?.int64 == 1)
        #expect(try #require(sums?["quietAnswers"]?.int64) > 0)
        #expect(sums?["lockoutMinutes"]?.int64 == 0)
        #expect(root["kinds"]?["googlePlay"] == nil)
    }
}
