import Foundation
import Testing
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSandbox

@testable import TideoverNaiveBackEnd

/// Rehearses the naive back end of the examples; docs/rehearsal.md lists the findings.
@Suite(.timeLimit(.minutes(20))) struct NaiveBackEndTests {
    static let project = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The key for its queries to Google.
    private static let keyFile = PlayServiceAccountFile(tokenURL: SimulatedGooglePlay.tokenURL)

    /// Plays a scenario. With `month`, the back end uses its own clock, on which a month takes that
    /// many milliseconds.
    static func play(
        _ bytes: [UInt8],
        _ check: NaiveBackEnd.Check = .expiry,
        month: Int64? = nil
    ) async throws -> ScenarioReport? {
        let scenario = try Scenario(reading: bytes)
        guard !scenario.needsDevice else { return nil }
        let (now, google) = (Locked(scenario.start), Locked<Handler?>(nil))
        let play = try PlayClient(keyFile: keyFile.json.encoded()) { _ in
            { request in try await google.withLock { $0 }?(request) ?? Response(status: 503) }
        }
        let authority = try SandboxAuthority()
        let sold = scenario.app.entitlements
            .merging(scenario.googlePlay?.entitlements ?? [:]) { $0 + $1 }
        let naive = try NaiveBackEnd(check, catalogue: sold, root: authority.root, play: play) {
            _ in
            now.withLock { $0 }
        }
        var backEnd = ForeignBackEnd(
            handler: naive.handler,
            deliverPath: "/notifications",
            readPath: "/customers/{customer}"
        )
        backEnd.access = AccessPlace("{entitlement}")
        backEnd.googlePlay.deliverPath = "/google"
        backEnd.googlePlay.account = keyFile.account
        backEnd.googlePlay.meetGoogle = { handler in google.withLock { $0 = handler } }
        var target = backEnd.target(for: scenario) { instant in
            if month == nil { now.withLock { $0 = instant } }
        }
        if let month {
            now.withLock { $0 = 1_900_000_000_000 }
            target.pace = ScenarioPace(
                month: month,
                clock: { now.withLock { $0 } },
                sleep: { length in now.withLock { $0 += length } }
            )
        }
        return try await ScenarioRunner(target: target, authority: authority).run(scenario)
    }

    /// Returns the mistakes in a story, as docs/rehearsal.md lists them.
    static func mistakes(in report: ScenarioReport) -> String {
        let believesTooMuch = report.failures.contains { moment in
            switch moment.happening {
            case .notification(let delivery): delivery.isAccepted
            case .push(let push): push.isAcknowledged
            default: false
            }
        }
        if believesTooMuch { return "takes what must be refused" }
        let wrong = report.verdicts.filter { !$0.holds && $0.label.hasSuffix(".access") }
        let words = [
            wrong.contains { $0.expected == "true" } ? "locks out" : nil,
            wrong.contains { $0.expected == "false" } ? "serves unpaid" : nil,
        ].compactMap(\.self)
        return words.isEmpty ? "right" : words.joined(separator: ", ")
    }

    /// Returns a row for each rehearsal with a mistake of either check, and how many both pass.
    private static func table() async throws -> (rows: [String], right: Int) {
        let folder = project.appending(path: "Scenarios")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        var (rows, right): ([String], Int) = ([], 0)
        for name in names.sorted() where name.hasSuffix(".json5") {
            let bytes = try Array(Data(contentsOf: folder.appending(path: name)))
            guard let expiry = try await play(bytes, .expiry),
                let grace = try await play(bytes, .grace)
            else { continue }
            let cells = [mistakes(in: expiry), mistakes(in: grace)]
            if cells == ["right", "right"] {
                right += 1
            } else {
                let file = name.dropLast(".json5".count)
                rows.append("| `\(file)` | right | \(cells[0]) | \(cells[1]) |")
            }
        }
        return (rows, right)
    }

    @Test func `the page on rehearsals lists the results of both checks`() async throws {
        let (rows, right) = try await Self.table()
        #expect(rows.contains { $0.contains("locks out") })
        let page = try Self.text("docs/rehearsal.md")
        let table = Self.tableRows(page)
        let should = "the table should be\n\(rows.joined(separator: "\n"))\n\(right) right"
        #expect(table == rows, "\(should)")
        #expect(page.contains("Both get the other \(right) right."))
        let chosen = Self.tableRows(try Self.text("README.md"))
        #expect(chosen.count == 5)
        #expect(Set(chosen).isSubset(of: rows))
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: project.appending(path: path), encoding: .utf8)
    }

    private static func tableRows(_ page: String) -> [String] {
        page.split(separator: "\n").filter { $0.hasPrefix("| `") }.map(String.init)
    }

    private func life(_ steps: String, _ check: NaiveBackEnd.Check) async throws -> ScenarioReport {
        let text = """
            { scenario: "A case", source: "a page",
              app: { id: "cards", bundleId: "com.example.cards" },
              products: { "cards.pro": { entitlements: ["premium"], group: "pro", period: "P1M",
                          price: "9.99 USD", grace: "P16D" } },
              customers: { anna: {} }, start: "2026-05-01T10:00:00Z",
              steps: [{ do: "subscribe", expect: { premium: { state: "active" } } }, \(steps)] }
            """
        return try #require(try await Self.play(Array(text.utf8), check))
    }

    @Test(arguments: NaiveBackEnd.Check.allCases)
    func `the naive check is right for plain purchases and renewals`(_ check: NaiveBackEnd.Check)
        async throws
    {
        let report = try await life(
            #"{ after: "5 weeks", expect: { premium: { access: true, rule: "in-period" } } }"#,
            check
        )
        #expect(report.passed)
        // Questions that no other back end can answer are omitted.
        #expect(report.verdicts.map(\.label) == ["premium.access", "premium.access"])
    }

    private func playLife(_ steps: String, _ check: NaiveBackEnd.Check) async throws
        -> ScenarioReport
    {
        let text = """
            { scenario: "A case", source: "a page", app: { id: "cards" },
              googlePlay: { packageName: "com.example.cards",
                subscriptions: { "cards.pro": { entitlements: ["premium"], basePlans: {
                  monthly: { period: "P1M", price: "9.99 USD", grace: "7 d" } } } } },
              customers: { anna: {} }, start: "2026-05-01T10:00:00Z",
              steps: [{ do: "buy", expect: { premium: { state: "active" } } }, \(steps)] }
            """
        return try #require(try await Self.play(Array(text.utf8), check))
    }

    @Test(
        arguments: [
            (#"{ after: "5 weeks", expect: { premium: { access: true } } }"#, "right", "right"),
            // Access until the expiry, as Google documents.
            (#"{ do: "cancel", expect: { premium: { state: "active" } } }"#, "right", "right"),
            // Google moves the expiry day by day, without a notification.
            (
                #"{ do: "failPayments" }, { at: "2026-06-04T11:00:00Z", expect: { premium: { state: "grace" } } }"#,
                "locks out", "locks out"
            ),
            // The message was not acknowledged, so it is sent again.
            (
                #"{ do: "disturbAPI", fault: "unavailable", times: 1 }, { after: "5 weeks", expect: { premium: { access: true } } }"#,
                "right", "right"
            ),
        ]
    )
    func `the naive check reads Google Play only at messages and errs in between`(
        _ steps: String,
        _ expiry: String,
        _ grace: String
    ) async throws {
        for (check, mistakes) in [(NaiveBackEnd.Check.expiry, expiry), (.grace, grace)] {
            let report = try await playLife(steps, check)
            #expect(Self.mistakes(in: report) == mistakes)
        }
    }

    @Test(
        arguments: [
            (
                #"{ do: "failPayments" }, { after: "5 weeks", expect: { premium: { state: "grace" } } }"#,
                "locks out", "right"
            ),
            (#"{ do: "cancel", expect: { premium: { state: "active" } } }"#, "right", "right"),
            (
                #"{ do: "cancel" }, { do: "reenable" }, { after: "5 weeks", expect: { premium: { access: true } } }"#,
                "right", "right"
            ),
            (
                #"{ do: "refund" }, { do: "reverseRefund", expect: { premium: { access: true } } }"#,
                "right", "right"
            ),
            (
                #"{ do: "loseNotifications" }, { after: "5 weeks", expect: { premium: { access: true } } }"#,
                "locks out", "locks out"
            ),
        ]
    )
    func `the naive check has only received App Store messages and errs without them`(
        _ steps: String,
        _ expiry: String,
        _ grace: String
    ) async throws {
        for (check, mistakes) in [(NaiveBackEnd.Check.expiry, expiry), (.grace, grace)] {
            #expect(Self.mistakes(in: try await life(steps, check)) == mistakes)
        }
    }
}
