import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverRehearsal
import TideoverSandbox
import TideoverServer

@testable import tideover

/// The stores of a story that has been played, driven by the buttons of the dashboard's page.
@Suite(.timeLimit(.minutes(20))) struct DemoSandboxTests {
    private static let story = """
        { scenario: "Two", source: "a test", app: { id: "cards", bundleId: "com.example.cards" },
          products: { "cards.pro": { entitlements: ["premium"], group: "pro", period: "P1M",
                      price: "9.99 USD", grace: "P16D" } },
          googlePlay: { packageName: "com.example.cards", subscriptions: { "play.pro": {
            entitlements: ["premium"], basePlans: { monthly: { period: "P1M", price: "9.99 USD",
            grace: "7 d", hold: "30 d" } } } } },
          customers: { anna: { store: "appStore" }, ben: { store: "googlePlay" } },
          start: "2026-05-01T10:00:00Z",
          steps: [
            { do: "subscribe", customer: "anna" },
            { at: "2026-05-02T10:00:00Z", do: "buy", customer: "ben", product: "play.pro" },
          ] }
        """
    private static let page = "/dashboard/apps/cards/sandbox"

    /// A page after a button, as its reader sees it.
    private struct Shown {
        let text: String

        /// The state of each answer, in the order of the customers.
        var answers: [String] {
            text.matches(of: /class="badge[^"]*"[^>]*>(?:<[^>]*>)*([^<]+)</).map { String($0.1) }
        }
        var now: Instant? {
            text.firstMatch(of: /Time in the stores.*?datetime="([^"]+)"/.dotMatchesNewlines())
                .flatMap { Instant(rfc3339: String($0.1)) }
        }
    }

    private struct Visitor {
        let service: Service
        let cookie: String

        /// Signs in with the one-time link, as the demo prints it.
        init(_ service: Service) async throws {
            self.service = service
            let link = try #require(service.makeDashboardLink())
            let response = try await service.handler(
                try #require(Request(method: "GET", target: link, headers: [:], body: []))
            )
            let set = response.headers.all("Set-Cookie").first { !$0.contains("Max-Age=0") }
            cookie = String(try #require(set).prefix { $0 != ";" })
        }

        func get() async throws -> (status: Int, shown: Shown) { try await send("GET", "") }

        func press(_ fields: String) async throws -> Shown {
            let page = try await get().shown.text
            let token = try #require(page.firstMatch(of: /name="form_token" value="([^"]*)"/)).1
            let (status, shown) = try await send("POST", "form_token=\(token)&\(fields)")
            #expect(status == 200, "\(fields)")
            return shown
        }

        private func send(
            _ method: String,
            _ body: String
        ) async throws -> (status: Int, shown: Shown) {
            let request = try #require(
                Request(
                    method: method,
                    target: DemoSandboxTests.page,
                    headers: [
                        "Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded",
                    ],
                    body: Array(body.utf8)
                )
            )
            let response = try await service.handler(request)
            let text = String(decoding: response.body, as: UTF8.self)
            return (response.status, Shown(text: text))
        }
    }

    private func afterStory(
        _ walk: (Rehearsal, ControlServer, Visitor) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let rehearsal = try Rehearsal(
            try Scenario(reading: Array(Self.story.utf8)),
            in: folder,
            dashboard: true
        )
        let (report, session) = try await rehearsal.playIntoSession()
        #expect(report.passed)
        let controlServer = await Demo.attach(session, to: rehearsal)
        try await walk(rehearsal, controlServer, try await Visitor(rehearsal.service))
        await rehearsal.close()
    }

    @Test func `after the story, buttons fail and recover renewals of both stores`() async throws {
        try await afterStory { _, _, visitor in
            let (status, first) = try await visitor.get()
            #expect(status == 200)
            #expect(first.answers == ["active", "active"])
            let (anna, ben) = ("customer=anna&store=appStore", "customer=ben&store=googlePlay")
            for (fields, answers) in [
                ("do=fail&\(anna)", ["active", "active"]),
                ("do=fail&\(ben)", ["active", "active"]),
                ("do=leap&length=1+month", ["grace", "grace"]),
                ("do=recover&\(anna)", ["active", "grace"]),
                ("do=leap&length=1+w", ["active", "hold"]),
                ("do=recover&\(ben)", ["active", "active"]),
                ("do=refund&\(anna)", ["refunded", "active"]),
                ("do=cancel&\(ben)", ["refunded", "active"]),
                ("do=leap&length=1+month", ["refunded", "ended"]),
                ("do=buy&product=cards.pro&\(anna)", ["active", "ended"]),
                ("do=buy&product=play.pro:monthly&\(ben)", ["active", "active"]),
            ] {
                let shown = try await visitor.press(fields)
                #expect(shown.answers == answers, "\(fields)")
            }
        }
    }

    @Test func `the clock steps, leaps and runs, and a sign-in outlasts a leap`() async throws {
        try await afterStory { rehearsal, controlServer, visitor in
            let begin = try #require(try await visitor.get().shown.now)
            let leapt = try #require(try await visitor.press("do=leap&length=1+d").now)
            #expect(leapt == begin + .days(1))
            let stepped = try #require(try await visitor.press("do=step").now)
            // The next event of a store is a renewal.
            #expect(stepped > leapt && stepped < begin + .days(32))
            let playing = try await visitor.press("do=play&speed=86400")
            #expect(playing.text.contains("playing"))
            try await Task.sleep(for: .milliseconds(20))
            _ = try await controlServer.catchUp()
            #expect(rehearsal.clock.now > stepped)
            let stopped = try await visitor.press("do=play&speed=0")
            #expect(!stopped.text.contains("class=\"playing\""))
        }
    }
}
