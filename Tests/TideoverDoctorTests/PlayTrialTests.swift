import Testing
import TideoverConfiguration
import TideoverCore
import TideoverDoctor
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverLocks

/// The doctor's checks of Google Play.
@Suite struct PlayTrialTests {
    private static let app = Configuration.App(
        id: "cards",
        environments: [.production],
        googlePlay: Configuration.GooglePlay(
            packageName: "com.example.cards",
            audience: "https://billing.example.com/push",
            email: "pusher@project.iam.gserviceaccount.com"
        )
    )

    /// The time that passes during a wait.
    private let uptime = Locked<Int64>(0)

    private func trial(_ api: PlayAPI?) -> PlayTrial {
        PlayTrial(
            api,
            uptime: { uptime.withLock { $0 } },
            sleep: { duration in
                uptime.withLock { $0 += duration.components.seconds * 1_000_000_000 }
            },
            patience: .seconds(10)
        )
    }

    private func words(_ findings: [Finding]) -> [String] {
        findings.map { "\($0.check.rawValue) \($0.verdict.rawValue)" }
    }

    // MARK: Access

    private static let question = "tideover-doctor-asks-whether-it-may"

    @Test(arguments: [
        (404, "ok", nil), (410, "ok", nil), (400, "ok", nil), (200, "warning", nil),
        (401, "problem", "Users and permissions"), (403, "problem", "robot@p.example"),
        (429, "warning", "quota"), (503, "warning", "later"),
    ])
    func `a request without effect shows whether the service account has permission`(
        status: Int,
        verdict: String,
        advice: String?
    ) async throws {
        let play = FakePlay()
        play.answer(Self.question, Response(status: status))
        let (knock, skew) = try #require(try await trial(play.api).knock())
        #expect(play.questions == ["subscriptionsv2/tokens/\(Self.question)"])
        let findings = Finding.play(knock, skew: skew, of: Self.app, email: FakePlay.account)
        #expect(words(findings) == ["store-key \(verdict)"])
        #expect(findings.first?.subject == "cards googlePlay")
        if let advice { #expect(findings.first?.advice?.contains(advice) == true) }
    }

    @Test func `only a refusal is an answer of Google, without which no push can be verified`()
        async throws
    {
        for isReached in [true, false] {
            let play = FakePlay(access: Response(status: 401), isReached: isReached)
            let (knock, _) = try #require(try await trial(play.api).knock())
            #expect(knock.isReached == isReached)
        }
    }

    @Test func `a key that Google rejects is a problem`() async throws {
        let play = FakePlay(
            access: Response(status: 400, body: Array(#"{"error":"invalid_grant"}"#.utf8))
        )
        let (knock, skew) = try #require(try await trial(play.api).knock())
        let finding = Finding.play(knock, skew: skew, of: Self.app, email: FakePlay.account).first
        #expect(finding?.verdict == .problem)
        #expect(finding?.advice?.contains("clock") == true)
    }

    @Test func `a wrong clock is a problem`() async throws {
        let play = FakePlay()
        play.answer(
            Self.question,
            Response(status: 404, headers: ["Date": "Fri, 01 May 2026 10:10:05 GMT"])
        )
        let (knock, skew) = try #require(try await trial(play.api).knock())
        let findings = Finding.play(knock, skew: skew, of: Self.app, email: nil)
        #expect(words(findings) == ["store-key ok", "store-clock problem"])
    }

    @Test func `without credentials the trial sends no request`() async throws {
        #expect(try await trial(nil).knock() == nil)
        #expect(Finding.playKey(missingOf: Self.app).advice?.contains("serviceAccountFile") == true)
    }

    // MARK: Arrivals

    private func told(
        last: String? = nil,
        tests: [String] = [],
        misdirected: JSONValue = .null
    ) throws -> PlayArrivals {
        let answer: JSONValue = [
            "store": "googlePlay", "asOf": "2026-05-01T10:00:05Z",
            "lastArrivedAt": last.map { .string($0) } ?? .null,
            "tests": .array(tests.map { ["messageId": "1", "arrivedAt": .string($0)] }),
            "misdirected": misdirected,
        ]
        return try #require(PlayArrivals(try JSONDocument(answer.encoded()).root))
    }

    /// Returns the findings for a server with these successive responses; the last one repeats.
    private func findings(
        _ looks: [PlayArrivals]
    ) async throws -> (findings: [Finding], told: [String]) {
        let left = Locked(looks)
        let lines = Locked<[String]>([])
        let reading = try await trial(FakePlay().api).wait(
            arrivals: { left.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] } },
            telling: { line in lines.withLock { $0.append(line) } }
        )
        return (Finding.play(reading, of: Self.app), lines.withLock { $0 })
    }

    @Test func `the trial does not wait where notifications arrive`() async throws {
        let (findings, told) = try await findings([try told(last: "2026-05-01T02:00:00Z")])
        #expect(words(findings) == ["push-subscription ok", "test-notification ok"])
        #expect(told.isEmpty)
    }

    @Test func `the trial waits for a manual test notification and describes how to send it`()
        async throws
    {
        let at = "2026-05-01T10:00:04Z"
        let (findings, lines) = try await findings([
            told(), told(), told(last: at, tests: [at]),
        ])
        #expect(words(findings) == ["push-subscription ok", "test-notification ok"])
        #expect(lines.count == 1)
        #expect(lines.first?.contains("10 s") == true)
        #expect(lines.first?.contains("Send test notification") == true)
    }

    @Test func `a missing test notification has advice`() async throws {
        let (findings, _) = try await findings([told(last: "2026-04-01T10:00:00Z")])
        #expect(words(findings) == ["push-subscription ok", "test-notification warning"])
        #expect(uptime.withLock { $0 } == 10_000_000_000)
        #expect(findings.last?.advice?.contains("google-play-developer-notifications") == true)
    }

    @Test func `a misdirected push ends the wait and is reported with its configuration`()
        async throws
    {
        let push: JSONValue = [
            "at": "2026-05-01T10:00:03Z", "reason": "push-token-audience",
            "audience": "https://old.example", "email": "old@p.example",
        ]
        let (findings, _) = try await findings([told(), told(misdirected: push)])
        #expect(words(findings) == ["push-subscription problem", "test-notification warning"])
        #expect(findings.first?.detail.contains("https://old.example") == true)
        #expect(findings.first?.detail.contains("old@p.example") == true)
        #expect(findings.first?.advice?.hasPrefix("Anyone can send a push") == true)
        #expect(uptime.withLock { $0 } == 2_000_000_000)
    }

    @Test func `a push without a token is a warning`() async throws {
        let push: JSONValue = [
            "at": "2026-05-01T10:00:03Z", "reason": "push-token-missing", "audience": .null,
            "email": .null,
        ]
        let (findings, _) = try await findings([told(misdirected: push)])
        #expect(findings.first?.verdict == .warning)
        #expect(findings.first?.advice?.contains("authenticate") == true)
    }

    @Test func `the push endpoint is reported and needs https`() {
        let url = "https://billing.example.com/v1/apps/cards/notifications/google-play"
        let good = Finding.pushEndpoint(of: Self.app, under: "https://billing.example.com/")
        #expect(good?.verdict == .ok)
        #expect(good?.detail.contains(url) == true)
        #expect(Finding.pushEndpoint(of: Self.app, under: "http://a.example")?.verdict == .problem)
        #expect(Finding.pushEndpoint(of: Self.app, under: nil) == nil)
    }
}
