import Foundation
import Testing
import TideoverCore
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverTestProcesses

@testable import TideoverTestServer

/// `tideover report drift`, `tideover report lockouts` and the content of `tideover explain` about
/// both.
@Suite(.withExecutable) struct ReportProgramTests {
    /// Creates a purchase received three hours late, and a device with two drifts, one healed and
    /// one open.
    private func told() async throws -> TestServer {
        let server = try TestServer()
        server.set(Message.start + .hours(3))
        _ = try await server.post(.purchase())
        for (day, access) in [(1, false), (2, true), (3, false)] as [(Int64, Bool)] {
            server.set(Message.start + .days(day))
            let device: JSONObject = [
                "device": ["entitlements": ["premium": ["access": .bool(access)]]]
            ]
            _ = try await server.send(
                "POST",
                "/v1/apps/cards/customers/\(TestServer.anna)/reconcile?environment=sandbox",
                body: JSONValue.object(device).encoded()
            )
        }
        await server.storage.close()
        return server
    }

    private func run(_ server: TestServer, _ arguments: String...) throws -> (String, String) {
        let file = try server.configuration()
        let said = try Executable.run(arguments + ["--app", "cards", "--config", file])
        #expect(said.code == 0, "\(said.messages)")
        return (said.results, said.messages)
    }

    /// Returns the fields of each line of a table, separated by spaces.
    private func lines(_ table: String) -> [[Substring]] {
        table.split(separator: "\n").map { $0.split(separator: " ") }
    }

    @Test func `the drift report has a total and a row for each direction and cause`() async throws
    {
        let server = try await told()
        let (table, messages) = try run(server, "report", "drift")
        let rows = lines(table)
        #expect(rows.first?.prefix(4) == ["app", "environment", "direction", "cause"])
        let figures: [Substring] = ["1", "24", "h,", "24", "h", "of", "1", "1440", "device", "1"]
        #expect(rows.dropFirst(2).map { Array($0.suffix(10)) } == [figures, figures])
        #expect(
            rows.last?.prefix(4) == [
                "cards", "sandbox", "device-denies-server-allows", "stale-device-cache",
            ]
        )
        #expect(messages.contains("still open 1, the oldest since 2026-05-04T10:00:00.000Z"))

        let (sheet, _) = try run(server, "report", "drift", "--csv")
        let cells = sheet.split(separator: "\r\n").map {
            $0.split(separator: ",", omittingEmptySubsequences: false)
        }
        #expect(cells.count == 2)
        #expect(cells.allSatisfy { $0.count == cells[0].count })
        #expect(cells[0].contains("time_to_heal_p90_seconds"))
        await server.close()
    }

    @Test func `the lockout report has a row for each judge`() async throws {
        let server = try await told()
        let (table, _) = try run(server, "report", "lockouts")
        #expect(table.contains("expiry check"))
        #expect(!table.contains("relay"))
        let ours = try #require(table.split(separator: "\n").first { $0.contains(" Tideover ") })
        // Three hours of the 31 days of May.
        #expect(ours.contains("180"))
        #expect(ours.contains("44640 (0.40 %)"))
        #expect(ours.contains("message not received 180"))
        let (json, _) = try run(server, "report", "lockouts", "--json")
        let row = try JSONDocument(Array(json.utf8)).root["rows"]?[0]
        #expect(row?["ours"]?["minutes"]?.double == 180)
        let (sheet, _) = try run(server, "report", "lockouts", "--csv")
        #expect(sheet.split(separator: "\r\n").count == 4)
        #expect(sheet.hasPrefix("app,environment,policy,policy_since,judge,"))
        await server.close()
    }

    @Test func `explain describes the drift and the lockouts of a customer`() async throws {
        let server = try await told()
        let (text, _) = try run(
            server,
            "explain",
            TestServer.anna,
            "--environment",
            "sandbox",
            "--at",
            "2026-05-10T10:00:00Z"
        )
        let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for sentence in [
            "Drift between device and server",
            "stale-device-cache, found 2026-05-04T10:00:00.000Z, open.",
            "healed 2026-05-03T10:00:00.000Z by device.", "Lockouts",
            "180 minutes denied by us of 12960 entitled (message not received 180)",
            "On 4 May 2026 your device showed no access, although our records do.",
            "you were without access for 3 hours in all",
        ] {
            #expect(words.contains(sentence), "\(sentence) in \(words)")
        }
        await server.close()
    }

    @Test func `two output formats at once are a usage error`() throws {
        for name in ["drift", "lockouts", "recovery", "churn", "trials", "policy"] {
            let said = try Executable.run(["report", name, "--config", "x", "--json", "--csv"])
            #expect(said.code == 2)
        }
    }
}
