import Testing
import TideoverConfiguration
import TideoverCore
import TideoverDashboard
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverServer

@testable import TideoverTestServer

/// The page of the simulated stores, before a control server that records its requests.
@Suite struct DashboardSandboxTests {
    private static let page = "/dashboard/apps/rehearsal/sandbox?environment=simulated"

    private let steps = Locked<[String]>([])

    private var control: Handler {
        { [steps] request in
            guard request.path == "/control" else {
                let body: JSONValue = [
                    "now": "2026-05-01T10:00:00Z", "speed": 0,
                    "products": [
                        "appStore": ["cards.pro.monthly"],
                        "googlePlay": ["cards.pro:monthly", "cards.lifetime"],
                    ],
                    "customers": [
                        [
                            "name": "anna <b>", "store": "appStore",
                            "appAccountToken": .string(TestServer.anna), "state": "active",
                            "until": "2026-06-01T10:00:00Z",
                        ],
                        [
                            "name": "ben", "store": "googlePlay", "appAccountToken": nil,
                            "state": "never", "until": nil,
                        ],
                    ],
                ]
                return Response(body: body.encoded())
            }
            let step = String(decoding: request.body, as: UTF8.self)
            steps.withLock { $0.append(step) }
            let body: JSONValue =
                step.contains("fixPayments")
                ? ["fault": "nothing <i> to fix"]
                : [
                    "now": "2026-05-01T10:00:00Z", "speed": 0,
                    "moments": [
                        [
                            "at": "2026-05-01T10:00:00Z", "customer": "anna <b>",
                            "notificationType": "SUBSCRIBED", "subtype": "INITIAL_BUY",
                        ]
                    ],
                ]
            return Response(body: body.encoded())
        }
    }

    private func makeServer() throws -> TestServer {
        try TestServer(dashboard: true, simulatedStores: ["rehearsal": control, "cards": control])
    }

    private func act(
        _ browser: DashboardBrowser,
        _ fields: [(String, String)]
    ) async throws -> Response {
        let token = try await browser.token(on: "/dashboard")
        return try await browser.send("POST", Self.page, [("form_token", token)] + fields)
    }

    @Test func `each button sends one step to the stores, and the audit names the person`()
        async throws
    {
        let server = try makeServer()
        let browser = DashboardBrowser(server)
        try await browser.enter(TestServer.adminKey.text)
        let anna = [("customer", "anna <b>"), ("store", "appStore")]
        let ben = [("customer", "ben"), ("store", "googlePlay")]
        let table: [([(String, String)], String)] = [
            (
                anna + [("do", "buy"), ("product", "cards.pro.monthly")],
                #"{"do":"buy","customer":"anna <b>","product":"cards.pro.monthly"}"#
            ),
            (
                ben + [("do", "buy"), ("product", "cards.pro:monthly")],
                #"{"do":"buy","customer":"ben","product":"cards.pro","plan":"monthly"}"#
            ),
            (anna + [("do", "fail")], #"{"do":"failPayments","customer":"anna <b>"}"#),
            (anna + [("do", "recover")], #"{"do":"fixPayments","customer":"anna <b>"}"#),
            (anna + [("do", "refund")], #"{"do":"refund","customer":"anna <b>"}"#),
            (ben + [("do", "refund")], #"{"do":"refund","customer":"ben","revokes":true}"#),
            (ben + [("do", "cancel")], #"{"do":"cancel","customer":"ben"}"#),
            ([("do", "step")], #"{"do":"nextEvent"}"#),
            ([("do", "play"), ("speed", "86400")], #"{"do":"speed","factor":86400}"#),
            ([("do", "leap"), ("length", "1 month")], #"{"do":"advance","by":"1 month"}"#),
        ]
        for (fields, step) in table {
            let response = try await act(browser, fields)
            #expect(response.status == 200)
            #expect(steps.withLock { $0.last } == step)
            let text = String(decoding: response.body, as: UTF8.self)
            let said = step.contains("fixPayments") ? "nothing &lt;i&gt; to fix" : "INITIAL_BUY"
            #expect(text.contains(said), "\(step)")
        }
        let audit = try await server.get("/v1/apps/rehearsal/audit")
        let lines = try JSONDocument(audit.body).root["audit"]?.elements.map(\.self) ?? []
        #expect(lines.count == table.count)
        #expect(lines.allSatisfy { $0["by"]?.string == "admin key of the configuration" })
        #expect(lines.first?["change"]?["action"]?.string == "buy")
        #expect(lines[3]["change"]?["outcome"]?.string == "rejected")
        await server.close()
    }

    @Test func `the page shows the stores beside the answers, and names stay text`() async throws {
        let server = try makeServer()
        let browser = DashboardBrowser(server)
        try await browser.enter(TestServer.adminKey.text)
        let page = try await browser.text(Self.page)
        for text in [
            "<bdi>anna &lt;b&gt;</bdi>", "Google Play", "Answer for premium", "nothing bought",
            "value=\"cards.pro.monthly\"",
        ] {
            #expect(page.contains(text), "\(text)")
        }
        #expect(!page.contains("anna <b>"))
        let app = try await browser.text("/dashboard/apps/rehearsal")
        #expect(app.contains("/dashboard/apps/rehearsal/sandbox"))
        await server.close()
    }

    @Test func `each customer is offered what the store of the customer sells`() async throws {
        let server = try makeServer()
        let browser = DashboardBrowser(server)
        try await browser.enter(TestServer.adminKey.text)
        let page = try await browser.text(Self.page)
        let cards = page.split(separator: "id=\"customer-").dropFirst().map { card in
            card.matches(of: /<option value="(cards[^"]*)"/).map { String($0.1) }
        }
        .filter { !$0.isEmpty }
        #expect(cards == [["cards.pro.monthly"], ["cards.pro:monthly", "cards.lifetime"]])
        await server.close()
    }

    @Test func `a page answers about its own customers, and a form stays on it`() async throws {
        let customers = (0..<60).map { number -> JSONValue in
            [
                "name": .string("customer \(number)"), "store": "appStore",
                "appAccountToken": .string("token-\(number)"), "state": "never",
            ]
        }
        let server = try TestServer(
            dashboard: true,
            simulatedStores: [
                "rehearsal": { request in
                    let now: JSONValue = "2026-05-01T10:00:00Z"
                    let body: JSONValue =
                        request.path == "/control"
                        ? ["now": now, "moments": []]
                        : ["now": now, "customers": .array(customers)]
                    return Response(body: body.encoded())
                }
            ]
        )
        let browser = DashboardBrowser(server)
        try await browser.enter(TestServer.adminKey.text)
        let second = "\(Self.page)&page=2"
        let token = try await browser.token(on: second)
        let step = [("form_token", token), ("do", "step")]
        let after = try await browser.send("POST", second, step)
        for (page, places) in [
            (try await browser.text(Self.page), 0..<50),
            (try await browser.text(second), 50..<60),
            (String(decoding: after.body, as: UTF8.self), 50..<60),
        ] {
            let answered = page.split(separator: "<section").filter { section in
                section.contains("Answer for premium") && section.contains("customers/token-")
            }
            #expect(answered.count == places.count)
            #expect(page.contains("customers/token-\(places.lowerBound)?"))
        }
        await server.close()
    }

    @Test func `without a rehearsal the page does not exist`() async throws {
        // The first app also serves the sandbox, so that its stores are not only simulated.
        for (server, isRehearsal) in [
            (try makeServer(), true), (try TestServer(dashboard: true), false),
        ] {
            let browser = DashboardBrowser(server)
            try await browser.enter(TestServer.adminKey.text)
            let cards = "/dashboard/apps/cards/sandbox?environment=simulated"
            #expect(try await browser.get(cards).status == 404)
            let token = try await browser.token(on: "/dashboard")
            let form = [("form_token", token), ("do", "step")]
            #expect(try await browser.send("POST", cards, form).status == 404)
            #expect(try await browser.get(Self.page).status == (isRehearsal ? 200 : 404))
            if !isRehearsal {
                #expect(try await browser.send("POST", Self.page, form).status == 404)
            }
            await server.close()
        }
        #expect(steps.withLock { $0 }.isEmpty)
    }

    @Test func `forms of other sites, other apps and viewers do nothing`() async throws {
        let server = try makeServer()
        let browser = DashboardBrowser(server)
        try await browser.enter(TestServer.adminKey.text)
        let token = try await browser.token(on: "/dashboard")
        let step = [("do", "step")]
        #expect(try await browser.send("POST", Self.page, step).status == 403)
        let foreign = try await browser.send(
            "POST",
            Self.page,
            step + [("form_token", token)],
            ["Sec-Fetch-Site": "cross-site"]
        )
        #expect(foreign.status == 403)
        #expect(try await act(browser, [("do", "explode")]).status == 404)
        #expect(try await act(browser, [("do", "play"), ("speed", "fast")]).status == 404)
        for (kind, app, page, form) in [
            ("viewer", "rehearsal", 200, 403), ("secret", "cards", 404, 404),
            ("secret", "rehearsal", 200, 200),
        ] {
            let before = steps.withLock { $0.count }
            let visitor = DashboardBrowser(server)
            try await visitor.enter(try await server.key(kind, of: app))
            #expect(try await visitor.get(Self.page).status == page, "\(kind) of \(app)")
            #expect(try await act(visitor, step).status == form, "\(kind) of \(app)")
            if kind == "viewer" {
                #expect(try await !visitor.text(Self.page).contains("Payments fail"))
            }
            #expect(steps.withLock { $0.count } == before + (form == 200 ? 1 : 0))
        }
        await server.close()
    }
}
