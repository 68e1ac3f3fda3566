import Foundation
import Testing
import TideoverCommandLine
import TideoverHTTP
import TideoverHTTPServer
import TideoverTestProcesses

@testable import tideover

/// Tests the reports of a rehearsal about an incorrect back end.
@Suite(.timeLimit(.minutes(20))) final class TroubleTests: SuiteWithFolder {
    /// Returns the output for a scenario with these steps, and the report for CI systems.
    private func rehearse(
        _ steps: String,
        _ words: [String] = [],
        with backEnd: @escaping Handler
    ) async throws -> (code: ExitCode, told: String, xml: String) {
        let text = """
            { scenario: "A case", source: "a test",
              app: { id: "cards", bundleId: "com.example.cards" },
              products: { "cards.pro": { entitlements: ["premium"], group: "pro", period: "P1M",
                          price: "9.99 USD" } },
              customers: { anna: {} }, start: "2026-05-01T10:00:00Z", steps: [\(steps)] }
            """
        let file = try write(text, to: "case.json5")
        let report = folder.appending(path: "report.xml")
        let server = try HTTPServer(port: 0, handler: backEnd)
        let asked = [
            "sandbox", "run", file, "--target", "http://\(server.address)", "--deliver",
            "/notifications", "--read-back", "/customers/{customer}", "--access", "premium",
            "--junit", report.path,
        ]
        let (code, output) = await Tideover.run(asked + words)
        await server.stop()
        let xml = try String(contentsOf: report, encoding: .utf8)
        return (code, output.results.captured, xml)
    }

    private let served: Handler = { _ in Response(body: Array(#"{"premium": true}"#.utf8)) }

    @Test func `an unknown customer is reported with the response status`() async throws {
        let (code, told, _) = try await rehearse(#"{ expect: { premium: { state: "never" } } }"#) {
            _ in Response(status: 404)
        }
        #expect(code == .failure)
        #expect(
            told.contains(
                "line 5: the question was answered with 404, expected premium.access false"
            )
        )
    }

    @Test func `an unaccepted message is reported with its status, at most twelve times`()
        async throws
    {
        let (_, told, xml) = try await rehearse(
            #"{ do: "subscribe" }, { after: "1 year", expect: { premium: { state: "active" } } }"#
        ) { request in
            request.method == "POST"
                ? Response(status: 500) : Response(body: Array(#"{"premium": true}"#.utf8))
        }
        let line = "not accepted, answered 500: "
        #expect(told.split(separator: "\n").count { $0.contains(line) } == 12)
        #expect(told.contains(" more; see --story"))
        #expect(xml.split(separator: "\n").count { $0.contains(line) } > 12)
    }

    @Test func `an accepted message that must be refused is reported`() async throws {
        let (_, told, _) = try await rehearse(
            #"{ do: "disturbNotifications", fault: "corrupt" }, { do: "subscribe" }"#,
            with: served
        )
        #expect(told.contains("accepted (200), though it must not be believed: "))
    }

    @Test func `a refusal is reported with the actual and the expected result`() async throws {
        let (_, told, _) = try await rehearse(
            """
            { do: "subscribe", refused: "paymentDeclined" }, { do: "subscribe" },
            { do: "subscribe", refused: "notForSale" }
            """,
            with: served
        )
        #expect(told.contains("line 5: the store did not refuse (paymentDeclined): anna "))
        #expect(told.contains("line 5: the store refused (alreadySubscribed): anna "))
        #expect(
            told.contains(
                "line 6: the store refused (alreadySubscribed, expected notForSale): anna "
            )
        )
    }

    @Test func `the story of a back end with access only omits the other fields`()
        async throws
    {
        let (_, told, _) = try await rehearse(
            #"{ do: "subscribe", expect: { premium: { state: "active" } } }"#,
            ["--story"],
            with: served
        )
        #expect(!told.contains("?"))
        #expect(told.contains("2026-05-01  yes "))
    }
}
