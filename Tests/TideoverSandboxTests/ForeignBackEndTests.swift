import Testing
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSandbox
import TideoverSignatures

/// Back ends other than Tideover in rehearsals.
@Suite struct ForeignBackEndTests {
    private func scenario(_ expect: String) throws -> Scenario {
        try Scenario(
            reading: Array(
                """
                { scenario: "A case", source: "a page",
                  app: { id: "cards", bundleId: "com.example.cards" },
                  products: { "cards.pro": { entitlements: ["premium", "export"], group: "pro",
                              period: "P1M", price: "9.99 USD" } },
                  customers: { anna: { appAccountToken: null } }, start: "2026-05-01T10:00:00Z",
                  steps: [{ do: "subscribe", expect: \(expect) }] }
                """.utf8
            )
        )
    }

    @Test(
        arguments: [
            (#"{ premium: { state: "active" } }"#, ["premium.access true"]),
            (#"{ premium: { state: "hold", access: false } }"#, ["premium.access false"]),
            (#"{ premium: { state: { oneOf: ["expired", "never"] } } }"#, ["premium.access false"]),
            (#"{ premium: { state: { oneOf: ["active", "hold"] } } }"#, []),
            (
                #"{ premium: { state: { not: "active" }, rule: "in-grace" }, answer: { customerVersion: 3 } }"#,
                []
            ),
            (
                #"{ premium: { access: true }, export: { state: "paused" } }"#,
                ["premium.access true", "export.access false"]
            ),
        ] as [(String, [String])]
    )
    func `only the access expectations of a scenario apply to every back end`(
        _ expect: String,
        _ asked: [String]
    ) throws {
        let steps = try scenario(expect).steps.map(\.askingForAccess)
        let requirements = steps.flatMap(\.expectations).map { "\($0.label) \($0.requirement)" }
        #expect(requirements == asked)
    }

    @Test(
        arguments: [
            ("premium", #"{"premium": true}"#),
            ("rights.{entitlement}.active", #"{"rights": {"premium": {"active": true}}}"#),
            ("rows.0.ok", #"{"rows": [{"ok": true}]}"#),
        ]
    )
    func `access is read from the configured place at the store's time`(
        _ place: String,
        _ answer: String
    ) async throws {
        let scenario = try scenario("{ premium: { access: true } }")
        let heard = Locked<[String]>([])
        var backEnd = ForeignBackEnd(
            handler: { request in
                let clock = request.headers[ForeignBackEnd.clockHeader] ?? "none"
                heard.withLock { $0.append("\(request.path) \(clock)") }
                return Response(body: Array(answer.utf8))
            },
            deliverPath: "/in/{app}",
            readPath: "/who/{customer}"
        )
        let access: AccessPlace = try #require(AccessPlace(place))
        backEnd.access = access
        let report = try await played(scenario, against: backEnd.target(for: scenario))
        #expect(report.passed)
        let (first, last) = heard.withLock { ($0.first, $0.last) }
        #expect(first?.hasPrefix("/in/cards 2026-05-01T10:00:01.") == true)
        #expect(last?.hasPrefix("/who/anna 2026-05-01T10:00:01.") == true)
    }

    @Test(arguments: [
        ("premium", ["premium.access"]), ("rights.premium.ok", ["premium.access"]),
        ("rights.{entitlement}.ok", ["export.access", "premium.access"]),
        ("isPaid", ["export.access", "premium.access"]),
    ])
    func `a place that names an entitlement is asked about that one alone`(
        _ place: String,
        _ asked: [String]
    ) async throws {
        let scenario = try scenario("{ premium: { access: true }, export: { state: \"active\" } }")
        let answer: JSONValue = [
            "premium": true, "isPaid": true,
            "rights": ["premium": ["ok": true], "export": ["ok": true]],
        ]
        var backEnd = ForeignBackEnd(
            handler: { _ in Response(body: answer.encoded()) },
            deliverPath: "/in",
            readPath: "/who/{customer}"
        )
        backEnd.access = AccessPlace(place)
        let report = try await played(scenario, against: backEnd.target(for: scenario))
        #expect(report.passed)
        #expect(report.verdicts.map(\.label).sorted() == asked)
    }

    /// Two customers, one in each store.
    private func bothStores() throws -> Scenario {
        try Scenario(
            reading: Array(
                """
                { scenario: "A case", source: "a page",
                  app: { id: "cards", bundleId: "com.example.cards" },
                  products: { "cards.pro.monthly": { entitlements: ["premium"], group: "pro",
                              period: "P1M", price: "9.99 USD" } },
                  googlePlay: { packageName: "com.example.cards",
                    subscriptions: { "cards.pro": { entitlements: ["premium"], basePlans: {
                      monthly: { period: "P1M", price: "9.99 USD" } } } },
                    products: { "cards.export": { entitlements: ["export"], price: "5 USD" } } },
                  customers: { anna: { store: "appStore" },
                               ben: { store: "googlePlay", appAccountToken: "ben-1" } },
                  start: "2026-05-01T10:00:00Z",
                  steps: [
                    { do: "subscribe", customer: "anna", expect: { premium: { access: true } } },
                    { do: "buy", customer: "ben", product: "cards.pro",
                      expect: { premium: { state: "active" }, export: { access: false } } },
                  ] }
                """.utf8
            )
        )
    }

    @Test func `both stores use one back end at their own paths, and it can call Google`()
        async throws
    {
        let google = Locked<Handler?>(nil)
        let (heard, claims) = (Locked<[String]>([]), Locked<[JSONValue]>([]))
        var backEnd = ForeignBackEnd(
            handler: { request in
                let clock = request.headers[ForeignBackEnd.clockHeader] ?? "none"
                heard.withLock { $0.append("\(request.path) \(clock.prefix(16))") }
                if let token = request.headers["Authorization"]?.split(separator: " ").last {
                    let jws = try JWS(Array(token.utf8))
                    let claim = JSONValue(try JSONDocument(jws.payload).root)
                    claims.withLock { $0.append(claim) }
                    #expect(request.queryValue("secret") == "abc")
                    let ask = try #require(google.withLock { $0 })
                    #expect(try await ask(Request(path: "/oauth2/v3/certs")).status == 200)
                }
                let answer: JSONValue = ["premium": true, "export": false]
                return Response(body: answer.encoded())
            },
            deliverPath: "/apple",
            readPath: "/who/{customer}"
        )
        backEnd.access = AccessPlace("{entitlement}")
        backEnd.googlePlay.deliverPath = "/google/{app}?secret=abc"
        backEnd.googlePlay.audience = "https://back-end.example/google"
        backEnd.googlePlay.email = "pubsub@back-end.example"
        backEnd.googlePlay.authority = PlayAuthority(seed: 9)
        backEnd.googlePlay.meetGoogle = { handler in google.withLock { $0 = handler } }
        let scenario = try bothStores()
        let report = try await played(scenario, against: backEnd.target(for: scenario))
        #expect(report.passed, "\(report.failures)")
        #expect(
            report.verdicts.map(\.label) == ["premium.access", "export.access", "premium.access"]
        )
        let paths = heard.withLock { $0 }
        #expect(paths.contains("/apple 2026-05-01T10:00"))
        #expect(paths.contains("/google/cards 2026-05-01T10:00"))
        #expect(paths.contains("/who/ben-1 2026-05-01T10:00"))
        let claim = try #require(claims.withLock { $0.first })
        #expect(claim["aud"] == "https://back-end.example/google")
        #expect(claim["email"] == "pubsub@back-end.example")
    }

    @Test func `a pulling back end gets no pushes and is queried all the same`() async throws {
        let heard = Locked<[String]>([])
        var backEnd = ForeignBackEnd(
            handler: { request in
                heard.withLock { $0.append("\(request.method) \(request.path)") }
                return Response(body: Array(#"{"premium": true, "export": false}"#.utf8))
            },
            deliverPath: "/apple",
            readPath: "/who/{customer}"
        )
        backEnd.access = AccessPlace("{entitlement}")
        backEnd.googlePlay.isPushedTo = false
        let scenario = try bothStores()
        let report = try await played(scenario, against: backEnd.target(for: scenario))
        #expect(report.passed)
        let requests = heard.withLock { $0 }
        #expect(requests.filter { $0.hasPrefix("POST") } == ["POST /apple"])
        #expect(requests.last == "GET /who/ben-1")
    }

    @Test func `a scenario ends early if every push is refused and none was accepted`()
        async throws
    {
        let (pushes, isAccepting) = (Locked(0), Locked(false))
        let backEnd = ForeignBackEnd(
            handler: { request in
                guard request.path.hasSuffix("google-play") else { return Response() }
                pushes.withLock { $0 += 1 }
                let isFirst = pushes.withLock { $0 } == 1
                return Response(status: isFirst && isAccepting.withLock { $0 } ? 200 : 404)
            },
            deliverPath: "/apple",
            readPath: "/who/{customer}"
        )
        let scenario = try Scenario(
            reading: Array(
                """
                { scenario: "A case", source: "a page", app: { id: "cards" },
                  googlePlay: { packageName: "com.example.cards",
                    subscriptions: { "cards.pro": { entitlements: ["premium"], basePlans: {
                      monthly: { period: "P1M", price: "9.99 USD" } } } } },
                  customers: { ben: {} }, start: "2026-05-01T10:00:00Z",
                  steps: [
                    { do: "buy" },
                    { at: "2026-06-02T10:00:00Z", expect: { premium: { access: true } } },
                  ] }
                """.utf8
            )
        )
        for accepts in [false, true] {
            isAccepting.withLock { $0 = accepts }
            pushes.withLock { $0 = 0 }
            var target = backEnd.target(for: scenario)
            target.refusalLimit = 20
            let report = try await played(scenario, against: target)
            #expect(report.isGivenUp == !accepts)
            #expect(!report.passed)
            #expect(pushes.withLock { accepts ? $0 > 20 : $0 == 20 })
            #expect(report.verdicts.isEmpty == !accepts)
        }
    }

    @Test func `a step in which only time passes ends with a request of the new time`()
        async throws
    {
        let clocks = Locked<[String]>([])
        let backEnd = ForeignBackEnd(
            handler: { request in
                clocks.withLock { $0.append(request.headers[ForeignBackEnd.clockHeader] ?? "none") }
                return Response(body: Array("{}".utf8))
            },
            deliverPath: "/in",
            readPath: "/who/{customer}"
        )
        let stage = try Scenario(
            stage: Array(
                """
                { scenario: "A case", source: "a page",
                  app: { id: "cards", bundleId: "com.example.cards" },
                  products: { "cards.pro": { entitlements: ["premium"], group: "pro", period: "P1M",
                              price: "9.99 USD" } },
                  customers: { anna: {} }, start: "2026-05-01T10:00:00Z" }
                """.utf8
            )
        ) { _ in [] }
        let session = await ScenarioSession(
            stage,
            target: backEnd.target(for: stage),
            authority: try SandboxAuthority()
        )
        _ = try await session.take(Array(#"{ at: "2026-05-20T10:00:00Z" }"#.utf8))
        #expect(clocks.withLock { $0 } == ["2026-05-20T10:00:00.000Z"])
        // The notification of a purchase has the time already.
        _ = try await session.take(Array(#"{ do: "subscribe" }"#.utf8))
        let later = clocks.withLock { $0 }
        #expect(Set(later.dropFirst()).count == 1)
        #expect(later.count == 3)
        // Asking for missed messages sends the back end nothing.
        let asking = #"{ at: "2026-05-22T10:00:00Z", do: "catchUp" }"#
        _ = try await session.take(Array(asking.utf8))
        #expect(clocks.withLock { $0.last } == "2026-05-22T10:00:00.000Z")
    }

    @Test func `an empty place is refused`() {
        for text in ["", ".", "a..b", ".a"] { #expect(AccessPlace(text) == nil) }
    }

    @Test func `an answer that is not JSON fails the step and not the run`() async throws {
        let scenario = try scenario("{ premium: { access: true } }")
        var backEnd = ForeignBackEnd(
            handler: { _ in Response(body: Array("yes".utf8)) },
            deliverPath: "/in",
            readPath: "/who"
        )
        backEnd.access = AccessPlace("premium")
        let report = try await played(scenario, against: backEnd.target(for: scenario))
        #expect(!report.passed)
        #expect(report.failures.count == 1)
    }

    @Test func `another salt gives other customers for the same scenario`() throws {
        let text = Array(
            """
            { scenario: "A case", source: "a page",
              app: { id: "cards", bundleId: "com.example.cards" },
              products: { "cards.pro": { entitlements: ["premium"], group: "pro", period: "P1M",
                          price: "9.99 USD" } },
              customers: { anna: {} }, start: "2026-05-01T10:00:00Z",
              steps: [{ do: "subscribe" }] }
            """.utf8
        )
        let tokens = try [0, 0, 7, 8].map { salt in
            try Scenario(reading: text, salt: salt).customers.first?.appAccountToken
        }
        #expect(tokens[0] == tokens[1])
        #expect(Set(tokens).count == 3)
    }

    @Test func `an authority is read from its own file only`() throws {
        let made = try SandboxAuthority()
        let kept = try SandboxAuthority(file: made.file.encoded())
        #expect(kept.root == made.root)
        #expect(kept.file == made.file)
        let broken: [(String, SandboxAuthorityFileError)] = [
            ("x", .notJSON), ("{}", .noCertificates),
            (#"{"root": "*", "authority": "AA=="}"#, .noCertificates),
            (#"{"root": "AA==", "authority": "AA==", "privateKey": "x"}"#, .noKey),
        ]
        for (text, error) in broken {
            #expect(throws: error) { try SandboxAuthority(file: Array(text.utf8)) }
        }
    }
}
