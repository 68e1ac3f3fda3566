import Foundation
import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverTestProcesses

@testable import TideoverTestServer

/// The portfolio report at its route, about the three customers of `MeasureReportTests.lives`.
@Suite struct PortfolioReportTests {
    private static let range = "from=2026-05-11T10:00:00Z&to=2026-06-05T10:00:00Z"

    private func report(_ server: TestServer, _ query: String) async throws -> JSONValue {
        let response = try await server.get("/v1/reports/portfolio?\(query)")
        #expect(response.status == 200)
        return JSONValue(try JSONDocument(response.body).root)
    }

    private func row(_ report: JSONValue) throws -> JSONValue {
        let rows = report["rows"]?.array ?? []
        return try #require(rows.first { $0["environment"]?.string == "sandbox" })
    }

    private func counts(_ point: JSONValue?) -> [String: Int64] {
        let states = point?["subscriptions"]?.object ?? [:]
        let counts = states.map { ($0.key, $0.value.int64 ?? 0) }
        return Dictionary(uniqueKeysWithValues: counts).filter { $0.value > 0 }
    }

    private func amounts(_ sum: JSONValue?, _ names: String...) -> [Int64?] {
        names.map { sum?[$0]?.int64 }
    }

    @Test func `states, revenue and money are those computed by hand`() async throws {
        let server = try await MeasureReportTests.lives()
        let answer = try await report(server, "app=cards&each=month&\(Self.range)")
        let row = try row(answer)
        // The first paid in grace, the second is on hold, the third had cancelled.
        #expect(counts(row) == ["active": 1, "hold": 1, "expired": 1])
        #expect(row["subscribers"]?.int64 == 2)
        let usd = row["revenue"]?.array?.first
        #expect(usd?["currency"]?.string == "USD")
        #expect(
            amounts(usd, "mrr", "active", "cancelled", "grace", "hold")
                == [9_990, 9_990, 0, 0, 9_990]
        )
        let money = row["money"]?.array?.first
        #expect(
            amounts(money, "atRisk", "recovered", "lost", "open") == [19_980, 9_990, 0, 9_990]
        )
        #expect(row["issues"]?.int64 == 2)
        #expect(row["converted"] == .null)
        let history = row["history"]?.array ?? []
        #expect(
            history.map { $0["at"]?.string } == [
                "2026-05-11T10:00:00.000Z", "2026-06-01T00:00:00.000Z", "2026-06-05T10:00:00.000Z",
            ]
        )
        #expect(counts(history.first) == ["active": 3])
        #expect(counts(history[1]) == ["active": 2, "cancelled": 1])
        #expect(counts(history.last) == counts(row))
        #expect(history[1]["revenue"]?.array?.first?["mrr"]?.int64 == 29_970)
        let totals = answer["totals"]?.array ?? []
        #expect(totals.map { $0["environment"]?.string } == ["sandbox", "simulated"])
        #expect(counts(totals.first) == counts(row))
        await server.close()
    }

    @Test func `the figures are those of recovery, churn and trials in the same range`()
        async throws
    {
        let server = try await MeasureReportTests.lives()
        let own = try row(try await report(server, "each=day&\(Self.range)"))
        func group(_ name: String, _ query: String) async throws -> JSONValue? {
            let response = try await server.get("/v1/reports/\(name)?\(query)")
            return try row(JSONValue(try JSONDocument(response.body).root))["groups"]?.array?.first
        }
        let recovery = try await group("recovery", Self.range)
        #expect(own["issues"] == recovery?["issues"])
        #expect(own["money"] == recovery?["money"])
        #expect(own["issuesWithoutPrice"] == recovery?["withoutPrice"])
        let churn = try await group("churn", Self.range)
        let first = counts(own["history"]?.array?.first)
        let subscribed = ["active", "cancelled", "grace", "hold", "paused"]
        #expect(
            subscribed.reduce(0) { $0 + (first[$1] ?? 0) } == churn?["atStart"]?.int64
        )
        #expect(churn?["atStart"]?.int64 == 3)
        // No trial began, so the trial report has no group and the portfolio no trial.
        #expect(try await group("trials", "to=2026-06-05T10:00:00Z") == nil)
        #expect(counts(own)["trial"] == nil)
        await server.close()
    }

    @Test func `sums are converted with the given rates only`() async throws {
        let server = try await MeasureReportTests.lives()
        let euro = try await report(server, "currency=EUR&rates=USD:0.92&\(Self.range)")
        #expect(euro["conversion"]?["currency"]?.string == "EUR")
        let rate = euro["conversion"]?["rates"]?.array?.first
        #expect(rate?["currency"]?.string == "USD")
        #expect(rate?["rate"]?.string == "0.92")
        let converted = try row(euro)["converted"]
        // 9.99 x 0.92 = 9.1908; 19.98 x 0.92 = 18.3816
        #expect(
            amounts(converted, "mrr", "hold", "atRisk", "recovered", "lost", "open")
                == [9_191, 9_191, 18_382, 9_191, 0, 9_191]
        )
        #expect(converted?["leftOut"]?.array?.isEmpty == true)
        let none = try row(try await report(server, "currency=EUR&\(Self.range)"))["converted"]
        #expect(amounts(none, "mrr", "atRisk") == [0, 0])
        #expect(none?["leftOut"]?.array?.map(\.string) == ["USD"])
        await server.close()
    }

    @Test(arguments: [
        ("each=year", "each"), ("rates=USD:1", "rates"), ("currency=euro", "rates"),
        ("currency=EUR&rates=USD", "rates"),
        ("each=day&from=2020-01-01T00:00:00Z&to=2026-01-01T00:00:00Z", "each"),
    ])
    func `a wrong parameter is rejected by name`(query: String, name: String) async throws {
        let server = try TestServer()
        let response = try await server.get("/v1/reports/portfolio?\(query)")
        #expect(response.status == 400)
        let problem = try JSONDocument(response.body).root
        #expect(problem["type"]?.string == "/problems/bad-report-parameter")
        #expect(problem["parameter"]?.string == name)
        await server.close()
    }

    @Test func `only keys that read reports see the portfolio`() async throws {
        let server = try await MeasureReportTests.lives()
        for (kind, status) in [("public", 403), ("viewer", 200), ("secret", 200)] {
            let wish: JSONObject = ["kind": .string(kind), "apps": ["cards"], "name": "t"]
            let added = try await server.send(
                "POST",
                "/v1/keys",
                body: JSONValue.object(wish).encoded()
            )
            let key = try #require(try JSONDocument(added.body).root["key"]?.string)
            let response = try await server.get(
                "/v1/reports/portfolio",
                headers: ["Authorization": "Bearer \(key)"]
            )
            #expect(response.status == status, "\(kind)")
        }
        await server.close()
    }
}

/// The same figures at the command line.
@Suite(.withExecutable) struct PortfolioReportProgramTests {
    private func run(_ server: TestServer, _ arguments: String...) throws -> String {
        let file = try MeasureReportProgramTests.configuration(server)
        let range = ["--from", "2026-05-11T10:00:00Z", "--to", "2026-06-05T10:00:00Z"]
        let words = ["report", "portfolio", "--config", file]
        let ended = try Executable.run(words + range + arguments)
        #expect(ended.code == 0, "\(ended.messages)")
        return ended.results
    }

    @Test func `table, sheet and JSON have the figures of the route`() async throws {
        let server = try await MeasureReportTests.lives()
        let query = "app=cards&from=2026-05-11T10:00:00Z&to=2026-06-05T10:00:00Z"
        let response = try await server.get("/v1/reports/portfolio?\(query)")
        let rows = try JSONDocument(response.body).root["rows"]?.elements.map(JSONValue.init) ?? []
        let expected = try #require(rows.first { $0["environment"]?.string == "sandbox" })
        await server.storage.close()
        let json = try run(server, "--json")
        let own = JSONValue(try JSONDocument(Array(json.utf8)).root)["rows"]?.array?.first
        #expect(own == expected)
        let table = try run(server).split(separator: "\n")
        #expect(
            table.first { $0.contains("sandbox") }?.split(separator: " ")
                == ["cards", "sandbox", "2", "0", "0", "1", "0", "0", "1", "0", "1", "0"]
        )
        #expect(
            table.last { $0.contains("USD") }?.split(separator: " ") == [
                "cards", "sandbox", "USD", "9.99", "0.00", "9.99", "19.98", "9.99", "0.00", "9.99",
            ]
        )
        let sheet = try run(server, "--csv", "--each", "month").split(separator: "\r\n")
        #expect(sheet[0] == "app,environment,at,measure,currency,value")
        let at = "cards,sandbox,2026-06-05T10:00:00.000Z"
        for line in [
            "\(at),active,,1", "\(at),hold,,1", "\(at),monthly_mrr,USD,9990",
            "\(at),at_risk,USD,19980", "\(at),recovered,USD,9990", "\(at),issues,,2",
            "cards,sandbox,2026-06-01T00:00:00.000Z,cancelled,,1",
        ] {
            #expect(sheet.contains(Substring(line)), "\(line)")
        }
        let euro = try run(server, "--currency", "EUR", "--rates", "USD:0.92")
        #expect(euro.contains("= EUR"))
        #expect(euro.contains("18.38"))
        await server.close()
    }
}
