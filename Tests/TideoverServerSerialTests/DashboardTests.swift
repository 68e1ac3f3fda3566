import Testing
import TideoverConfiguration
import TideoverCore
import TideoverDashboard
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSQLite
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// The dashboard over HTTP: sign-in, sessions, and what a session may read.
@Suite struct DashboardTests {
    private static let session = "__Host-tideover-session"
    private static let signIn = "/dashboard/sign-in"
    private static let customer = "/dashboard/apps/cards/customers/\(TestServer.anna)"

    private func key(_ server: TestServer, _ body: String) async throws -> (id: String, key: String)
    {
        let response = try await server.send("POST", "/v1/keys", body: Array(body.utf8))
        let node = try JSONDocument(response.body).root
        return (try #require(node["id"]?.string), try #require(node["key"]?.string))
    }

    /// Returns a server with a purchase of Anna, and a browser that signed in with the admin key.
    private func signedIn() async throws -> (TestServer, DashboardBrowser) {
        let server = try TestServer(dashboard: true)
        #expect(try await server.post(.purchase()).status == 200)
        let browser = DashboardBrowser(server)
        let response = try await browser.enter(TestServer.adminKey.text)
        #expect(response.status == 303)
        #expect(response.headers["Location"] == "/dashboard")
        return (server, browser)
    }

    /// Whether the browser can read a page that needs a session.
    private func isSignedIn(_ browser: DashboardBrowser) async throws -> Bool {
        let response = try await browser.get("/dashboard")
        if response.status == 303 { #expect(response.headers["Location"] == Self.signIn) }
        return response.status == 200
    }

    private static let pages = [
        "/dashboard", "/dashboard/apps/cards", "/dashboard/apps/cards?environment=simulated",
        "/dashboard/apps/cards/search?q=none", customer, customer + "?environment=sandbox",
        customer + "?environment=sandbox&at=2026-05-02T10:00",
        customer + "?environment=sandbox&at=2026-05-02T10:00:00Z",
        customer + "?environment=sandbox&at=1777716000000", events,
        "/dashboard/apps/cards/configuration?environment=sandbox",
        "/dashboard/apps/cards/experiments?environment=sandbox",
        customer + "/move?environment=sandbox&purchase=appStore:2000000000000001&to=u_2&why=x",
        customer + "/alias?environment=sandbox&alias=u_2&why=x",
        "/dashboard/apps/cards/events/stream?environment=sandbox",
    ]
    private static let events = "/dashboard/apps/cards/events?environment=sandbox"

    // MARK: Off and on

    @Test func `without the setting there is no dashboard`() async throws {
        let server = try TestServer()
        for path in Self.pages + [Self.signIn, "/dashboard/assets/dashboard.css"] {
            #expect(try await server.get(path).status == 404, "\(path)")
        }
        #expect(server.service.makeDashboardLink() == nil)
        await server.close()
    }

    @Test func `without a session every page leads to the sign-in`() async throws {
        let server = try TestServer(dashboard: true)
        for path in Self.pages {
            // An API key in a header is no session.
            let response = try await server.get(path)
            #expect(response.status == 303, "\(path)")
            let location = try #require(response.headers["Location"])
            let isSignIn = location == Self.signIn || location.hasPrefix("\(Self.signIn)?next=")
            #expect(isSignIn, "\(path)")
        }
        await server.close()
    }

    @Test func `every response has the security headers`() async throws {
        let (server, browser) = try await signedIn()
        let stranger = DashboardBrowser(server)
        let others = [
            Self.signIn, "/dashboard/enter?token=x", "/dashboard/apps/none",
            customerOfNone, Self.customer + "?at=yesterday", "/dashboard/assets/none",
            "/dashboard/assets/dashboard.css", "/dashboard/assets/dashboard.js",
            "/dashboard/assets/icon.svg",
        ]
        for visitor in [browser, stranger] {
            for path in Self.pages + others {
                let response = try await visitor.get(path)
                let policy = response.headers["Content-Security-Policy"] ?? ""
                #expect(policy.contains("default-src 'none'"), "\(path)")
                #expect(policy.contains("frame-ancestors 'none'"), "\(path)")
                #expect(!policy.contains("unsafe"), "\(path)")
                #expect(response.headers["X-Content-Type-Options"] == "nosniff", "\(path)")
                #expect(response.headers["Referrer-Policy"] == "no-referrer", "\(path)")
                let caching = path.contains("/assets/dash") || path.contains("/assets/icon")
                #expect(response.headers["Cache-Control"] == (caching ? "no-cache" : "no-store"))
            }
        }
        for path in Self.pages { #expect(try await browser.get(path).status == 200, "\(path)") }
        await server.close()
    }

    private var customerOfNone: String { "/dashboard/apps/none/customers/\(TestServer.anna)" }

    // MARK: Sign-in

    @Test func `the session's cookie is closed to scripts, other sites and plain HTTP`()
        async throws
    {
        let server = try TestServer(dashboard: true)
        let browser = DashboardBrowser(server)
        let lines = try await browser.enter(TestServer.adminKey.text).headers.all("Set-Cookie")
        let line = try #require(lines.first { $0.hasPrefix(Self.session) })
        for part in ["; Path=/", "; HttpOnly", "; SameSite=Strict", "; Secure"] {
            #expect(line.contains(part), "\(part)")
        }
        #expect(!line.contains("Domain"))
        let local = DashboardBrowser(server)
        local.headers = ["Host": "127.0.0.1:8080"]
        let plain = try await local.enter(TestServer.adminKey.text).headers.all("Set-Cookie")
        #expect(plain.contains { $0.hasPrefix("tideover-session=") && !$0.contains("Secure") })
        #expect(try await isSignedIn(local))
        // A proxy with TLS can send its own address of the server as the host.
        for field in ["X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.1"] {
            let proxied = DashboardBrowser(server)
            proxied.headers = ["Host": "127.0.0.1:8080"]
            proxied.headers[field.key] = field.value
            let lines = try await proxied.enter(TestServer.adminKey.text).headers.all("Set-Cookie")
            #expect(lines.contains { $0.hasPrefix(Self.session) && $0.contains("; Secure") })
        }
        await server.close()
    }

    @Test func `only viewer, secret and admin keys sign in`() async throws {
        let server = try TestServer(dashboard: true)
        let revoked = try await key(server, #"{"kind": "admin"}"#)
        #expect(try await server.send("DELETE", "/v1/keys/\(revoked.id)").status == 200)
        let table = [
            (try await key(server, #"{"kind": "public", "apps": ["cards"]}"#).key, false),
            (try await key(server, #"{"kind": "secret", "apps": ["cards"]}"#).key, true),
            (try await key(server, #"{"kind": "viewer", "apps": ["cards"]}"#).key, true),
            (try await key(server, #"{"kind": "admin"}"#).key, true), (revoked.key, false),
            ("", false), (APIKey(.admin) { 9 }.text, false),
            (String(repeating: "x", count: 200), false),
        ]
        for (key, isAllowed) in table {
            let browser = DashboardBrowser(server)
            #expect(try await browser.enter(key).status == (isAllowed ? 303 : 403))
            #expect(try await isSignedIn(browser) == isAllowed)
        }
        await server.close()
    }

    @Test func `a sign-in that another site sends is refused`() async throws {
        let server = try TestServer(dashboard: true)
        let (own, other) = (DashboardBrowser(server), DashboardBrowser(server))
        let token = try await own.token(on: Self.signIn)
        let foreign = try await other.token(on: Self.signIn)
        let key = ("key", TestServer.adminKey.text)
        let attempts: [([(String, String)], Headers)] = [
            ([key], [:]), ([key, ("form_token", "")], [:]), ([key, ("form_token", foreign)], [:]),
            ([key, ("form_token", token)], ["Sec-Fetch-Site": "cross-site"]),
            ([key, ("form_token", token)], ["Sec-Fetch-Site": "same-site"]),
        ]
        for (form, headers) in attempts {
            let response = try await own.send("POST", Self.signIn, form, headers)
            #expect(response.status == 403)
            #expect(own.cookies[Self.session] == nil)
        }
        let form = [key, ("form_token", token)]
        #expect(try await own.send("POST", Self.signIn, form).status == 303)
        await server.close()
    }

    @Test func `a session never has a token that was known before`() async throws {
        let server = try TestServer(dashboard: true)
        let victim = DashboardBrowser(server)
        victim.cookies[Self.session] = "planted"
        try await victim.enter(TestServer.adminKey.text)
        #expect(victim.cookies[Self.session] != "planted")
        let attacker = DashboardBrowser(server)
        attacker.cookies[Self.session] = "planted"
        #expect(try await !isSignedIn(attacker))
        let first = try #require(victim.cookies[Self.session])
        try await victim.enter(TestServer.adminKey.text)
        attacker.cookies[Self.session] = first
        #expect(try await !isSignedIn(attacker))
        #expect(try await isSignedIn(victim))
        await server.close()
    }

    @Test func `guesses from one network are slowed`() async throws {
        let server = try TestServer(
            clients: ClientLimits(refusalsPerMinute: 3),
            dashboard: true
        )
        let browser = DashboardBrowser(server)
        browser.peer = "203.0.113.9"
        for number in 0..<3 {
            // A credential that the route does not check gives no further budget.
            browser.headers["Authorization"] = "Bearer key\(number)"
            #expect(try await browser.enter(APIKey(.admin) { 9 }.text).status == 403)
        }
        browser.headers["Authorization"] = nil
        let refused = try await browser.enter(TestServer.adminKey.text)
        #expect(refused.status == 429)
        #expect(refused.headers["Retry-After"] != nil)
        #expect(try await browser.get("/dashboard/enter?token=x").status == 429)
        let other = DashboardBrowser(server)
        other.peer = "198.51.100.7"
        #expect(try await other.enter(TestServer.adminKey.text).status == 303)
        await server.close()
    }

    @Test func `a link signs in once`() async throws {
        let server = try TestServer(dashboard: true)
        let link = try #require(server.service.makeDashboardLink())
        let (first, second) = (DashboardBrowser(server), DashboardBrowser(server))
        #expect(try await first.get(link).status == 303)
        #expect(try await isSignedIn(first))
        #expect(try await second.get(link).status == 403)
        #expect(try await !isSignedIn(second))
        await server.close()
    }

    @Test func `a sign-in leads to the page that was requested`() async throws {
        let server = try TestServer(dashboard: true)
        let browser = DashboardBrowser(server)
        for page in Self.pages.dropFirst() {
            let stranger = DashboardBrowser(server)
            let form = try #require(try await stranger.get(page).headers["Location"])
            let next = try await stranger.next(on: form)
            let wrong = try await stranger.enter("wrong", next: next)
            #expect(String(decoding: wrong.body, as: UTF8.self).contains("name=\"next\""))
            let entered = try await stranger.enter(TestServer.adminKey.text, next: next)
            let location = try #require(entered.headers["Location"])
            #expect(Request(target: location) == Request(target: page), "\(page)")
        }
        // After a refused form it leads to the page of the form.
        browser.cookies[Self.session] = "ended"
        let grant = Self.customer + "/grant?environment=sandbox"
        let refused = try await browser.send("POST", grant, [("days", "7")])
        let body = String(decoding: refused.body, as: UTF8.self)
        #expect(body.contains("value=\"\(Self.customer)?environment=sandbox\""))
        await server.close()
    }

    @Test(arguments: [
        "https://example.com/", "//example.com/dashboard/apps/cards", "/\\example.com/apps/cards",
        "/dashboard/apps", "/dashboard/apps/..//example.com", "/dashboard/apps/%2E%2E/x", "",
        "/v1/apps/cards", "/dashboard/enter?token=x", "/dashboardx/apps/cards",
        "javascript:alert(1)",
        " /dashboard/apps/cards", "/dashboard/apps/cards\r\nX: y", "/dashboard/apps/other",
        "/dashboard/apps/cards?x=" + String(repeating: "y", count: 2_048),
    ])
    func `a sign-in leads only to pages of the key's apps`(next: String) async throws {
        let server = try TestServer(dashboard: true)
        let key = try await key(server, #"{"kind": "viewer", "apps": ["cards"]}"#)
        let browser = DashboardBrowser(server)
        let entered = try await browser.enter(key.key, next: next)
        #expect(entered.headers["Location"] == "/dashboard")
        await server.close()
    }

    @Test func `a very long address leads to a sign-in without it`() async throws {
        let server = try TestServer(dashboard: true)
        for query in [String(repeating: "y", count: 2_048), String(repeating: "%20", count: 2_048)]
        {
            let response = try await server.get("/dashboard/apps/cards/search?q=\(query)")
            #expect(response.headers["Location"] == Self.signIn)
        }
        await server.close()
    }

    @Test func `white space around a copied text is ignored`() async throws {
        let server = try TestServer(dashboard: true)
        _ = try await server.post(.purchase())
        let browser = DashboardBrowser(server)
        let entered = try await browser.enter(" \(TestServer.adminKey.text)\n")
        #expect(entered.status == 303)
        let search = "/dashboard/apps/cards/search?environment=sandbox&q="
        let found = try await browser.get("\(search)%20\(TestServer.anna)%0D%0A")
        #expect(found.headers["Location"] == "\(Self.customer)?environment=sandbox")
        let move = "/move?environment=sandbox&purchase=appStore%3A2000000000000001&why=x&to="
        let moving = try await browser.text("\(Self.customer)\(move)%09u_2%20")
        #expect(moving.contains("name=\"to\" value=\"u_2\""))
        let alias = "/alias?environment=sandbox&why=x&alias=%20u_2%C2%A0"
        let joining = try await browser.text(Self.customer + alias)
        #expect(joining.contains("name=\"alias\" value=\"u_2\""))
        await server.close()
    }

    @Test(arguments: ["GPA.1%202", "GPA.1%2F2", "GPA.%C3%BC"])
    func `a search for a text that begins as an order number finds nothing`(
        query: String
    ) async throws {
        let (server, browser) = try await signedIn()
        let page = try await browser.get("/dashboard/apps/cards/search?q=\(query)")
        #expect(page.status == 200)
        #expect(String(decoding: page.body, as: UTF8.self).contains("Nothing found"))
        await server.close()
    }

    @Test func `a browser gets a page at an address that does not exist`() async throws {
        let type = "Content-Type"
        let server = try TestServer(dashboard: true)
        for (path, status) in [
            ("/dashboard/", 404), ("/dashboard/none", 404), ("\(Self.customer)/grant", 405),
        ] {
            let response = try await server.get(path)
            #expect(response.status == status, "\(path)")
            #expect(response.headers[type] == "text/html; charset=utf-8", "\(path)")
            #expect(response.headers["Allow"] == (status == 405 ? "POST" : nil))
            let page = String(decoding: response.body, as: UTF8.self)
            #expect(page.contains("<a href=\"/dashboard\">All apps</a>"), "\(path)")
        }
        let other = try await server.get("/dashboards")
        #expect(other.headers[type] == "application/problem+json")
        await server.close()
        let closed = try TestServer()
        let response = try await closed.get("/dashboard/")
        #expect(response.headers[type] == "application/problem+json")
        await closed.close()
    }

    @Test func `a page at another host leads to the same page here`() async throws {
        let server = try TestServer(dashboard: true)
        let browser = DashboardBrowser(server)
        let next = "https://example.com/dashboard/apps/cards?environment=sandbox"
        let entered = try await browser.enter(TestServer.adminKey.text, next: next)
        #expect(entered.headers["Location"] == "/dashboard/apps/cards?environment=sandbox")
        await server.close()
    }

    // MARK: The end of a session

    @Test func `after sign-out the cookie opens nothing`() async throws {
        let (server, browser) = try await signedIn()
        let cookie = try #require(browser.cookies[Self.session])
        let token = try await browser.token(on: "/dashboard")
        #expect(try await browser.send("POST", "/dashboard/sign-out", []).status == 403)
        let wrong = [("form_token", "wrong")]
        #expect(try await browser.send("POST", "/dashboard/sign-out", wrong).status == 403)
        #expect(try await isSignedIn(browser))
        let right = [("form_token", token)]
        #expect(try await browser.send("POST", "/dashboard/sign-out", right).status == 303)
        #expect(browser.cookies[Self.session] == nil)
        browser.cookies[Self.session] = cookie
        #expect(try await !isSignedIn(browser))
        await server.close()
    }

    @Test func `a revoked key ends its sessions`() async throws {
        let server = try TestServer(dashboard: true)
        let key = try await key(server, #"{"kind": "secret", "apps": ["cards"]}"#)
        let browser = DashboardBrowser(server)
        try await browser.enter(key.key)
        #expect(try await isSignedIn(browser))
        #expect(try await server.send("DELETE", "/v1/keys/\(key.id)").status == 200)
        #expect(try await !isSignedIn(browser))
        await server.close()
    }

    @Test func `another admin key in the configuration ends the sessions of the former one`()
        async throws
    {
        let (server, browser) = try await signedIn()
        let link = try #require(server.service.makeDashboardLink())
        let guest = DashboardBrowser(server)
        #expect(try await guest.get(link).status == 303)
        for (key, staysSignedIn) in [(TestServer.adminKey, true), (APIKey(.admin) { 9 }, false)] {
            let clock = server.now
            _ = try Service(
                apps: [],
                storage: server.storage,
                version: "test",
                clock: { clock },
                log: { _ in },
                adminKey: key,
                succeeding: server.service,
                dashboard: true
            )
            #expect(try await isSignedIn(browser) == staysSignedIn)
            #expect(try await isSignedIn(guest))
        }
        await server.close()
    }

    @Test func `a session ends when it is idle, and after eight hours in any case`() async throws {
        let uptime = Locked<Int64>(0)
        let server = try TestServer(
            probes: Probes(uptime: { uptime.withLock { $0 } }),
            dashboard: true
        )
        let browser = DashboardBrowser(server)
        try await browser.enter(TestServer.adminKey.text)
        for _ in 0..<16 {
            #expect(try await isSignedIn(browser))
            uptime.withLock { $0 += DashboardSessions.idle - 1 }
        }
        // Sixteen nanoseconds are missing to eight hours.
        uptime.withLock { $0 += 16 }
        #expect(try await !isSignedIn(browser))
        try await browser.enter(TestServer.adminKey.text)
        uptime.withLock { $0 += DashboardSessions.idle }
        #expect(try await !isSignedIn(browser))
        let sent = try await browser.send("POST", "\(Self.customer)/grant", [("days", "7")])
        #expect(sent.status == 403)
        #expect(String(decoding: sent.body, as: UTF8.self).contains("nothing was changed"))
        let link = try #require(server.service.makeDashboardLink())
        uptime.withLock { $0 += DashboardSessions.linkLife }
        #expect(try await browser.get(link).status == 403)
        await server.close()
    }

    @Test func `an open page of events does not keep its session alive`() async throws {
        let uptime = Locked<Int64>(0)
        let server = try TestServer(
            probes: Probes(uptime: { uptime.withLock { $0 } }),
            dashboard: true
        )
        let browser = DashboardBrowser(server)
        try await browser.enter(TestServer.adminKey.text)
        let stream = "/dashboard/apps/cards/events/stream?environment=sandbox"
        uptime.withLock { $0 += DashboardSessions.idle / 2 }
        #expect(try await browser.get(stream).status == 200)
        uptime.withLock { $0 += DashboardSessions.idle / 2 }
        #expect(try await browser.get(stream).status == 303)
        #expect(try await !isSignedIn(browser))
        await server.close()
    }

    // MARK: What a session may read

    @Test func `the stream continues after the event that the browser read last`() async throws {
        let (server, browser) = try await signedIn()
        let page = try await browser.text(Self.events)
        let ids = page.matches(of: /<tr id="([^"]*)"/).map { String($0.1) }
        let stored = try server.storage.outbox(app: "cards", after: nil, limit: 100)
        #expect(!ids.isEmpty && ids == stored.map(\.id.description).reversed())
        let first = try #require(ids.first)
        let stream = "/dashboard/apps/cards/events/stream?environment=sandbox"
        // By the id the browser knows where to continue.
        func nothing(_ next: String) -> String { "retry: 2000\n\nid: \(next)\n\n" }
        #expect(try await browser.text("\(stream)&after=\(first)") == nothing(first))
        server.set(Message.end + .minutes(5))
        #expect(try await server.post(.renewed()).status == 200)
        let response = try await browser.send("GET", stream, nil, ["Last-Event-ID": first])
        #expect(response.headers["Content-Type"] == "text/event-stream")
        let text = String(decoding: response.body, as: UTF8.self)
        let later = try server.storage.outbox(app: "cards", after: stored.last?.id, limit: 100)
        let next = try #require(later.first)
        let last = try #require(later.last).id.description
        #expect(
            text.matches(of: /(?m)^id: (.*)$/).map { String($0.1) }
                == later.map(\.id.description) + [last]
        )
        #expect(text.contains("data: <tr id=\"\(next.id)\""))
        let other = "/dashboard/apps/cards/events/stream?environment=simulated"
        // Events of another environment are passed by, so that they are not read again and again.
        #expect(try await browser.text(other) == nothing(last))
        #expect(try await browser.get("\(stream)&after=x").status == 400)
        await server.close()
    }

    @Test func `the feed returns its newest events, and continues after them`() async throws {
        let server = try TestServer()
        #expect(try await server.post(.purchase()).status == 200)
        server.set(Message.end + .minutes(5))
        #expect(try await server.post(.renewed()).status == 200)
        let feed = "/v1/apps/cards/events"
        let all = try JSONDocument(try await server.send("GET", feed).body).root
        let latest = try JSONDocument(try await server.send("GET", "\(feed)?latest=1").body).root
        let events = all["events"]?.elements.map(\.self) ?? []
        #expect(events.count > 1)
        #expect(latest["events"]?.elements.map(\.source) == events.suffix(1).map(\.source))
        #expect(latest["next"]?.string == all["next"]?.string)
        #expect(latest["more"]?.bool == false)
        #expect(try await server.send("GET", "\(feed)?latest=0").status == 400)
        await server.close()
    }

    @Test func `a session of one app reads nothing of another by any URL`() async throws {
        let server = try TestServer(dashboard: true)
        _ = try await server.post(.purchase())
        let key = try await key(server, #"{"kind": "secret", "apps": ["rehearsal"]}"#)
        let browser = DashboardBrowser(server)
        try await browser.enter(key.key)
        for path in Self.pages where path != "/dashboard" {
            #expect(try await browser.get(path).status == 404, "\(path)")
        }
        let own = "/dashboard/apps/rehearsal"
        let tricks = [
            "/dashboard", "/dashboard?app=cards", own, "\(own)?app=cards",
            "\(own)/search?q=\(TestServer.anna)", "\(own)/search?q=2000000000000001",
            "\(own)/search?q=\(TestServer.anna)&app=cards&environment=sandbox",
            "\(own)/customers/\(TestServer.anna)?app=cards&environment=sandbox",
            "\(own)/customers/..%2F..%2Fcards%2Fcustomers%2F\(TestServer.anna)",
            "/dashboard/apps/rehearsal%2F..%2Fcards", "/dashboard/apps/%63ards",
            "/dashboard/apps/cards/customers/\(TestServer.anna)?app=rehearsal",
        ]
        for path in tricks {
            let page = try await browser.text(path)
            for secret in ["cards.pro.monthly", "2000000000000001", "/apps/cards"] {
                let isOwnQuery = path.contains(secret)
                #expect(isOwnQuery || !page.contains(secret), "\(path): \(secret)")
            }
        }
        await server.close()
    }

    @Test func `the numbers of the pages are those of the reports`() async throws {
        let (server, browser) = try await signedIn()
        server.set(Message.end + .days(40))
        for (path, query) in [
            ("/dashboard", ""), ("/dashboard/apps/cards?environment=sandbox", "?app=cards"),
        ] {
            let page = try await browser.text(path)
            let shown = Set(page.matches(of: /<data value="([^"]*)"/).map { String($0.1) })
            for (report, members) in [
                ("lockouts", ["purchases", "entitledMinutes", "minutes"]),
                ("drift", ["found", "open", "lockoutMinutes", "medianSeconds"]),
                ("arrival", ["count", "share", "medianSeconds", "p95Seconds"]),
            ] {
                let answer = try await server.get("/v1/reports/\(report)\(query)")
                let rows = try JSONDocument(answer.body).root["rows"]?.elements.map(\.self) ?? []
                let about = rows.filter { $0["environment"]?.string == "sandbox" }
                let expected = about.flatMap { numbers(in: $0, named: Set(members)) }
                #expect(expected.count >= 3)
                for number in expected { #expect(shown.contains(number), "\(path) \(report)") }
            }
        }
        await server.close()
    }

    @Test func `the portfolio has the numbers of its report at the same instant`() async throws {
        let (server, browser) = try await signedIn()
        for instant in [Message.start + .days(3), Message.end + .days(40)] {
            server.set(instant)
            let page = try await browser.text("/dashboard")
            let shown = Set(page.matches(of: /<data value="([^"]*)"/).map { String($0.1) })
            let answer = try await server.get("/v1/reports/portfolio?each=day")
            let rows = try JSONDocument(answer.body).root["rows"]?.elements.map(\.self) ?? []
            let row = try #require(rows.first { $0["environment"]?.string == "sandbox" })
            let counts = try #require(row["subscriptions"]).members.map { $0.value }
            let sums = ["revenue", "money"].flatMap { row[$0]?.elements.map(\.self) ?? [] }
            let names: Set = ["mrr", "grace", "hold", "atRisk", "recovered", "lost", "open"]
            let numbers =
                counts.map { String(decoding: $0.source, as: UTF8.self) }
                + sums.flatMap { self.numbers(in: $0, named: names) }
            #expect(numbers.count >= 9)
            for number in numbers { #expect(shown.contains(number), "\(instant.rfc3339)") }
        }
        await server.close()
    }

    /// Returns the numbers with these names, as the report writes them.
    private func numbers(in node: JSONNode, named names: Set<String>) -> [String] {
        // Time to heal of the arrival report is not on a page.
        node.members.filter { $0.key != "timeToHeal" || names.contains("found") }.flatMap {
            member in
            member.value.kind == .object
                ? numbers(in: member.value, named: names)
                : names.contains(member.key)
                    ? [String(decoding: member.value.source, as: UTF8.self)] : []
        }
    }

    @Test func `a customer's page agrees with the explanation`() async throws {
        let (server, browser) = try await signedIn()
        let answer = try await server.get(
            "/v1/apps/cards/customers/\(TestServer.anna)/explain?environment=sandbox"
        )
        let explain = try JSONDocument(answer.body).root
        let premium = try #require(explain["entitlements"]?["premium"])
        let page = try await browser.text(Self.customer)
        let reply = premium["reply"]?.elements.compactMap(\.string).joined(separator: " ") ?? ""
        let why = try #require(premium["why"]?[0]?.string)
        #expect(!reply.isEmpty)
        #expect(page.contains("Why? <bdi>\(why)</bdi>"))
        #expect(page.contains(HTMLText.escaped(reply)))
        let rule = try #require(premium["decision"]?["rule"]?.string)
        #expect(page.contains("<code>\(rule)</code>"))
        let before = try await browser.text(Self.customer + "?at=2026-04-01T00:00")
        #expect(before.contains("<code>no-facts</code>"))
        await server.close()
    }

    // MARK: Changes

    private static let actions = ["refresh", "grant", "revoke", "alias", "move"]

    private func grants(_ server: TestServer) async throws -> [JSONNode] {
        let path = "/v1/apps/cards/customers/\(TestServer.anna)/grants?environment=sandbox"
        return try JSONDocument(try await server.get(path).body).root["grants"]?.elements
            .map(\.self) ?? []
    }

    /// Sends a form of a customer's page with its token.
    private func act(
        _ browser: DashboardBrowser,
        _ action: String,
        _ fields: [(String, String)] = []
    ) async throws -> Response {
        let token = try await browser.token(on: Self.customer + "?environment=sandbox")
        return try await browser.send(
            "POST",
            "\(Self.customer)/\(action)?environment=sandbox",
            [("form_token", token)] + fields
        )
    }

    @Test
    func `access is given once for a form, shown, audited under the key's name, and taken back`()
        async throws
    {
        let server = try TestServer(dashboard: true)
        _ = try await server.post(.purchase())
        let key = try await key(
            server,
            #"{"kind": "secret", "apps": ["cards"], "name": "Support <b>"}"#
        )
        let browser = DashboardBrowser(server)
        try await browser.enter(key.key)
        let page = try await browser.text(Self.customer + "?environment=sandbox")
        let once = try #require(page.firstMatch(of: /name="once" value="([^"]*)"/)).1
        let form = [
            ("once", String(once)), ("entitlement", "premium"), ("days", "7"),
            ("why", "outage & more"),
        ]
        for _ in 0..<2 {
            let response = try await act(browser, "grant", form)
            #expect(response.status == 303)
            #expect(
                response.headers["Location"]
                    == "\(Self.customer)?environment=sandbox&done=grant"
            )
        }
        let given = try await grants(server)
        #expect(given.count == 1)
        #expect(given.first?["by"]?.string == "Support <b>")
        let after = try await browser.text(Self.customer + "?environment=sandbox&done=grant")
        for text in ["Access was given.", "outage &amp; more", "Support &lt;b&gt;", "Take back"] {
            #expect(after.contains(text), "\(text)")
        }
        let id = try #require(given.first?["id"]?.string)
        let back = try await act(browser, "revoke", [("grant", id), ("why", "by mistake")])
        #expect(back.status == 303)
        #expect(try await grants(server).first?["revoked"]?["why"]?.string == "by mistake")
        let last = try await browser.text(Self.customer + "?environment=sandbox")
        #expect(!last.contains("Take back"))
        #expect(last.contains("by mistake"))
        await server.close()
    }

    @Test func `a purchase moves after a confirmation, under the key's name`() async throws {
        let server = try TestServer(dashboard: true)
        _ = try await server.post(.purchase())
        let key = try await key(
            server,
            #"{"kind": "secret", "apps": ["cards"], "name": "Support <b>"}"#
        )
        let browser = DashboardBrowser(server)
        try await browser.enter(key.key)
        let page = try await browser.text(Self.customer + "?environment=sandbox")
        #expect(page.contains("action=\"\(Self.customer)/move?environment=sandbox\""))
        let plan = "/move?environment=sandbox&purchase=appStore%3A2000000000000001"
        let asks = try await browser.text(
            Self.customer + plan + "&to=%3Cb%3Eu_2&why=other%20account"
        )
        #expect(asks.contains("Nothing is stored of <bdi>&lt;b&gt;u_2</bdi>"))
        #expect(try await server.premium(TestServer.anna) == "active paid access")
        let form = [("purchase", "appStore:2000000000000001"), ("to", "u_2"), ("why", "account")]
        let moved = try await act(browser, "move", form)
        #expect(moved.headers["Location"] == "\(Self.customer)?environment=sandbox&done=move")
        let after = try await browser.text(Self.customer + "?environment=sandbox&done=move")
        for text in ["The purchase was moved.", "operator moved", "Support &lt;b&gt;"] {
            #expect(after.contains(text), "\(text)")
        }
        #expect(!after.contains("/move?"))
        #expect(try await server.premium("u_2") == "active paid access")
        #expect(try await server.premium(TestServer.anna).hasPrefix("never"))
        // A page that shows a former owner moves nothing.
        #expect(try await act(browser, "move", form).status == 303)
        let stale = [("purchase", "appStore:2000000000000001"), ("to", "u_3"), ("why", "account")]
        let refused = try await act(browser, "move", stale)
        #expect(refused.status == 409)
        // Not because it is the second move at this instant.
        #expect(String(decoding: refused.body, as: UTF8.self).contains("stated customer"))
        await server.close()
    }

    @Test func `an id is joined, and a refused change says why and changes nothing`() async throws {
        let (server, browser) = try await signedIn()
        let joined = try await act(browser, "alias", [("alias", "anonymous-1"), ("why", "same")])
        #expect(joined.status == 303)
        let page = try await browser.text(Self.customer + "?environment=sandbox&done=alias")
        #expect(page.contains("<bdi>anonymous-1</bdi>"))
        let refused = [
            ("grant", [("entitlement", "none"), ("days", "7"), ("why", "x")], 400),
            ("grant", [("entitlement", "premium"), ("days", "many"), ("why", "x")], 400),
            ("grant", [("entitlement", "premium"), ("days", "7")], 400),
            ("revoke", [("grant", "none"), ("why", "x")], 404),
            ("alias", [("alias", TestServer.anna), ("why", "x")], 409),
        ]
        for (action, fields, status) in refused {
            let response = try await act(browser, action, fields)
            #expect(response.status == status, "\(action)")
            #expect(response.headers["Content-Security-Policy"] != nil)
        }
        #expect(try await grants(server).isEmpty)
        await server.close()
    }

    @Test func `a join is confirmed, and the page of each id leads to the other`() async throws {
        let (server, browser) = try await signedIn()
        let root = "/v1/apps/cards/customers"
        let grant = Array(#"{"entitlement": "premium", "days": 7, "why": "x"}"#.utf8)
        let granted = "\(root)/u_2/grants?environment=sandbox"
        #expect(try await server.send("POST", granted, body: grant).status == 201)
        let plan = "\(Self.customer)/alias?environment=sandbox&why=same&alias="
        let known = try await browser.text(plan + "u_2")
        #expect(known.contains("Data of <bdi>u_2</bdi> is stored already."))
        #expect(known.contains("<dd><bdi>premium</bdi></dd>"))
        #expect(try await !browser.text(plan + "u_3").contains("is stored already."))
        // Nothing is joined yet.
        let aliases = try await server.get("\(root)/\(TestServer.anna)/aliases")
        #expect(try JSONDocument(aliases.body).root["customer"]?.string == TestServer.anna)
        #expect(try await !browser.text(Self.customer).contains("Other ids of this customer"))
        #expect(try await act(browser, "alias", [("alias", "u_2"), ("why", "same")]).status == 303)
        let other = "/dashboard/apps/cards/customers/u_2?environment=sandbox"
        let own = "\(Self.customer)?environment=sandbox"
        #expect(try await browser.text(own).contains("<li><a href=\"\(other)\">"))
        let page = try await browser.text(other)
        #expect(page.contains("<li><a href=\"\(own)\"><bdi>\(TestServer.anna)</bdi></a>, the main"))
        #expect(!page.contains("<li><a href=\"\(other)\">"))
        // The purchase of the main id can be moved from the page of the other one.
        #expect(page.contains("action=\"/dashboard/apps/cards/customers/u_2/move?"))
        await server.close()
    }

    @Test func `the page of an id without stored data warns before a reply`() async throws {
        let (server, browser) = try await signedIn()
        let stranger = "/dashboard/apps/cards/customers/u_9?environment=sandbox"
        let own = Self.customer + "?environment=sandbox"
        let warning = "Nothing is stored of this id in sandbox. Check the id before you reply."
        #expect(try await browser.text(stranger).contains(warning))
        #expect(try await !browser.text(own).contains(warning))
        // A customer is known also after the purchase was moved away.
        let form = [("purchase", "appStore:2000000000000001"), ("to", "u_2"), ("why", "account")]
        #expect(try await act(browser, "move", form).status == 303)
        #expect(try await !browser.text(own).contains(warning))
        await server.close()
    }

    @Test func `a refused form leads back to its page`() async throws {
        let (server, browser) = try await signedIn()
        let form = [("entitlement", "none"), ("days", "7"), ("why", "x")]
        let refused = String(decoding: try await act(browser, "grant", form).body, as: UTF8.self)
        let back = "<a href=\"\(Self.customer)?environment=sandbox\">Back</a>"
        #expect(refused.contains(back))
        let target = "\(Self.customer)/grant?environment=sandbox"
        let expired = try await browser.send("POST", target, form)
        #expect(String(decoding: expired.body, as: UTF8.self).contains(back))
        let unknown = try await browser.text("/dashboard/apps/none/customers/x")
        #expect(!unknown.contains(">Back</a>"))
        await server.close()
    }

    @Test func `access given by hand is no access that a store confirms`() async throws {
        let server = try TestServer(dashboard: true)
        let browser = DashboardBrowser(server)
        try await browser.enter(TestServer.adminKey.text)
        let form = [("once", "1"), ("entitlement", "premium"), ("days", "7"), ("why", "x")]
        #expect(try await act(browser, "grant", form).status == 303)
        server.set(server.now + .days(2))
        let page = try await browser.text(Self.customer + "?environment=sandbox")
        #expect(page.contains(": has access"))
        #expect(!page.contains("class=\"denied\"") && !page.contains("denied:"))
        await server.close()
    }

    @Test func `the audit shows its newest lines`() async throws {
        let server = try TestServer(dashboard: true)
        let browser = DashboardBrowser(server)
        try await browser.enter(TestServer.adminKey.text)
        let anna = try #require(CustomerID(TestServer.anna))
        let lines = (0...1_001).map { number in
            AuditEntry(
                .granted,
                customer: anna,
                actor: .operator,
                by: "key",
                why: "line \(number).",
                at: server.now
            )
        }
        let commitRequest = CommitRequest(
            app: "cards",
            environment: .sandbox,
            audit: lines,
            now: server.now
        )
        _ = try await server.storage.commit(commitRequest) { _ in
            Derivation(answer: Array("{}".utf8), validUntil: nil, fingerprint: "")
        }
        let page = try await browser.text(Self.customer + "?environment=sandbox")
        #expect(page.contains("<bdi>line 1001.</bdi>") && page.contains("<bdi>line 2.</bdi>"))
        #expect(!page.contains("<bdi>line 1.</bdi>"))
        #expect(page.contains("There are 2 older ones"))
        await server.close()
    }

    @Test func `the page of a tester leads to the sandbox that answers for production`()
        async throws
    {
        let server = try TestServer(
            policy: Policy(sandbox: .testers, testers: [try #require(CustomerID(TestServer.anna))]),
            environments: [.production, .sandbox],
            dashboard: true
        )
        #expect(try await server.post(.purchase()).status == 200)
        let browser = DashboardBrowser(server)
        try await browser.enter(TestServer.adminKey.text)
        let page = try await browser.text(Self.customer + "?environment=production")
        #expect(page.contains(SandboxRuling.tester.sentence))
        #expect(page.contains("has no access in production"))
        #expect(!page.contains("id=\"reply\""))
        let other = try await browser.text(
            "/dashboard/apps/cards/customers/u_2?environment=production"
        )
        #expect(!other.contains("Purchases in the sandbox") && other.contains("id=\"reply\""))
        let sandbox = try await browser.text(Self.customer + "?environment=sandbox")
        #expect(sandbox.contains(": has access<") && sandbox.contains("id=\"reply\""))
        await server.close()
    }

    @Test func `a form without the token of its session changes nothing`() async throws {
        let (server, browser) = try await signedIn()
        let other = DashboardBrowser(server)
        try await other.enter(TestServer.adminKey.text)
        let own = try await browser.token(on: Self.customer)
        let foreign = try await other.token(on: Self.customer)
        let fields = [
            ("entitlement", "premium"), ("days", "7"), ("why", "x"), ("alias", "z"), ("grant", "g"),
            ("purchase", "appStore:2000000000000001"), ("to", "u_2"),
        ]
        for action in Self.actions {
            let target = "\(Self.customer)/\(action)?environment=sandbox"
            let attempts: [([(String, String)], Headers)] = [
                (fields, [:]), (fields + [("form_token", foreign)], [:]),
                (fields + [("form_token", own)], ["Sec-Fetch-Site": "cross-site"]),
                (fields + [("form_token", own)], ["Sec-Fetch-Site": "same-site"]),
            ]
            for (form, headers) in attempts {
                let response = try await browser.send("POST", target, form, headers)
                #expect(response.status == 403, "\(action)")
            }
            let stranger = DashboardBrowser(server)
            let response = try await stranger.send("POST", target, fields)
            #expect(response.headers["Location"] == Self.signIn, "\(action)")
            // The pages that confirm a move and a join have the same addresses.
            let status = ["move", "alias"].contains(action) ? 400 : 405
            #expect(try await browser.get(target).status == status, "\(action)")
        }
        #expect(try await grants(server).isEmpty)
        await server.close()
    }

    @Test func `a viewer sees no form, and its requests change nothing`() async throws {
        let server = try TestServer(dashboard: true)
        _ = try await server.post(.purchase())
        let key = try await key(server, #"{"kind": "viewer", "apps": ["cards"]}"#)
        let browser = DashboardBrowser(server)
        try await browser.enter(key.key)
        let page = try await browser.text(Self.customer + "?environment=sandbox")
        #expect(page.contains("premium"))
        #expect(!page.contains("/grant?") && !page.contains("/move?"))
        for plan in ["move?purchase=x&to=u_2&why=x", "alias?alias=u_2&why=x"] {
            #expect(try await browser.get("\(Self.customer)/\(plan)").status == 403, "\(plan)")
        }
        for action in Self.actions {
            let fields = [
                ("entitlement", "premium"), ("days", "7"), ("why", "x"), ("alias", "z"),
                ("grant", "g"), ("purchase", "appStore:2000000000000001"), ("to", "u_2"),
            ]
            #expect(try await act(browser, action, fields).status == 403, "\(action)")
        }
        for action in ["test", "disable", "enable"] {
            let token = try await browser.token(on: "/dashboard")
            let response = try await browser.send(
                "POST",
                "/dashboard/apps/cards/webhooks/w/\(action)",
                [("form_token", token)]
            )
            #expect(response.status == 403, "\(action)")
        }
        #expect(try await browser.get("/dashboard/apps/cards/webhooks").status == 403)
        for action in MaintenanceAction.allCases {
            let response = try await browser.send(
                "POST",
                "/dashboard/apps/cards/maintenance/\(action.rawValue)?environment=sandbox",
                [("form_token", try await browser.token(on: "/dashboard"))]
            )
            #expect(response.status == 403, "\(action)")
        }
        #expect(try await browser.get("/dashboard/apps/cards/maintenance").status == 403)
        #expect(try await grants(server).isEmpty)
        await server.close()
    }

    @Test func `an admin starts a replay from the page, and its form needs the session's token`()
        async throws
    {
        let (server, browser) = try await signedIn()
        let page = "/dashboard/apps/cards/maintenance?environment=sandbox"
        let target = "/dashboard/apps/cards/maintenance/replay?environment=sandbox"
        #expect(try await browser.text(page).contains("Nothing has run"))
        #expect(try await browser.send("POST", target, [("form_token", "x")]).status == 403)
        let replay = "/v1/apps/cards/replay?environment=sandbox"
        func isWanted() async throws -> Bool? {
            try JSONDocument(try await server.send("GET", replay).body).root["wanted"]?.bool
        }
        #expect(try await isWanted() == false)
        let token = try await browser.token(on: page)
        let response = try await browser.send("POST", target, [("form_token", token)])
        #expect(response.status == 303)
        let next = try #require(response.headers["Location"])
        #expect(try await browser.text(next).contains("The evidence is read now"))
        #expect(try await isWanted() == true)
        let backfill = "/dashboard/apps/cards/maintenance/backfill?environment=sandbox"
        let asked = try await browser.send("POST", backfill, [("form_token", token)])
        #expect(asked.headers["Location"]?.hasSuffix("done=backfill") == true)
        await server.close()
    }

    @Test func `a page and a form of an environment that is not served are refused`() async throws {
        let server = try TestServer(environments: [.production], dashboard: true)
        let browser = DashboardBrowser(server)
        try await browser.enter(TestServer.adminKey.text)
        let token = try await browser.token(on: Self.customer)
        let fields = [
            ("form_token", token), ("entitlement", "premium"), ("days", "7"), ("why", "x"),
            ("alias", "z"), ("grant", "g"), ("purchase", "appStore:2000000000000001"),
            ("to", "u_2"),
        ]
        for environment in ["sandbox", "xcode", ""] {
            let query = "?environment=\(environment)"
            for page in ["/dashboard/apps/cards", Self.customer] {
                #expect(try await browser.get(page + query).status == 400, "\(page)\(query)")
            }
            for action in Self.actions {
                let target = "\(Self.customer)/\(action)\(query)"
                let response = try await browser.send("POST", target, fields)
                #expect(response.status == 400, "\(action)\(query)")
            }
        }
        let root = "/v1/apps/cards/customers/\(TestServer.anna)"
        for list in ["grants", "aliases", "audit"] {
            let answer = try JSONDocument(try await server.get("\(root)/\(list)").body).root
            #expect(answer[list]?.elements.map(\.self).isEmpty == true, "\(list)")
        }
        await server.close()
    }

    @Test func `a key of another app changes nothing`() async throws {
        let server = try TestServer(dashboard: true)
        _ = try await server.post(.purchase())
        let key = try await key(server, #"{"kind": "secret", "apps": ["rehearsal"]}"#)
        let browser = DashboardBrowser(server)
        try await browser.enter(key.key)
        let token = try await browser.token(on: "/dashboard")
        for action in Self.actions {
            let response = try await browser.send(
                "POST",
                "\(Self.customer)/\(action)?environment=sandbox&app=rehearsal",
                [
                    ("form_token", token), ("entitlement", "premium"), ("days", "7"), ("why", "x"),
                    ("alias", "z"), ("grant", "g"), ("app", "rehearsal"),
                    ("purchase", "appStore:2000000000000001"), ("to", "u_2"),
                ]
            )
            #expect(response.status == 404, "\(action)")
        }
        #expect(try await grants(server).isEmpty)
        await server.close()
    }

    @Test func `a one-time link acts under its own name`() async throws {
        let server = try TestServer(dashboard: true)
        _ = try await server.post(.purchase())
        let browser = DashboardBrowser(server)
        _ = try await browser.get(try #require(server.service.makeDashboardLink()))
        let form = [("entitlement", "premium"), ("days", "1"), ("why", "x"), ("once", "1")]
        #expect(try await act(browser, "grant", form).status == 303)
        #expect(try await grants(server).first?["by"]?.string == "one-time link")
        await server.close()
    }

    @Test func `asking a store that does not answer says so`() async throws {
        let (server, browser) = try await signedIn()
        let response = try await act(browser, "refresh")
        #expect(response.status == 303)
        let location = try #require(response.headers["Location"])
        #expect(location.hasSuffix("done=refresh&outcome=failed"))
        #expect(try await browser.text(location).contains("One did not answer"))
        await server.close()
    }

    @Test func `search finds a customer by id, prefix, transaction and token`() async throws {
        let (server, browser) = try await signedIn()
        let search = "/dashboard/apps/cards/search?environment=sandbox&q="
        let exact = try await browser.get(search + TestServer.anna)
        #expect(exact.status == 303)
        #expect(exact.headers["Location"] == Self.customer + "?environment=sandbox")
        for query in [String(TestServer.anna.prefix(8)), "2000000000000001"] {
            #expect(try await browser.text(search + query).contains("href=\"\(Self.customer)?"))
        }
        #expect(try await browser.text(search + "none").contains("Nothing found"))
        let grant = Array(#"{"entitlement": "premium", "days": 7, "why": "x"}"#.utf8)
        for number in 100..<121 {
            #expect(try await !browser.text(search + "user").contains("There are more."))
            let target = "/v1/apps/cards/customers/user\(number)/grants?environment=sandbox"
            #expect(try await server.send("POST", target, body: grant).status == 201)
        }
        #expect(try await browser.text(search + "user").contains("There are more."))
        await server.close()
    }
}

/// The spelling of a text in a page.
private enum HTMLText {
    static func escaped(_ text: String) -> String {
        [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&#39;")]
            .reduce(text) { $0.replacing($1.0, with: $1.1) }
    }
}
