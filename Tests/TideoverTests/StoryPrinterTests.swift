import Testing
import TideoverCommandLine
import TideoverRehearsal
import TideoverSandbox

@testable import tideover

/// Tests the table of a story's moments.
@Suite struct StoryPrinterTests {
    private static let story = """
        { scenario: "A failed payment", source: "a test",
          app: { id: "cards", bundleId: "com.example.cards" },
          products: { "cards.pro": { entitlements: ["premium"], group: "pro", period: "P1M",
                      price: "9.99 USD", grace: "P16D" } },
          customers: { anna: {} }, start: "2026-05-01T10:00:00Z",
          steps: [
            { do: "subscribe" }, { after: "1 d", do: "failPayments" },
            { at: "2026-06-01T10:00:00Z", note: "Access goes on",
              expect: { premium: { state: "grace" } } },
          ] }
        """

    private func told(_ width: Int, _ report: ScenarioReport) -> [String] {
        let terminal = Terminal(isInteractive: true, usesColour: false, width: width)
        let output = Output(capturingAs: terminal)
        StoryPrinter(output).print(report)
        return output.results.captured.split(separator: "\n").map(String.init)
    }

    private func played(_ story: String) async throws -> ScenarioReport {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let rehearsal = try Rehearsal(try Scenario(reading: Array(story.utf8)), in: folder)
        let report = try await rehearsal.play()
        await rehearsal.close()
        return report
    }

    @Test func `control characters of a scenario do not reach the terminal`() async throws {
        let report = try await played(
            #"""
            { scenario: "A\u001b[2J", source: "a test",
              app: { id: "cards", bundleId: "com.example.cards" },
              products: { "cards.pro": { entitlements: ["pre\u001b[2J"], group: "pro",
                          period: "P1M", price: "9.99 USD" } },
              customers: { "anna\u001b[2J": {} }, start: "2026-05-01T10:00:00Z",
              steps: [
                { do: "subscribe" },
                { after: "1 d", note: "n\u001b[2J", expect: { "pre\u001b[2J": { state: "hold" } } },
              ] }
            """#
        )
        let text = told(80, report).joined(separator: "\n")
        #expect(text.contains(#"A\u{1B}[2J"#) && text.contains(#"anna\u{1B}[2J"#))
        #expect(text.contains(#"pre\u{1B}[2J.state is "active", expected hold"#))
        #expect(!text.contains("\u{1B}"))
    }

    @Test func `the output fits terminals narrower than its table`() async throws {
        let report = try await played(Self.story)
        for width in [34, 40, 60, 79, 80, 120] {
            let lines = told(width, report)
            for line in lines { #expect(line.count <= width, "\(width): \(line)") }
            #expect(lines.contains("1 of 1 expectation held."))
        }
        let narrow = told(72, report)
        let moment = "2026-06-01  yes  grace, billingIssue; naive: no (!): Access goes on"
        #expect(narrow.contains(moment))
        #expect(
            told(80, report).contains {
                $0.hasPrefix("2026-06-01  yes  grace, billingIssue  no (!)")
            }
        )
    }
}
