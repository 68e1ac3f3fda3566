import Foundation
import Testing
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// An experiment that does harm stops by itself.
@Suite struct ExperimentStopTests {
    private static let experiment = Experiment(
        id: "june-words",
        entitlement: "premium",
        start: Message.start,
        days: 7,
        arms: [.init("unasked", isHoldout: true), .init("asked")]
    )
    private static let looked = Message.end + .days(9)
    private static let before = looked - Milliseconds(1)
    /// A customer in each arm, whose payment fails with a grace period.
    private static let unasked = customer(of: "unasked")
    private static let asked = customer(of: "asked")

    private static func customer(_ number: Int) -> String {
        let text = String(number)
        return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - text.count) + text
    }

    private static func arm(of customer: String) -> String? {
        CustomerID(customer).map { experiment.arm(of: $0).name }
    }

    private static func customer(of arm: String) -> String {
        (1...).lazy.map(customer).first { self.arm(of: $0) == arm } ?? ""
    }

    /// Starts a server on the database of a former one.
    private static func start(
        after former: TestServer? = nil,
        policy: Policy = Policy(experiments: [experiment]),
        at instant: Instant = Message.start,
        dashboard: Bool = false,
        adoptsRules: Bool = false
    ) async throws -> TestServer {
        await former?.storage.close()
        let server = try TestServer(
            policy: policy,
            folder: former?.folder,
            store: former?.store,
            now: instant,
            dashboard: dashboard,
            adoptsRules: adoptsRules
        )
        try await server.service.recordPolicyVersions()
        return server
    }

    /// Returns a server nine days after the payments of 200 customers failed. Of ten failures in an
    /// arm, `holds` lose access at once; the others have a grace period.
    private static func population(holds: [String: Int]) async throws -> TestServer {
        let server = try await start()
        var counts: [String: Int] = [:]
        for number in 1...200 {
            let customer = Self.customer(number)
            let assigned = try #require(Self.arm(of: customer))
            let place = counts[assigned, default: 0]
            counts[assigned] = place + 1
            server.set(Message.start)
            try await post(.purchase("buy-\(number)"), number, to: server)
            server.set(Message.end)
            var failed = Message.purchase("fail-\(number)", signed: Message.end)
            // The first of each arm has a grace period.
            let isHeld = place % 10 >= 10 - (holds[assigned] ?? 0)
            failed.fail(graceUntil: isHeld ? nil : Message.end + .days(16))
            try await post(failed, number, to: server)
        }
        server.set(looked)
        return server
    }

    private static func post(
        _ message: Message,
        _ number: Int,
        to server: TestServer
    ) async throws {
        var message = message
        let id = JSONValue.string("\(3_000_000_000_000_000 + number)")
        for name in ["originalTransactionId", "transactionId", "webOrderLineItemId"] {
            message.transaction?[name] = id
        }
        message.renewal?["originalTransactionId"] = id
        message.transaction?["appAccountToken"] = .string(customer(number))
        #expect(try await server.post(message).status == 200)
    }

    private static func harmed() async throws -> TestServer {
        try await population(holds: ["unasked": 3, "asked": 7])
    }

    private static func look(_ server: TestServer) async {
        await server.service.work(on: [.experiments], sleep: { _ in throw CancellationError() })
    }

    private static func json(_ server: TestServer, _ target: String) async throws -> JSONValue {
        let response = try await server.get(target)
        #expect(response.status == 200)
        return JSONValue(try JSONDocument(response.body).root)
    }

    private static func report(_ server: TestServer, _ query: String = "") async throws -> JSONValue
    {
        let report = try await json(server, "/v1/reports/experiments?app=cards\(query)")
        let row = report["rows"]?.array?.first { $0["environment"]?.string == "sandbox" }
        return try #require(row?["experiments"]?.array?.first)
    }

    /// Returns the kind of the prompt and the arm that it names.
    private static func prompt(_ server: TestServer, _ customer: String) async throws -> String {
        let prompt = try await server.answer(customer)["prompt"]
        return [prompt?["kind"]?.string, prompt?["experiment"]?["arm"]?.string]
            .compactMap(\.self).joined(separator: " ")
    }

    /// Returns the kind of the prompt as of an instant.
    private static func prompt(
        _ server: TestServer,
        _ customer: String,
        at instant: Instant
    ) async throws -> String? {
        let path = "/v1/apps/cards/customers/\(customer)/explain"
        let query = "?environment=sandbox&at=\(instant.rfc3339)"
        return try await json(server, path + query)["prompt"]?["kind"]?.string
    }

    @Test func `harm stops it: the log, the report and the audit say so, once`() async throws {
        let server = try await Self.harmed()
        #expect(try await Self.report(server)["state"]?.string == "running")
        #expect(try await Self.prompt(server, Self.asked) == "soft asked")
        await Self.look(server)
        let told = server.logged.filter { $0.contains("experiment stopped") }
        #expect(told.count == 1)
        #expect(told.first?.contains("june-words: lockouts rise with the arm asked") == true)
        let audit = try await Self.json(server, "/v1/apps/cards/audit")
        let entries = try #require(audit["audit"]?.array).filter {
            $0["kind"]?.string == "experimentStopped"
        }
        #expect(entries.map { $0["actor"]?.string } == ["server"])
        #expect(
            entries.first?["why"]?.string
                == "The experiment june-words was stopped: lockouts rise with the arm asked."
        )
        // The service in the same process learns of it, and a second look changes nothing.
        var follower = ChangeFollower()
        #expect(try follower.look(at: server.service))
        server.set(Self.looked + .hours(1))
        await Self.look(server)
        #expect(server.logged.count { $0.contains("experiment stopped") } == 1)
        let versions = try server.storage.policyVersions(in: AppScope("cards", .sandbox))
        #expect(versions.map(\.effectiveAt) == [Message.start, Self.looked])
        await server.close()
    }

    @Test func `the dashboard has the numbers of the report`() async throws {
        let server = try await Self.harmed()
        await Self.look(server)
        let next = try await Self.start(after: server, at: Self.looked + .days(1), dashboard: true)
        let browser = DashboardBrowser(next)
        try await browser.enter(TestServer.adminKey.text)
        let page = try await browser.text("/dashboard/apps/cards/experiments?environment=sandbox")
        let shown = page.matches(of: /<data value="([^"]*)"/).map { String($0.1) }
        let response = try await next.get("/v1/reports/experiments?app=cards")
        let rows = try JSONDocument(response.body).root["rows"]?.elements.map(\.self) ?? []
        let row = try #require(rows.first { $0["environment"]?.string == "sandbox" })
        let experiment = try #require(row["experiments"]?[0])
        let arms = try #require(experiment["arms"]).elements.map(\.self)
        func bounds(_ arm: JSONNode, _ measure: String) -> [String?] {
            ["value", "lower", "upper"].map { arm[measure]?[$0].map(Self.source) ?? "null" }
        }
        let recovery = arms.flatMap { arm in
            ["entries", "exposed", "recovered"].map { arm[$0].map(Self.source) }
                + bounds(arm, "difference") + [arm["needed"].map(Self.source)]
        }
        let guardrail = arms.dropFirst().flatMap { bounds($0, "lockouts") + bounds($0, "refunds") }
        #expect(shown == ["7", "5"] + recovery.compactMap(\.self) + guardrail.compactMap(\.self))
        #expect(guardrail.first != "null")
        for arm in arms { #expect(page.contains(try #require(arm["sentence"]?.string))) }
        #expect(page.contains("Every customer has the control since."))
        await next.close()
    }

    private static func source(_ node: JSONNode) -> String {
        String(decoding: node.source, as: UTF8.self)
    }

    @Test func `after a restart with the same file everyone has the control`() async throws {
        let server = try await Self.harmed()
        await Self.look(server)
        let later = Self.looked + .days(1)
        let next = try await Self.start(after: server, at: later)
        let report = try await Self.report(next)
        #expect(report["state"]?.string == "stopped")
        #expect(report["stop"]?["at"]?.string == Self.looked.rfc3339)
        #expect(report["stop"]?["reason"]?.string == "lockouts")
        #expect(report["stop"]?["arm"]?.string == "asked")
        #expect(
            report["arms"]?.array?.map { $0["sentence"]?.string ?? "" }.last
                == "Stopped at \(Self.looked.rfc3339): lockouts rose with this arm."
        )
        #expect(try await Self.prompt(next, Self.asked) == "none")
        #expect(try await Self.prompt(next, Self.unasked) == "none")
        // What is compared does not change any more.
        next.set(later + .days(30))
        #expect(try await Self.report(next)["arms"] == report["arms"])
        await next.close()
    }

    @Test func `answers and reports as of an earlier instant do not know of the stop`()
        async throws
    {
        let server = try await Self.harmed()
        await Self.look(server)
        let next = try await Self.start(after: server, at: Self.looked + .days(1))
        #expect(try await Self.prompt(next, Self.asked, at: Self.before) == "soft")
        #expect(try await Self.prompt(next, Self.asked, at: Self.looked) == nil)
        let before = try await Self.report(next, "&to=\(Self.before.rfc3339)")
        #expect(before["state"]?.string == "running")
        #expect(before["stop"] == .null)
        #expect(before["arms"]?.array?.last?["alarm"]?.string == "lockouts")
        await next.close()
    }

    @Test func `another server adopts the stop, and another policy keeps it`() async throws {
        let server = try await Self.harmed()
        await Self.look(server)
        let second = try await Self.start(
            after: server,
            policy: Policy(renewalLeeway: .hours(2), experiments: [Self.experiment]),
            at: Self.looked + .hours(1),
            adoptsRules: true
        )
        #expect(try await Self.report(second)["state"]?.string == "stopped")
        #expect(try await Self.prompt(second, Self.asked) == "none")
        let reloaded = try await Self.start(
            after: second,
            policy: Policy(renewalLeeway: .hours(2), experiments: [Self.experiment]),
            at: Self.looked + .hours(2)
        )
        let report = try await Self.report(reloaded)
        #expect(report["stop"]?["at"]?.string == Self.looked.rfc3339)
        #expect(try await Self.prompt(reloaded, Self.asked) == "none")
        var other = Self.experiment
        other.id = "july-words"
        let renamed = try await Self.start(
            after: reloaded,
            policy: Policy(experiments: [other]),
            at: Self.looked + .hours(3)
        )
        #expect(try await Self.report(renamed)["state"]?.string == "running")
        await renamed.close()
    }

    @Test func `without harm it goes on`() async throws {
        let server = try await Self.population(holds: ["unasked": 5, "asked": 5])
        await Self.look(server)
        #expect(server.logged.allSatisfy { !$0.contains("experiment") })
        let report = try await Self.report(server)
        #expect(report["state"]?.string == "running")
        #expect(report["arms"]?.array?.last?["lockouts"]?["lower"]?.double ?? 1 < 0)
        #expect(try await Self.prompt(server, Self.asked) == "soft asked")
        await server.close()
    }
}
