import Foundation
import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverTestProcesses

@testable import TideoverTestServer

/// The reports over the history of purchases: recovery, churn and trials.
@Suite struct MeasureReportTests {
    /// Customers of one app. The payments of the first two fail at the end of the first month: one
    /// is fixed in grace after three days, the other stays open. The third cancels.
    static func lives() async throws -> TestServer {
        let server = try TestServer()
        for number in 1...3 {
            server.set(Message.start)
            try await post(.purchase("buy-\(number)"), of: number, to: server)
        }
        server.set(Message.start + .days(20))
        var cancelled = Message.purchase("cancel", signed: server.now)
        cancelled.type = "DID_CHANGE_RENEWAL_STATUS"
        cancelled.subtype = "AUTO_RENEW_DISABLED"
        cancelled.renewal?["autoRenewStatus"] = 0
        try await post(cancelled, of: 3, to: server)
        server.set(Message.end)
        var failed = Message.purchase("fail-1", signed: Message.end)
        failed.fail(graceUntil: Message.end + .days(16))
        try await post(failed, of: 1, to: server)
        var held = Message.purchase("fail-2", signed: Message.end)
        held.fail(graceUntil: nil)
        try await post(held, of: 2, to: server)
        server.set(Message.end + .days(3))
        var renewed = Message.renewed("renew-1", signed: server.now)
        renewed.transaction?["transactionReason"] = "RENEWAL"
        try await post(renewed, of: 1, to: server)
        server.set(Message.end + .days(40))
        return server
    }

    private static func post(
        _ message: Message,
        of number: Int,
        to server: TestServer
    ) async throws {
        var message = message
        let original = JSONValue.string("300000000000000\(number)")
        message.transaction?["originalTransactionId"] = original
        message.renewal?["originalTransactionId"] = original
        for name in ["transactionId", "webOrderLineItemId"] {
            let own = message.transaction?[name]?.string ?? ""
            message.transaction?[name] = .string("\(own)\(number)")
        }
        message.transaction?["appAccountToken"] = .string(
            "00000000-0000-4000-8000-00000000000\(number)"
        )
        #expect(try await server.post(message).status == 200)
    }

    private func groups(_ server: TestServer, _ target: String) async throws -> [JSONValue] {
        let response = try await server.get("/v1/reports/\(target)")
        #expect(response.status == 200)
        let rows = JSONValue(try JSONDocument(response.body).root)["rows"]?.array ?? []
        let row = try #require(rows.first { $0["environment"]?.string == "sandbox" })
        return try #require(row["groups"]?.array)
    }

    private func horizon(_ group: JSONValue, _ stage: String, _ days: Int64) -> JSONValue? {
        group[stage]?.array?.first { $0["days"]?.int64 == days }
    }

    @Test func `a young failure is no loss, and grace and hold are apart`() async throws {
        let server = try await Self.lives()
        let all = try await groups(server, "recovery?app=cards&by=product,store")
        let group = try #require(all.first)
        #expect(all.count == 1)
        #expect(group["product"]?.string == "cards.pro.monthly")
        #expect(group["store"]?.string == "appStore")
        #expect(group["issues"]?.int64 == 2)
        #expect(group["open"]?.int64 == 1)
        #expect(group["recoveredFromGrace"]?.int64 == 1)
        #expect(group["recoveredByNewPurchase"]?.int64 == 0)
        #expect(group["lost"]?.int64 == 0)
        #expect(group["medianDays"]?.double == 3)
        let month = horizon(group, "all", 30)
        #expect(month?["decided"]?["of"]?.int64 == 2)
        #expect(month?["decided"]?["share"]?.double == 0.5)
        #expect(month?["estimate"]?["share"]?.double == 0.5)
        // After 40 days nothing is known about 60.
        let later = horizon(group, "all", 60)
        #expect(later?["decided"]?["of"]?.int64 == 0)
        #expect(later?["estimate"]?["share"]?.double == nil)
        #expect(horizon(group, "fromGrace", 30)?["decided"]?["share"]?.double == 1)
        #expect(horizon(group, "fromHold", 30)?["decided"]?["share"]?.double == 0)
        #expect(horizon(group, "all", 1)?["estimate"]?["share"]?.double == 0)
        let sum = try #require(group["money"]?.array?.first)
        #expect(sum["currency"]?.string == "USD")
        #expect(
            ["atRisk", "recovered", "lost", "open"].map { sum[$0]?.int64 }
                == [19_980, 9_990, 0, 9_990]
        )
        await server.close()
    }

    @Test(arguments: ["recovery", "churn", "trials"])
    func `a dimension that is named twice is one member`(report: String) async throws {
        let server = try await Self.lives()
        let once = try await groups(server, "\(report)?app=cards&by=product,store")
        let twice = try await groups(server, "\(report)?app=cards&by=product,store,product")
        #expect(twice == once)
        await server.close()
    }

    // MARK: Deadlines

    private func deadlines(_ server: TestServer, _ query: String = "") async throws -> [JSONValue] {
        let response = try await server.get("/v1/reports/deadlines?app=cards\(query)")
        #expect(response.status == 200)
        let rows = JSONValue(try JSONDocument(response.body).root)["rows"]?.array ?? []
        let row = try #require(rows.first { $0["environment"]?.string == "sandbox" })
        return row["deadlines"]?.array ?? []
    }

    private func purchases(_ deadlines: [JSONValue]) -> [JSONValue] {
        deadlines.filter { $0["purchase"]?.string != nil }
    }

    @Test func `the ends of grace and hold are listed with their customers, soonest first`()
        async throws
    {
        let server = try await Self.lives()
        // The first paid in grace; the second has been on hold since the end.
        let late = purchases(try await deadlines(server))
        #expect(late.map { $0["kind"]?.string } == ["holdEnd"])
        let hold = try #require(late.first)
        #expect(hold["customer"]?.string == "00000000-0000-4000-8000-000000000002")
        #expect(hold["purchase"]?.string == "appStore:3000000000000002")
        #expect(hold["product"]?.string == "cards.pro.monthly")
        let end = try #require(hold["at"]?.string.flatMap { Instant(rfc3339: $0) })
        #expect(end > Message.end + .days(40) && end <= Message.end + .days(61))
        // On the next day both payments were open.
        server.set(Message.end + .days(1))
        let early = purchases(try await deadlines(server))
        #expect(early.map { $0["kind"]?.string } == ["graceEnd", "holdEnd"])
        #expect(early.first?["at"]?.string == (Message.end + .days(16)).rfc3339)
        #expect(try await deadlines(server, "&kind=graceEnd").count == 1)
        #expect(try await deadlines(server, "&kind=consumption").isEmpty)
        let wrong = try await server.get("/v1/reports/deadlines?kind=tomorrow")
        #expect(wrong.status == 400)
        await server.close()
    }

    @Test func `a certificate that is known to end has a deadline`() async throws {
        let list = RevocationList()
        let revocable = try RevocableStore(responder: "http://ocsp.example/")
        let server = try TestServer(
            store: revocable.store,
            revocation: (list, RevocationChecks(list: list) { _, _, _ in .failure("none") })
        )
        server.set(Message.start)
        let before = try await deadlines(server)
        #expect(before.map { $0["kind"]?.string } == ["rootCertificate"])
        #expect(before.first?["at"]?.string == "2040-01-01T00:00:00.000Z")
        #expect(before.first?["certificate"]?.string == "test")
        #expect(try await server.post(.purchase()).status == 200)
        let after = try await deadlines(server, "&kind=signingCertificate")
        let names = after.compactMap { $0["certificate"]?.string?.split(separator: " ").first }
        #expect(Set(names) == ["leaf", "intermediate"])
        #expect(after.allSatisfy { $0["at"]?.string == "2040-01-01T00:00:00.000Z" })
        #expect(try await deadlines(server, "&kind=revocationAnswer").isEmpty)
        // After its last instant it is no deadline any more.
        server.set("2040-01-02")
        #expect(try await deadlines(server, "&kind=rootCertificate").isEmpty)
        await server.close()
    }

    // MARK: Another policy

    private func trial(
        _ server: TestServer,
        _ policy: String,
        _ query: String = ""
    ) async throws -> (status: Int, answer: JSONValue) {
        let response = try await server.send(
            "POST",
            "/v1/apps/cards/policy/try?environment=sandbox\(query)",
            body: Array(policy.utf8)
        )
        return (response.status, JSONValue(try JSONDocument(response.body).root))
    }

    @Test func `another policy shows who would have been served longer, and changes nothing`()
        async throws
    {
        let server = try await Self.lives()
        let second = "/v1/apps/cards/customers/00000000-0000-4000-8000-000000000002"
        let before = try await server.get("\(second)?environment=sandbox")
        let (status, answer) = try await trial(server, "{ billingRetry: 'keep 7d' }")
        #expect(status == 200)
        #expect(answer["knowledge"]?.string == "then")
        let premium = try #require(answer["entitlements"]?["premium"])
        // The payment of the second failed without grace; the others had access in any case.
        #expect(premium["customersDiffering"]?.int64 == 1)
        let access = ["current", "tried"].compactMap { premium[$0]?["accessMilliseconds"]?.int64 }
        #expect(access.count == 2)
        #expect(access.last.map { $0 - access[0] } == Milliseconds.days(7).count)
        let exposures = ["current", "tried"].map { premium[$0]?["exposures"]?.int64 ?? 0 }
        #expect(exposures[1] == exposures[0] + 1)
        #expect(premium["current"]?["lockouts"]?.int64 == 0)
        let difference = try #require(answer["differences"]?.array?.first)
        #expect(difference["from"]?.string == Message.end.rfc3339)
        #expect(difference["until"]?.string == (Message.end + .days(7)).rfc3339)
        #expect(difference["current"]?["access"]?.bool == false)
        #expect(difference["tried"]?["access"]?.bool == true)
        #expect(answer["moreDifferences"]?.bool == false)
        let after = try await server.get("\(second)?environment=sandbox")
        #expect(after.headers["ETag"] == before.headers["ETag"])
        let same = try await trial(server, "{}").answer
        #expect(same["entitlements"]?["premium"]?["customersDiffering"]?.int64 == 0)
        let early = try await trial(
            server,
            "{ billingRetry: 'keep 7d' }",
            "&to=2026-05-20T00:00:00Z"
        )
        #expect(early.answer["entitlements"]?["premium"]?["customersDiffering"]?.int64 == 0)
        await server.close()
    }

    @Test func `a policy that is none is refused with every reason`() async throws {
        let server = try await Self.lives()
        let (status, answer) = try await trial(server, "{ billingRetry: 7, graceFor: '3d' }")
        #expect(status == 400)
        #expect(answer["type"]?.string == "/problems/bad-policy")
        #expect(answer["problems"]?.array?.count == 2)
        for (policy, query, slug) in [
            ("{", "", "bad-policy"), ("[]", "", "bad-policy"),
            ("{}", "&knowledge=x", "bad-knowledge"),
            ("{}", "&from=2099-01-01T00:00:00Z", "bad-instant"),
        ] {
            let (status, answer) = try await trial(server, policy, query)
            #expect(status == 400)
            #expect(answer["type"]?.string == "/problems/\(slug)", "\(policy)")
        }
        await server.close()
    }

    private func policyRows(
        _ server: TestServer,
        _ query: String = ""
    ) async throws -> [JSONValue] {
        let response = try await server.get("/v1/reports/policy?\(query)")
        #expect(response.status == 200)
        return JSONValue(try JSONDocument(response.body).root)["rows"]?.array ?? []
    }

    @Test func `the report of policies tries other settings as a trial of the policy does`()
        async throws
    {
        let server = try await Self.lives()
        let usual = try #require(
            try await policyRows(server, "app=cards&environment=sandbox").first
        )
        #expect(usual["policy"]?["billingRetry"]?.string == "suspend")
        #expect(usual["tried"]?["billingRetry"]?.string == "keep 7d")
        #expect(usual["policy"]?["experiments"] == nil)
        #expect(usual["entitlements"]?["premium"]?["customersDiffering"]?.int64 == 1)
        let trial = try await trial(server, "{ billingRetry: 'keep 7d' }").answer
        for (name, value) in trial.object ?? [:] { #expect(usual[name] == value, "\(name)") }

        let query = "environment=sandbox&renewalLeeway=0h&unreachable=2h&unknownProduct=premium"
        let named = try #require(try await policyRows(server, query).first)
        #expect(named["tried"]?["billingRetry"]?.string == "suspend")
        #expect(named["tried"]?["unknownProduct"] == ["premium"])
        let text = "{ renewalLeeway: '0h', unreachable: '2h', unknownProduct: 'premium' }"
        let tried = try await self.trial(server, text).answer
        #expect(named["entitlements"] == tried["entitlements"])
        #expect(named["differences"] == tried["differences"])

        let all = try await policyRows(server).compactMap { row in
            [row["app"], row["environment"]].compactMap { $0?.string }.joined(separator: " ")
        }
        #expect(all == ["cards sandbox", "cards simulated", "rehearsal simulated"])
        await server.close()
    }

    @Test(arguments: [
        ("billingRetry=keep", "bad-policy"), ("unknownProduct=nothing", "bad-policy"),
        ("renewalLeeway=1h&unreachable=soon", "bad-policy"), ("knowledge=x", "bad-knowledge"),
        ("environment=x", "unknown-environment"), ("transfer=keep", "unknown-parameter"),
        ("from=2099-01-01T00:00:00Z", "bad-instant"),
    ])
    func `a wrong setting of the report of policies is refused`(
        query: String,
        problem: String
    ) async throws {
        let server = try TestServer()
        let response = try await server.get("/v1/reports/policy?\(query)")
        #expect(response.status == 400)
        let answer = try JSONDocument(response.body).root
        #expect(answer["type"]?.string == "/problems/\(problem)")
        if problem == "bad-policy" {
            let name = query.split(separator: "&").last?.split(separator: "=").first ?? ""
            let words = answer["problems"]?.elements.compactMap(\.string) ?? []
            #expect(words.count == 1)
            #expect(words.first?.hasPrefix("cards: \(name): expected ") == true, "\(words)")
        }
        await server.close()
    }

    @Test func `only failures that began in the range count, up to its end`() async throws {
        let server = try await Self.lives()
        #expect(try await groups(server, "recovery?from=2026-06-02T00:00:00Z").isEmpty)
        let early = try await groups(server, "recovery?to=2026-06-02T00:00:00Z")
        #expect(early.first?["open"]?.int64 == 2)
        await server.close()
    }

    @Test func `churn tells a cancellation from a failed payment that may be saved`()
        async throws
    {
        let server = try await Self.lives()
        let range = "from=2026-05-11T10:00:00Z&to=2026-06-11T10:00:00Z"
        let group = try #require(try await groups(server, "churn?\(range)").first)
        #expect(group["atStart"]?.int64 == 3)
        #expect(group["churned"]?.int64 == 1)
        #expect(group["voluntary"]?.int64 == 1)
        #expect(group["churn"]?["share"]?.double == 1.0 / 3)
        let response = try await server.get("/v1/reports/churn?app=cards")
        let row = try JSONDocument(response.body).root["rows"]?[0]
        #expect(row?["from"]?.string == (server.now - .days(30)).rfc3339)
        await server.close()
    }

    @Test func `trials are counted by the month they began in`() async throws {
        let server = try TestServer()
        server.set(Message.start)
        for number in 1...2 {
            var trial = Message.purchase("trial-\(number)")
            trial.transaction?["offerType"] = 1
            trial.transaction?["offerDiscountType"] = "FREE_TRIAL"
            trial.transaction?["price"] = 0
            try await Self.post(trial, of: number, to: server)
        }
        server.set(Message.end)
        try await Self.post(.renewed("renew-1"), of: 1, to: server)
        let group = try #require(try await groups(server, "trials?by=country").first)
        #expect(group["cohort"]?.string == "2026-05")
        #expect(group["country"]?.string == "USA")
        #expect(group["started"]?.int64 == 2)
        #expect(group["converted"]?.int64 == 1)
        #expect(group["conversion"]?["of"]?.int64 == 1)
        await server.close()
    }

    @Test(arguments: [
        "churn?from=2026-06-02T00:00:00Z&to=2026-06-01T00:00:00Z",
        "recovery?from=2099-01-01T00:00:00Z",
    ])
    func `an empty range has a reason of its own`(target: String) async throws {
        let server = try TestServer()
        let response = try await server.get("/v1/reports/\(target)")
        let detail = try JSONDocument(response.body).root["detail"]?.string
        #expect(detail == "`from` must be before `to`, and before now.")
        await server.close()
    }

    @Test(arguments: [
        ("recovery?by=colour", "bad-dimension"), ("churn?from=May", "bad-instant"),
        ("trials?to=2026-05-01", "bad-instant"),
        ("churn?from=2026-06-02T00:00:00Z&to=2026-06-01T00:00:00Z", "bad-instant"),
    ])
    func `a wrong question is rejected`(target: String, problem: String) async throws {
        let server = try TestServer()
        let response = try await server.get("/v1/reports/\(target)")
        #expect(response.status == 400)
        let type = try JSONDocument(response.body).root["type"]?.string
        #expect(type?.hasSuffix("/\(problem)") == true)
        await server.close()
    }
}

/// The same figures at the command line.
@Suite(.withExecutable) struct MeasureReportProgramTests {
    static func configuration(_ server: TestServer) throws -> String {
        try server.configuration(
            app: """
                experiments: {
                  ask: {
                    entitlement: "premium", start: "2026-05-01T00:00:00Z",
                    arms: { none: { holdout: true }, early: {} },
                  },
                },
                """
        )
    }

    private func run(_ server: TestServer, _ arguments: String...) throws -> String {
        let file = try Self.configuration(server)
        let ended = try Executable.run(
            ["report"] + arguments + ["--config", file, "--to", "2026-07-11T10:00:00Z"]
        )
        #expect(ended.code == 0, "\(ended.messages)")
        return ended.results
    }

    @Test func `table, sheet and JSON have the figures of the route`() async throws {
        let server = try await MeasureReportTests.lives()
        await server.storage.close()
        let table = try run(server, "recovery", "--by", "product")
        let line = try #require(table.split(separator: "\n").first { $0.contains("sandbox") })
        let cells = line.split(separator: " ")
        #expect(
            cells.prefix(10) == [
                "cards", "sandbox", "cards.pro.monthly", "2", "1", "1", "1", "0", "0", "3.0",
            ]
        )
        #expect(line.contains("50.0 %"))
        #expect(table.contains("19.98"))
        let sheet = try run(server, "recovery", "--csv").split(separator: "\r\n")
        // Nine days, each for all, grace and hold.
        #expect(sheet.count == 28)
        #expect(sheet[0].hasPrefix("app,environment,issues,open,recovered,recovered_from_grace,"))
        #expect(sheet[1].hasPrefix("cards,sandbox,2,1,1,1,0,0,0,0,0,0,0,0,3.0,3.0,all,1,2,2,0.0,"))
        let json = try run(server, "churn", "--from", "2026-05-11T10:00:00Z", "--json")
        let group = try JSONDocument(Array(json.utf8)).root["rows"]?[0]?["groups"]?[0]
        #expect(group?["atStart"]?.int64 == 3)
        #expect(group?["voluntary"]?.int64 == 1)
        #expect(try run(server, "trials").contains("conversion"))
        let policies = try run(server, "policy", "--billing-retry", "keep 7d")
        #expect(policies.contains("billingRetry: suspend, tried: keep 7d"))
        #expect(policies.contains("premium: 1 customer with another access at some time"))
        let settings = try run(server, "policy", "--csv").split(separator: "\r\n")
        #expect(settings[0].contains(",entitlement,customers_differing,current_billing_retry,"))
        #expect(settings.count == 2)
        #expect(settings[1].contains(",then,premium,1,suspend,1d,1d,deny,"))
        #expect(settings[1].contains(",keep 7d,1d,1d,deny,"))
        let experiments = try run(server, "experiments")
        #expect(experiments.contains("ask, early: Not enough data: 2 of about 3,700 needed."))
        let arms = try run(server, "experiments", "--csv").split(separator: "\r\n")
        #expect(arms.count == 3)
        #expect(arms[1].hasPrefix("cards,sandbox,ask,none,"))
        await server.close()
    }
}
