import Testing
import TideoverCore
import TideoverDashboard
import TideoverJSON

/// Every page, with names from outside that look like markup.
@Suite struct PageTests {
    /// Texts that are markup, quotes, controls of direction, and characters of four bytes.
    static let hostile = [
        "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onmouseover='x",
        "</title><b>", "&lt;i&gt;", "\u{202E}evil\u{2066}", "😀𝒳\u{10FFFD}", "</bdi></td>",
    ]

    private static func json(_ value: JSONValue) throws -> JSONNode {
        try JSONDocument(value.encoded(), limits: .local).root
    }

    private static func reports(
        _ name: String,
        in environments: [String] = ["sandbox"]
    ) throws -> Reports {
        func row(_ members: JSONObject) throws -> JSONNode {
            let rows = environments.map { environment -> JSONValue in
                var row: JSONObject = ["app": .string(name), "environment": .string(environment)]
                for (key, value) in members { row[key] = value }
                return .object(row)
            }
            return try json(["rows": .array(rows)])
        }
        let judge: JSONValue = ["minutes": 1.5, "purchases": 2, "causes": ["grace": 1.5]]
        let way: JSONValue = [
            "count": 3, "share": 0.5, "delay": ["medianSeconds": 602931.2, "p95Seconds": nil],
        ]
        return try Reports(
            lockouts: row([
                "purchases": 2, "entitledMinutes": 43261.15616666667, "ours": judge,
                "expiryCheck": judge, "relay": judge,
            ]),
            drift: row([
                "found": 1, "open": 1, "lockoutMinutes": 0.0,
                "timeToHeal": ["medianSeconds": nil],
                "kinds": [
                    [
                        "direction": .string(name), "cause": .string(name), "found": 1, "open": 1,
                        "lockoutMinutes": 0.0,
                    ]
                ],
            ]),
            arrival: row([
                "store": .string(name), "changes": 6, "pushed": way, "asked": way, "device": way,
            ])
        )
    }

    private static func portfolio(_ name: String) throws -> Portfolio {
        let counts: JSONValue = [
            "trial": 1, "trialCancelled": 0, "active": 3, "cancelled": 1, "grace": 0, "hold": 0,
            "paused": 0, "expired": 2, "unconfirmed": 0,
        ]
        let row: JSONValue = [
            "app": .string(name), "environment": "sandbox", "subscribers": 5,
            "subscriptions": counts,
            "revenue": [
                [
                    "currency": .string(name), "mrr": 39_960, "active": 29_970,
                    "cancelled": 9_990, "grace": 0, "hold": 0,
                ]
            ],
            "money": [
                [
                    "currency": .string(name), "atRisk": 980_000, "recovered": 0,
                    "lost": 980_000, "open": 0,
                ]
            ],
            "withoutPrice": 3, "issuesWithoutPrice": 2,
            "history": [["subscribers": 4], ["subscribers": 5]],
        ]
        return try Portfolio(json(["rows": [row]]))
    }

    private static func purchase(_ name: String) throws -> FoundPurchase {
        try FoundPurchase(
            json([
                "environment": .string(name), "store": .string(name), "lineage": .string(name),
                "productId": .string(name), "purchasedAt": .string(name),
                "transactionId": .string(name), "orderId": .string(name),
                "customer": .string(name), "reply": .string(name),
            ])
        )
    }

    private static func customer(
        _ name: String,
        asOf: String = "2026-05-10T10:00:00.000Z",
        sandboxAnswers: Bool = false,
        purchase: JSONValue? = nil,
        source: String? = nil,
        isPrompted: Bool = true,
        another: String? = nil,
        isStored: Bool = true
    ) throws -> CustomerView {
        let text = JSONValue.string(name)
        let usual: JSONValue = [
            "lineage": text,
            "owners": [["customer": text, "from": "2026-05-01T10:00:00.000Z", "why": text]],
        ]
        let decision: JSONValue = [
            "state": "active", "reason": "paid", "access": true, "confidence": text,
            "rule": "in-term", "productId": text, "store": text,
            "accessUntil": "2026-06-01T10:00:00.000Z", "graceUntil": nil, "willRenew": true,
        ]
        let fact: JSONValue = [
            "as": [text], "says": text,
            "fact": [
                "source": .string(source ?? name), "assertedAt": "2026-05-01T10:00:00.000Z",
                "learnedAt": "2026-05-01T10:00:00.000Z", "evidence": text,
            ],
        ]
        let explained: JSONValue = [
            "decision": decision, "why": [text], "used": [fact], "setAside": [fact],
            "next": ["at": "2026-06-01T10:00:00.000Z", "decision": decision, "why": text],
            "reply": [text],
        ]
        let difference: JSONValue = [
            "entitlement": text, "direction": text, "sentence": text,
            "openedAt": "2026-05-02T10:00:00.000Z", "healing": nil,
        ]
        var entitlements: JSONObject = [name: explained]
        if let another { entitlements[another] = explained }
        let explain: JSONValue = .object([
            "app": text, "customer": text, "environment": "sandbox",
            "asOf": .string(asOf),
            "entitlements": .object(entitlements),
            "lockouts": .object([
                name: ["ours": ["minutes": 0.0], "expiryCheck": ["minutes": 60.0]]
            ]),
            "drift": .array(isStored ? [difference] : []),
            "purchases": .array(isStored ? [purchase ?? usual] : []),
            "prompt": ["sentence": text],
            "sandbox": [
                "ruling": text, "answers": .bool(sandboxAnswers), "sentence": text,
            ],
        ])
        let prompt: JSONValue = [
            "kind": "soft", "entitlement": text, "title": text, "message": text,
            "action": ["label": text],
        ]
        let span: JSONValue = [
            "from": "2026-05-01T10:00:00.000Z", "until": nil, "state": "active", "reason": "paid",
            "rule": "in-term",
        ]
        let timeline: JSONValue = .object([
            "asOf": "2026-05-10T10:00:00.000Z",
            "entitlements": .object([name: ["spans": [span]]]),
        ])
        let denial = Lockouts.Stretch(
            judge: .expiryCheck,
            cause: .grace,
            from: try #require(Instant(rfc3339: "2026-05-03T10:00:00Z")),
            until: try #require(Instant(rfc3339: "2026-05-04T10:00:00Z"))
        )
        return try CustomerView(
            explain: json(explain),
            answer: json(["prompt": isPrompted ? prompt : ["kind": "none"]]),
            timeline: json(timeline),
            denials: [name: [denial]],
            ids: ["main \(name)", name],
            isPast: true
        )
    }

    private static func attribute(_ name: String) -> AttributeView {
        AttributeView(name: name, value: name, updatedAt: Instant(millisecondsSince1970: 0))
    }

    private static func actions(
        _ name: String,
        isKnown: Bool = true
    ) throws -> CustomerActions {
        let text = JSONValue.string(name)
        let grant: JSONValue = [
            "id": text, "entitlement": text, "start": "2026-05-01T10:00:00.000Z", "end": nil,
            "why": text, "by": text, "revoked": nil,
        ]
        let line: JSONValue = [
            "at": "2026-05-01T10:00:00.000Z", "kind": text, "actor": text, "by": text, "why": text,
        ]
        return try CustomerActions(
            formToken: name,
            once: name,
            entitlements: [name],
            grants: json(["customerKnown": .bool(isKnown), "grants": [grant]]),
            audit: [json(line)],
            olderAudit: 3,
            done: (.refresh, [name])
        )
    }

    private static func webhook(_ name: String) throws -> WebhookView {
        let text = JSONValue.string(name)
        let attempt: JSONValue = [
            "event": text, "at": "2026-05-01T10:00:00.000Z", "attempt": 1, "outcome": text,
            "status": nil, "detail": text,
        ]
        return try WebhookView(
            json([
                "id": text, "url": text, "events": [text], "disabled": text, "failingSince": nil,
                "waiting": 2,
            ]),
            attempts: json(["attempts": [attempt]])
        )
    }

    private static func event(_ name: String) throws -> EventView {
        let text = JSONValue.string(name)
        let answer: JSONValue = ["access": true, "state": "grace", "reason": "billingIssue"]
        return try EventView(
            json([
                "id": "e-1", "kind": text, "effectiveAt": "2026-05-01T10:00:00.000Z",
                "customer": text, "environment": "sandbox",
                "data": ["entitlement": text, "answer": .object([name: answer])],
            ])
        )
    }

    private static func backfills(_ name: String) throws -> [MaintenanceView] {
        let text = JSONValue.string(name)
        return try MaintenanceView.backfills(
            json([
                "last": [
                    "store": text, "status": text, "startedAt": "2026-05-01T10:00:00.000Z",
                    "endedAt": nil, "stopped": ["code": text, "detail": text],
                    "steps": .object([name: ["items": 3, "newFacts": 1]]),
                ], "googlePlay": nil,
            ])
        )
    }

    private static func deadlines(_ name: String) throws -> Deadlines {
        let text = JSONValue.string(name)
        let deadline: JSONValue = [
            "kind": text, "at": "2026-05-01T10:00:00.000Z", "customer": text, "purchase": text,
            "product": text, "sentence": text,
        ]
        let report: JSONValue = [
            "rows": [["app": text, "environment": "sandbox", "deadlines": [deadline]]]
        ]
        return try Deadlines(of: Place(app: name, environment: "sandbox"), json(report))
    }

    private static func measures(_ name: String) throws -> Measures {
        let point: JSONValue = [
            "days": 30, "entries": 2, "decided": ["share": 0.5],
            "estimate": ["share": 0.5, "lower": 0.1, "upper": 0.9],
        ]
        let counts = [
            "issues", "open", "recovered", "recoveredFromGrace", "recoveredFromHold",
            "recoveredByNewPurchase", "lost", "cancelledFromGrace", "cancelledFromHold",
            "medianDays", "atStart", "churned", "voluntary", "involuntary", "takenBack", "returned",
            "started", "running", "inBillingIssue", "converted", "cancelled", "lapsed",
            "unrecovered", "unconfirmed", "withoutPrice",
        ]
        var group = JSONObject()
        for count in counts { group[count] = 1 }
        for curve in ["all", "fromGrace", "fromHold"] { group[curve] = [point] }
        group["money"] = [
            [
                "currency": .string(name), "atRisk": 9_990, "recovered": 9_990, "lost": 0,
                "open": 0,
            ]
        ]
        group["churn"] = ["share": 0.5]
        group["conversion"] = ["share": 0.5]
        group["cohort"] = .string(name)
        let report = try json([
            "rows": [
                [
                    "app": .string(name), "environment": "sandbox", "groups": [.object(group)],
                ]
            ]
        ])
        let place = Place(app: name, environment: "sandbox")
        return try Measures(of: place, recovery: report, churn: report, trials: report)
    }

    private static func move(_ name: String) throws -> PlannedMove {
        let explain: JSONValue = [
            "entitlements": .object([name: ["decision": ["access": true]]])
        ]
        return PlannedMove(
            purchase: name,
            from: name,
            to: name,
            why: name,
            isKnown: false,
            explain: try json(explain)
        )
    }

    private static func join(_ name: String) throws -> PlannedJoin {
        PlannedJoin(
            customer: name,
            alias: name,
            why: name,
            isKnown: true,
            explain: try json(["entitlements": .object([name: ["decision": ["access": true]]])])
        )
    }

    private static func experiments(_ place: Place) throws -> Page {
        let text = JSONValue.string(place.app)
        let difference: JSONValue = ["value": 0.1, "lower": -0.05, "upper": 0.25]
        func arm(_ differences: JSONValue) -> JSONValue {
            [
                "arm": text, "entries": 40, "exposed": 30, "needed": 3_700, "recovered": 0.6,
                "difference": differences, "lockouts": differences, "refunds": differences,
                "alarm": nil, "sentence": text,
            ]
        }
        let experiment: JSONValue = [
            "id": text, "entitlement": text, "start": "2026-05-01T10:00:00.000Z", "end": nil,
            "state": "stopped",
            "stop": ["at": "2026-05-02T10:00:00.000Z", "reason": "lockouts", "arm": text],
            "days": 30, "points": 5, "arms": [arm(nil), arm(difference)],
        ]
        let report: JSONValue = [
            "rows": [["app": text, "environment": "sandbox", "experiments": [experiment]]]
        ]
        return ExperimentsPage.page(place, try Experiments(of: place, json(report)))
    }

    private static func configuration(_ place: Place) throws -> Page {
        let name = place.app
        let answer: JSONValue = [
            "isWhole": false,
            "settings": [
                [
                    "path": .string(name), "value": .array([.string(name)]), "source": "file",
                    "line": 3, "variable": .string(name),
                ]
            ],
            "findings": [
                [
                    "check": .string(name), "subject": .string(name), "verdict": "warning",
                    "detail": .string(name), "advice": .string(name),
                ]
            ],
        ]
        return ConfigurationPage.page(place, try ConfigurationView(try json(answer)))
    }

    private static func sandbox(
        _ place: Place,
        refused: String?,
        state: String = "active"
    ) throws -> Page {
        let name = place.app
        let text = JSONValue.string(name)
        let stores: JSONValue = [
            "now": "2026-05-06T10:00:00Z", "speed": 60,
            "products": .object([name: .array([text])]),
            "customers": [
                [
                    "name": .string(name), "store": .string(name),
                    "appAccountToken": .string(name), "state": .string(name),
                    "until": "2026-06-01T10:00:00Z",
                ]
            ],
        ]
        let answer: JSONValue = [
            "entitlements": .object([
                name: [
                    "state": .string(state), "reason": "paid", "rule": "in-term",
                    "accessUntil": "2026-06-01T10:00:00Z",
                ]
            ])
        ]
        let outcome: JSONValue =
            refused.map { ["fault": .string($0)] }
            ?? ["moments": [["customer": .string(name), "did": .string(name)]]]
        return SandboxPage.page(
            place,
            try SandboxView(
                json(stores),
                part: SandboxPart(nil, of: 1),
                answers: [name: json(answer)]
            ),
            formToken: name,
            outcome: SandboxOutcome(try json(outcome))
        )
    }

    /// Every page, with one text in each place that text from outside can have.
    private static func pages(_ name: String) throws -> [(name: String, page: Page)] {
        let place = Place(app: name, environment: "sandbox")
        let id: JSONValue = ["id": .string(name), "customer": .string(name)]
        let listed = try ListedIDs(json(["customers": [id], "more": true]))
        return [
            ("sign-in", SignInPage.page(formToken: name, problem: name)),
            ("problem", ProblemPage.page(title: name, detail: name, back: place.link)),
            ("portfolio", PortfolioPage.page(try reports(name), try portfolio(name))),
            (
                "app",
                AppPage.page(
                    place,
                    try reports(name),
                    try measures(name),
                    try deadlines(name),
                    isAdmin: true,
                    unclaimed: [try purchase(name)],
                    hasMore: true
                )
            ),
            (
                "search",
                SearchPage.page(
                    place,
                    query: name,
                    customers: listed,
                    stating: listed,
                    purchases: [try purchase(name)],
                    notice: name
                )
            ),
            (
                "customer",
                CustomerPage.page(try customer(name), [attribute(name)], try actions(name))
            ),
            ("events", EventsPage.page(place, [try event(name)])),
            ("move", MovePage.page(place, try move(name), formToken: name)),
            ("join", JoinPage.page(place, try join(name), formToken: name)),
            ("experiments", try experiments(place)), ("configuration", try configuration(place)),
            ("silent sandbox", SandboxPage.silent(place)),
            ("sandbox", try sandbox(place, refused: nil)),
            ("sandbox that refuses", try sandbox(place, refused: name)),
            (
                "maintenance without a store",
                MaintenancePage.page(
                    place,
                    backfills: [],
                    problem: name,
                    replay: nil,
                    formToken: name,
                    done: nil
                )
            ),
            (
                "maintenance",
                MaintenancePage.page(
                    place,
                    backfills: try backfills(name),
                    problem: nil,
                    replay: nil,
                    formToken: name,
                    done: .backfill
                )
            ),
            (
                "webhooks",
                WebhooksPage.page(
                    place,
                    [try webhook(name)],
                    formToken: name,
                    done: .undelivered
                )
            ),
        ]
    }

    @Test(arguments: hostile)
    func `each row of the stream is one event of lines of data`(text hostile: String) throws {
        let place = Place(app: hostile, environment: "sandbox")
        let name = hostile + "\r\nid: 2\n\ndata: x"
        let bytes = EventsPage.stream(place, [try Self.event(name)], next: nil)
        let lines = String(decoding: bytes, as: UTF8.self).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        #expect(lines.filter { $0.hasPrefix("id: ") } == ["id: e-1"])
        #expect(lines.count { $0.isEmpty } == 3)
    }

    private static func reader(_ name: String) -> Reader {
        Reader(
            name: name,
            places: [
                Place(app: name, environment: "sandbox"), Place(app: name, environment: name),
            ],
            formToken: name
        )
    }

    private func text(_ page: Page, _ reader: Reader?) -> String {
        String(decoding: page.document(for: reader), as: UTF8.self)
    }

    /// Returns the tags of a document with their attributes' names, but without values and texts.
    private func skeleton(_ document: String) -> [String] {
        var tags: [String] = []
        var tag: String?
        var isQuoted = false
        for character in document {
            switch (tag, character) {
            case (nil, "<"): tag = ""
            case (nil, _): continue
            case (let open?, ">") where !isQuoted:
                tags.append(open)
                tag = nil
            case (_?, "\""): isQuoted.toggle()
            case (let open?, _): if !isQuoted { tag = open + String(character) }
            }
        }
        return tags
    }

    @Test(arguments: hostile)
    func `no text changes the structure of any page`(text hostile: String) throws {
        let plain = try Self.pages("plain name")
        for (harmless, attacked) in zip(plain, try Self.pages(hostile)) {
            for isSignedIn in [true, false] {
                let (a, b) = (
                    skeleton(text(harmless.page, isSignedIn ? Self.reader("plain name") : nil)),
                    skeleton(text(attacked.page, isSignedIn ? Self.reader(hostile) : nil))
                )
                #expect(a == b, "\(harmless.name)")
                #expect(a.count > 20)
            }
        }
    }

    @Test(arguments: hostile)
    func `every page shows the text itself`(text hostile: String) throws {
        let escaped = [
            ("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&#39;"),
            ("\u{202E}", "[U+202E]"), ("\u{2066}", "[U+2066]"),
        ]
        .reduce(hostile) { $0.replacing($1.0, with: $1.1) }
        for (name, page) in try Self.pages(hostile) {
            #expect(text(page, Self.reader(hostile)).contains(escaped), "\(name)")
        }
    }

    @Test func `every page has a language, one heading, one main part and a title`() throws {
        for (name, page) in try Self.pages("plain") {
            let document = text(page, Self.reader("plain"))
            for (part, count) in [
                ("<html lang=\"en\">", 1), ("<h1", 1), ("<main ", 1), ("<title>", nil),
                ("<nav ", 1),
            ] {
                let found =
                    document.split(separator: part, omittingEmptySubsequences: false).count - 1
                #expect(count == nil ? found > 0 : found == count, "\(name): \(part)")
            }
            #expect(!document.contains(" style="), "\(name)")
            #expect(!document.contains("http:") && !document.contains("https:"), "\(name)")
        }
    }

    @Test func `each id of a page is unique, and each label refers to one`() throws {
        for (name, page) in try Self.pages("plain") {
            let document = text(page, Self.reader("plain"))
            let ids = document.matches(of: /\ id="([^"]*)"/).map { String($0.1) }
            #expect(Set(ids).count == ids.count, "\(name)")
            let labels = document.matches(of: /aria-labelledby="([^"]*)"/).map { String($0.1) }
            #expect(labels.allSatisfy(ids.contains), "\(name)")
        }
    }

    @Test func `a customer's page has the drawing, its table, the reason and the reply`() throws {
        let document = text(
            CustomerPage.page(try Self.customer("cards.pro"), [], try Self.actions("x")),
            Self.reader("plain")
        )
        for part in [
            "<svg class=\"drawing\"", "class=\"denied\"", "<caption>Tideover&#39;s answers",
            "Why? <bdi>cards.pro</bdi>", "id=\"reply\"", "<code>in-term</code>",
            "at=2026-05-01T10%3A00%3A00.000Z", "<time datetime=\"2026-05-03T10:00:00.000Z\">",
        ] { #expect(document.contains(part), "\(part)") }
    }

    private func customerPage(_ view: CustomerView) throws -> String {
        text(CustomerPage.page(view, [], try Self.actions("x")), Self.reader("plain"))
    }

    @Test func `where the sandbox answers, the page says so and has no reply of its own`() throws {
        let link =
            "href=\"/dashboard/apps/anna/customers/anna?environment=sandbox\">The customer in"
        for isAnswered in [true, false] {
            let page = try customerPage(Self.customer("anna", sandboxAnswers: isAnswered))
            #expect(page.contains(link))
            #expect(page.contains("has access in production") == isAnswered)
            #expect(page.contains("The app gets the answer of the sandbox.") == isAnswered)
            #expect(page.contains("id=\"reply\"") != isAnswered)
        }
    }

    @Test func `the other ids of a customer are links, and the main one is named`() throws {
        let page = try customerPage(Self.customer("anna"))
        let main = "/dashboard/apps/anna/customers/main%20anna?environment=sandbox"
        #expect(page.contains("<li><a href=\"\(main)\"><bdi>main anna</bdi></a>, the main id</li>"))
        #expect(!page.contains("<bdi>anna</bdi></a></li>"))
    }

    @Test func `an inferred owner cannot move a purchase that another customer claimed`() throws {
        for isClaimed in [true, false] {
            let inferred: JSONValue = [
                "customer": "anna", "from": "2026-05-01T10:00:00.000Z", "why": "inferred",
            ]
            // A claim begins before any purchase.
            let claimed: JSONValue = ["customer": "ben", "why": "claimed"]
            let purchase: JSONValue = [
                "lineage": "googlePlay:production:1",
                "owners": .array([inferred] + (isClaimed ? [claimed] : [])),
            ]
            let page = try customerPage(Self.customer("anna", purchase: purchase))
            #expect(page.contains("Move a purchase") != isClaimed)
        }
    }

    @Test(arguments: [
        ("active", " until <time"), ("hold", ", access until <time"),
        ("expired", ", access until <time"),
    ])
    func `a simulated customer without access is shown with the end of the access`(
        state: String,
        end: String
    ) throws {
        let place = Place(app: "anna", environment: "sandbox")
        let page = text(try Self.sandbox(place, refused: nil, state: state), nil)
        let answer = try #require(page.split(separator: "Answer for anna").last)
        #expect(answer.split(separator: "</dd>").first?.contains("</span>\(end)") == true)
    }

    @Test(
        arguments: [
            (nil, "1 to 50", 0..<50, ["2", "3"]), ("2", "51 to 100", 50..<100, ["3"]),
            ("3", "101 to 120", 100..<120, ["2"]), ("99", "101 to 120", 100..<120, ["2"]),
            ("0", "1 to 50", 0..<50, ["2", "3"]), ("two", "1 to 50", 0..<50, ["2", "3"]),
        ] as [(String?, String, Range<Int>, [String])]
    )
    func `the customers of simulated stores are on pages`(
        asked: String?,
        numbers: String,
        shown: Range<Int>,
        links: [String]
    ) throws {
        let customers = (0..<120).map { number -> JSONValue in
            ["name": .string("customer \(number)"), "store": "appStore", "state": "never"]
        }
        let stores: JSONValue = [
            "now": "2026-05-06T10:00:00Z", "customers": .array(customers),
        ]
        let page = SandboxPage.page(
            Place(app: "anna", environment: "simulated"),
            try SandboxView(
                Self.json(stores),
                part: SandboxPart(asked, of: customers.count),
                answers: [:]
            ),
            formToken: "x",
            outcome: nil
        )
        let html = text(page, nil)
        #expect(html.contains("Customers \(numbers) of 120."))
        let names = html.matches(of: /<h2[^>]*><bdi>customer ([0-9]+)<\/bdi>/).map { $0.1 }
        #expect(names.compactMap { Int($0) } == Array(shown))
        // "First" and "Previous" to the first page have no number.
        let pages = html.matches(of: /<a href="[^"]*&amp;page=([0-9]+)"/).map { String($0.1) }
        #expect(Set(pages) == Set(links))
        // A form answers with the page of its customer.
        let forms = Set(html.matches(of: /action="([^"]*)"/).map { String($0.1) })
        let address = "/dashboard/apps/anna/sandbox?environment=simulated"
        let number = shown.lowerBound / 50 + 1
        #expect(forms == [number == 1 ? address : "\(address)&amp;page=\(number)"])
    }

    @Test func `the time of a purchase that was found is in the reader's time zone`() throws {
        let found: JSONValue = [
            "environment": "sandbox", "store": "appStore", "lineage": "appStore:1",
            "purchasedAt": "2026-05-06T10:00:00.000Z",
        ]
        let page = SearchPage.page(
            Place(app: "anna", environment: "sandbox"),
            query: "1",
            customers: .none,
            stating: .none,
            purchases: [try FoundPurchase(Self.json(found))],
            notice: nil
        )
        #expect(text(page, nil).contains(">2026-05-06 10:00 UTC</time></td>"))
    }

    @Test func `the source of a fact is shown in the names of the stores`() throws {
        for (source, name) in [
            ("playAPI", "Google Play API"), ("appStoreNotification", "App Store notification"),
            ("server", "this server"), ("another", "another"),
        ] {
            let page = try customerPage(Self.customer("anna", source: source))
            #expect(page.contains("<td><bdi>\(name)</bdi></td>"), "\(source)")
        }
    }

    @Test func `the sign-in names the kinds of keys that it accepts`() throws {
        let page = text(SignInPage.page(formToken: "t"), nil)
        for kind in ["viewer", "secret", "admin"] { #expect(page.contains("\(kind) key")) }
    }

    @Test func `facts of several entitlements are shown once`() throws {
        let page = try customerPage(Self.customer("anna", another: "zoe"))
        let link = "<a href=\"#entitlement-0-evidence\"><bdi>anna</bdi></a>"
        #expect(page.contains("The facts are those of \(link)."))
        #expect(page.contains("id=\"entitlement-0-evidence\""))
        #expect(page.split(separator: "The facts that decide").count == 2)
    }

    @Test func `an entitlement that nothing unlocked has no life`() throws {
        let page = try customerPage(Self.customer("anna", another: "zoe"))
        #expect(page.contains("No purchase that unlocks it is known."))
    }

    @Test func `an id of which only attributes are stored has no warning`() throws {
        let view = try Self.customer("anna", isStored: false)
        let actions = try Self.actions("anna", isKnown: false)
        for attributes in [[], [Self.attribute("name")]] {
            let page = text(CustomerPage.page(view, attributes, actions), Self.reader("plain"))
            #expect(page.contains("Nothing is stored of this id") == attributes.isEmpty)
        }
    }

    @Test func `the prompt is shown as the customer sees it`() throws {
        for isPrompted in [true, false] {
            let page = try customerPage(Self.customer("anna", isPrompted: isPrompted))
            #expect(page.contains("<p><strong><bdi>anna</bdi></strong></p>") == isPrompted)
            #expect(page.contains("Button: <bdi>anna</bdi>") == isPrompted)
        }
    }

    @Test func `the steps of a backfill are rows of a table`() throws {
        let page = MaintenancePage.page(
            Place(app: "anna", environment: "sandbox"),
            backfills: try Self.backfills("missedNotifications"),
            problem: nil,
            replay: nil,
            formToken: "x",
            done: nil
        )
        let row = #"<th scope="row">missed notifications</th><td class="number">"#
        #expect(
            text(page, Self.reader("plain")).contains(
                row + #"<data value="3">3</data></td><td class="number"><data value="1">1</data>"#
            )
        )
    }

    @Test func `the heading says whether an instant is past or future`() throws {
        let past = try customerPage(Self.customer("anna"))
        #expect(past.contains("The answer at a past instant"))
        let future = try customerPage(Self.customer("anna", asOf: "2026-05-10T10:00:00.001Z"))
        #expect(future.contains("The answer at a future instant"))
    }

    @Test func `a list that is not whole says so`() throws {
        let pages = try Self.pages("plain")
        for (name, notice) in [
            ("search", "There are more. Enter more characters of the id."),
            ("search", "There are more; `GET /v1/apps/{app}/customers` lists all."),
            ("customer", "There are 3 older ones"), ("app", "All failed renewals so far."),
        ] {
            let page = try #require(pages.first { $0.name == name }).page
            #expect(text(page, Self.reader("plain")).contains(notice), "\(notice)")
        }
    }

    @Test func `arrivals name their environment, and an app's page has only its own`() throws {
        let reports = try Self.reports("cards", in: ["sandbox", "production"])
        func environments(_ page: Page) -> [String] {
            let document = text(page, nil)
            let card = document.split(separator: "id=\"arrival\"").last.map(String.init) ?? ""
            return card.split(separator: "</section>").first.map(String.init)?.matches(
                of: /<bdi>(sandbox|production)<\/bdi>/
            ).map { String($0.1) } ?? []
        }
        let all = PortfolioPage.page(reports, try Self.portfolio("cards"))
        #expect(Set(environments(all)) == ["sandbox", "production"])
        let app = AppPage.page(
            Place(app: "cards", environment: "sandbox"),
            reports,
            try Self.measures("cards"),
            try Self.deadlines("cards"),
            isAdmin: true,
            unclaimed: [],
            hasMore: false
        )
        #expect(Set(environments(app)) == ["sandbox"])
    }

    @Test func `every end of a failed renewal and of a trial is shown, and missing prices are`()
        throws
    {
        let reports = try Self.reports("cards")
        let all = text(PortfolioPage.page(reports, try Self.portfolio("cards")), nil)
        #expect(
            all.contains(
                "<bdi>cards</bdi></a> sandbox: In no sum, because the price is not known: "
                    + #"<data value="3">3</data> subscriptions, "#
                    + #"<data value="2">2</data> failed renewals."#
            )
        )
        let app = text(
            AppPage.page(
                Place(app: "cards", environment: "sandbox"),
                reports,
                try Self.measures("cards"),
                try Self.deadlines("cards"),
                isAdmin: true,
                unclaimed: [],
                hasMore: false
            ),
            nil
        )
        for part in [
            "given up by the store", "refunded or revoked", "Cancelled on hold", "Payment failed",
            #"not known: <data value="1">1</data> failed renewals."#,
        ] {
            #expect(app.contains(part), "\(part)")
        }
    }

    @Test func `settings are grouped by section, each with a heading that a link leads to`() throws
    {
        let paths = [
            "storage", "server.listen", "server.limits.refusalsPerMinute", "apps[0].id",
            "apps[0].policy.unreachable", "apps[0].policy.plan.recovered", "dashboard.enabled",
        ]
        let settings = paths.map { path -> JSONValue in
            ["path": .string(path), "value": "x", "source": "default", "variable": nil]
        }
        let answer: JSONValue = [
            "isWhole": true, "settings": .array(settings), "findings": .array([]),
        ]
        let page = ConfigurationPage.page(
            Place(app: "cards", environment: "sandbox"),
            try ConfigurationView(try Self.json(answer))
        )
        let document = text(page, Self.reader("plain"))
        let ids = document.matches(of: /<h3 id="([^"]*)"/).map { String($0.1) }
        #expect(
            ids == [
                "settings-storage", "settings-server", "settings-apps-0-",
                "settings-apps-0--policy", "settings-dashboard",
            ]
        )
        for id in ids { #expect(document.contains("<a href=\"#\(id)\">")) }
        let sections = document.split(separator: "<h3").dropFirst().map { section in
            section.matches(of: /<th scope="row"><code><bdi>([^<]*)</).map { String($0.1) }
        }
        #expect(sections.flatMap(\.self) == paths)
        #expect(sections.map(\.count) == [1, 2, 1, 2, 1])
    }

    @Test func `a number keeps the spelling of the report`() throws {
        let document = text(
            PortfolioPage.page(try Self.reports("cards"), try Self.portfolio("cards")),
            Self.reader("plain")
        )
        #expect(document.contains("<data value=\"1.5\" title=\"1.5 minutes\">1.5 min</data>"))
        #expect(document.contains("<data value=\"null\">none</data>"))
        #expect(document.contains("<data value=\"0.5\">50 %</data>"))
        // A delay of many seconds is shown in a unit that can be read.
        let delay = "<data value=\"602931.2\" title=\"602931.2 seconds\">7 days</data>"
        #expect(document.contains(delay))
    }

    @Test func `the portfolio draws what its table counts, and links to it`() throws {
        let document = text(
            PortfolioPage.page(try Self.reports("cards"), try Self.portfolio("cards")),
            Self.reader("plain")
        )
        let app = "/dashboard/apps/cards?environment=sandbox"
        // A bar of 528 units for five: three active, one cancelled, one trial.
        for part in [
            #"<rect class="active" x="190" y="1" width="317""#,
            #"<rect class="cancelled" x="507" y="1" width="105""#,
            #"<rect class="trial" x="612" y="1" width="106""#,
            ##"<a href="\(app)#trials"><data value="1">1</data></a>"##,
            ##"<a href="\(app)#recovery"><data value="980000" title="980000 thousandths">"##,
            #"aria-label="Subscribers by day, from 4 to 5""#,
            #"<path class="curve" d="M2 7L118 3""#,
            #"<data value="39960" title="39960 thousandths">39.96</data>"#,
        ] {
            let expected = part.replacing(#"\(app)"#, with: app)
            #expect(document.contains(expected), "\(expected)")
        }
        #expect(!document.contains(#"<rect class="grace""#))
    }

    @Test func `an answer without a needed member is an error, not an empty page`() throws {
        #expect(throws: UnexpectedAnswer.self) {
            try Reports(
                lockouts: Self.json(["rows": [[:]]]),
                drift: Self.json(["rows": []]),
                arrival: Self.json(["rows": []])
            )
        }
    }
}
