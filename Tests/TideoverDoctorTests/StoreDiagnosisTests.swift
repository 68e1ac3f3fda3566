import Testing
import TideoverAppStore
import TideoverConfiguration
import TideoverCore
import TideoverDoctor
import TideoverJSON

/// Findings from what the App Store and the server report.
@Suite struct StoreDiagnosisTests {
    @Test func `every result of an attempt has its own text`() {
        let details = SentNotification.Result.allCases.map { result in
            Finding.words(OpenEnum<SentNotification.Result>(result.rawValue)).detail
        }
        #expect(Set(details).count == SentNotification.Result.allCases.count)
        let unknown = Finding.words(OpenEnum<SentNotification.Result>("SOLAR_FLARE"))
        #expect(unknown.detail.contains("SOLAR_FLARE"))
    }

    @Test(
        arguments: [
            (nil, Finding.Verdict.warning, "not set"),
            ("http://a.example", .problem, "not https"),
            ("https://a.example", .ok, "https://a.example/v1/apps/cards/notifications/app-store"),
            ("https://a.example/", .ok, "https://a.example/v1/apps/cards/"),
            ("https://a.example/billing", .ok, "https://a.example/billing/v1/apps/cards/"),
            ("https://a.example:8443", .ok, ":8443/v1/"),
            ("https://a.example:443", .ok, ":443/v1/"),
            ("https://a.example:80", .problem, "port"),
            ("https://[2001:db8::1]", .ok, "[2001:db8::1]/v1/"),
            ("https://[2001:db8::1]:444", .problem, "port"),
            ("https://a.example?x=1", .problem, "query"),
        ] as [(String?, Finding.Verdict, String)]
    )
    func `the URL to register is acceptable to the App Store`(
        url: String?,
        verdict: Finding.Verdict,
        words: String
    ) throws {
        let app = Configuration.App(
            id: "cards",
            environments: [.sandbox],
            appStore: Configuration.AppStore(bundleId: "com.example.cards")
        )
        let finding = try #require(Finding.notificationURL(of: app, under: url))
        #expect(finding.verdict == verdict)
        #expect(finding.detail.contains(words), "\(finding.detail)")
        let rehearsal = Configuration.App(
            id: "cards",
            environments: [.simulated],
            appStore: Configuration.AppStore(bundleId: "com.example.cards")
        )
        #expect(Finding.notificationURL(of: rehearsal, under: url) == nil)
    }

    @Test func `a silence is shown with its present state`() throws {
        func finding(_ last: JSONValue, _ alarm: JSONValue) throws -> Finding? {
            let answer: JSONValue = [
                "app": "cards", "environment": "production", "since": "2026-05-01T10:00:00.000Z",
                "lastArrivedAt": last, "alarmSince": alarm,
            ]
            return Finding.silence(try JSONDocument(answer.encoded()).root)
        }
        let at: JSONValue = "2026-05-02T10:00:00.000Z"
        #expect(try finding(at, nil)?.verdict == .ok)
        #expect(try finding(nil, nil)?.verdict == .warning)
        #expect(try finding(at, at)?.verdict == .problem)
        #expect(Finding.silence(try JSONDocument(Array("{}".utf8)).root) == nil)
    }
}
