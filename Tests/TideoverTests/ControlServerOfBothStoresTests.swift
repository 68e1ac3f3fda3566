import Foundation
import Testing
import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverHTTPClient
import TideoverHTTPServer
import TideoverJSON
import TideoverLocks
import TideoverSQLite
import TideoverSandbox
import TideoverServer
import TideoverTestProcesses

@testable import TideoverNaiveBackEnd
@testable import tideover

/// Tests both simulated stores at one address, with back ends that query them over sockets.
@Suite(.timeLimit(.minutes(20))) final class ControlServerOfBothStoresTests: SuiteWithFolder {
    private static let examples = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Examples")

    override init() throws {
        try super.init()
        try FileManager.default.createDirectory(
            at: folder.appending(path: "examples"),
            withIntermediateDirectories: true
        )
    }

    private func run(_ words: [String]) async -> (ExitCode, String) {
        let (code, output) = await Tideover.run(["sandbox"] + words)
        return (code, output.all)
    }

    // MARK: - A long-running store

    /// Creates the server of `Examples/rehearsed.json5`. It queries the stores at a URL and follows
    /// their clock.
    private func service(asking url: String, _ storage: SQLiteStorage) async throws -> Handler {
        let example = Self.examples.appending(path: "rehearsed.json5")
        let text = try String(contentsOf: example, encoding: .utf8)
            .replacing("http://127.0.0.1:9090", with: url)
        let file = try write(text, to: "examples/rehearsed.json5")
        let configuration = try ConfigurationFile.load(
            file,
            variables: [:],
            telling: Output(capturingAs: .plain)
        )
        let clock = try await FollowedClock.found(at: HTTPURL("\(url)/clock"))
        let connections = try StoreConnections(configuration, clock: clock.now)
        let service = try Service(
            apps: configuration.apps.map {
                try App($0, googlePlay: connections.googlePlay[$0.id])
            },
            storage: storage,
            version: "test",
            clock: clock.now,
            log: { _ in },
            access: connections.access
        )
        return clock.hearing(service.handler)
    }

    @Test func `the examples are stores and a server that trusts them, Apple's and Google's`()
        async throws
    {
        let door = Locked<Handler?>(nil)
        let server = try HTTPServer(port: 0) { request in
            try await door.withLock { $0 }?(request) ?? Response(status: 503)
        }
        let visit = try await TargetOptions.made(
            of: ["--target", "http://\(server.address)", "--authority", "\(folder.path)/store"],
            Output(capturingAs: .plain)
        )
        let url = try visit.listen()
        let stage = try Scenario(
            stage: Array(Data(contentsOf: Self.examples.appending(path: "store.json5")))
        ) { _ in [] }
        _ = try await ControlServer(stage, visit)
        let storage = try SQLiteStorage(path: "\(folder.path)/tideover.db")
        let service = try await service(asking: url, storage)
        // Readers of the clock meanwhile see the time in the request.
        let clocks = Locked<[[String?]]>([])
        let storeServer = visit.storeServer
        door.withLock {
            $0 = { request in
                let shown = try await storeServer.handler(Request(path: "/clock"))
                let now = try JSONDocument(shown.body).root["now"]?.string
                clocks.withLock { $0.append([now, request.headers[ForeignBackEnd.clockHeader]]) }
                return try await service(request)
            }
        }
        func control(_ words: String...) async -> (ExitCode, String) {
            await run(["control"] + words + ["--store", url])
        }
        func premium(of name: String) async throws -> JSONNode {
            let customer = try #require(stage.customers.first { $0.name == name })
            let answer = try await service(
                Request(
                    path: "/v1/apps/cards/customers/\(customer.appAccountToken ?? name)",
                    query: [QueryItem(name: "environment", value: "simulated")]
                )
            )
            return try #require(JSONDocument(answer.body).root["entitlements"]?["premium"])
        }

        let (bought, purchase) = await control(
            "buy",
            "customer=ben",
            "product=cards.pro",
            "plan=monthly"
        )
        #expect(bought == .success, "\(purchase)")
        #expect(purchase.contains("ben buys cards.pro"))
        #expect(purchase.contains("SUBSCRIPTION_PURCHASED"))
        let ben = try await premium(of: "ben")
        #expect(ben["state"]?.string == "active")
        #expect(ben["store"]?.string == "googlePlay")
        #expect(ben["confidence"]?.string == "confirmed")
        let (subscribed, sale) = await control(
            "subscribe",
            "customer=anna",
            "product=cards.pro.monthly",
            "trial=false"
        )
        #expect(subscribed == .success, "\(sale)")
        #expect(try await premium(of: "anna")["store"]?.string == "appStore")
        let (again, refusal) = await control(
            "buy",
            "customer=ben",
            "product=cards.pro",
            "plan=monthly"
        )
        #expect(again == .failure)
        #expect(refusal.contains("refused: alreadySubscribed"))

        // The payment due on 1 June fails; Google grants 7 days of grace.
        _ = await control("failPayments", "customer=ben")
        let (failed, trouble) = await control("at=2026-06-02T10:00:00Z")
        #expect(failed == .success, "\(trouble)")
        #expect(trouble.contains("SUBSCRIPTION_IN_GRACE_PERIOD"))
        #expect(try await premium(of: "ben")["state"]?.string == "grace")
        let (seen, table) = await control()
        #expect(seen == .success)
        let rows = table.split(separator: "\n").map { $0.split(separator: " ") }
        let graceEnd = "2026-06-08T10:00:00.000Z"
        #expect(rows.contains { $0.prefix(4) == ["ben", "googlePlay", "grace", graceEnd[...]] })
        #expect(rows.contains { $0.prefix(3) == ["anna", "appStore", "active"] })
        _ = await control("failPayments", "customer=anna")
        let (next, event) = await control("nextEvent")
        #expect(next == .success, "\(event)")
        let (held, hold) = await control("at=2026-06-09T10:00:00Z", "customer=ben")
        #expect(held == .success, "\(hold)")
        #expect(hold.contains("SUBSCRIPTION_ON_HOLD"))
        #expect(try await premium(of: "ben")["state"]?.string == "hold")
        _ = await control("fixPayments", "customer=ben")
        #expect(try await premium(of: "ben")["state"]?.string == "active")

        let told = clocks.withLock { $0 }
        #expect(told.count > 10)
        #expect(told.allSatisfy { $0[0] == $0[1] })

        await server.stop()
        await visit.storeServer.close()
        await storage.close()
    }

    // MARK: - Scenarios of both stores, against a back end elsewhere

    private func scenario(_ name: String) throws -> String {
        let text = """
            { scenario: "Two customers", source: "a test",
              app: { id: "cards", bundleId: "com.example.cards" },
              products: { "cards.pro.monthly": { entitlements: ["premium"], group: "pro",
                          period: "P1M", price: "9.99 USD", grace: "P16D" } },
              googlePlay: { packageName: "com.example.cards", subscriptions: {
                "cards.pro": { entitlements: ["premium"], basePlans: {
                  monthly: { period: "P1M", price: "9.99 USD", grace: "7 d" } } } } },
              customers: { anna: {}, ben: { store: "googlePlay" } },
              start: "2026-05-01T10:00:00Z",
              steps: [
                { do: "subscribe", customer: "anna", expect: { premium: { state: "active" } } },
                { do: "buy", customer: "ben", expect: { premium: { state: "active" } } },
                { after: "1 d", do: "failPayments", customer: "ben" },
                { at: "2026-06-04T11:00:00Z", customer: "ben",
                  expect: { premium: { state: "grace" } } },
              ] }
            """
        return try write(text, to: name)
    }

    /// Creates a back end that queries Google with the key file in a folder, once the file exists.
    private func naive() throws -> HTTPServer {
        let keyFile = "\(folder.path)/store/service-account.json"
        let made = Locked<NaiveBackEnd?>(nil)
        return try HTTPServer(port: 0) { request in
            let backEnd = try made.withLock { made in
                let play = try PlayClient(keyFile: FileInput.read(keyFile, atMost: 1 << 16)) {
                    let place = Destination(try HTTPURL($0), addresses: .any, limits: .storeAnswer)
                    return try HTTPClient(userAgent: "naive").handler(under: place)
                }
                let backEnd =
                    try made
                    ?? NaiveBackEnd(.expiry, play: play) { request in
                        request.headers[ForeignBackEnd.clockHeader]
                            .flatMap { Instant(rfc3339: $0) }?.millisecondsSince1970 ?? 0
                    }
                made = backEnd
                return backEnd
            }
            return try await backEnd.handler(request)
        }
    }

    @Test func `an external back end gets both stores' messages and can call Google`()
        async throws
    {
        let server = try naive()
        let (code, told) = await run([
            "run", try scenario("a.json5"), "--target", "http://\(server.address)", "--deliver",
            "/notifications", "--deliver-google", "/google", "--read-back", "/customers/{customer}",
            "--access", "premium", "--authority", "\(folder.path)/store", "--store-listen",
            "127.0.0.1:0",
        ])
        // Google answered its queries, or ben's purchase would have no customer. The other mistakes
        // are its own.
        #expect(code == .failure)
        let troubles = told.split(separator: "\n").filter { $0.contains("premium.access is") }
        #expect(troubles.count == 1, "\(told)")
        let trouble = "line 14: premium.access is false, expected true"
        #expect(troubles.allSatisfy { $0.contains(trouble) })
        #expect(told.contains("service-account.json"))
        await server.stop()
    }

    @Test func `the store address needs an external back end`() async throws {
        let (code, told) = await run([
            "run", try scenario("a.json5"), "--store-listen", "127.0.0.1:0",
        ])
        #expect(code == .usage)
        #expect(told.contains("`--store-listen` needs `--target` too"))
    }

    @Test func `two files with the same scenario have different, repeatable customers`()
        async throws
    {
        var visit = try await TargetOptions.made(
            of: ["--target", "http://127.0.0.1:1"],
            Output(capturingAs: .plain)
        )
        visit.salt = 7
        let again = visit
        #expect(visit.salt(of: "a.json5") == again.salt(of: "elsewhere/a.json5"))
        #expect(visit.salt(of: "a.json5") != visit.salt(of: "b.json5"))
        visit.salt = 8
        #expect(visit.salt(of: "a.json5") != again.salt(of: "a.json5"))
    }

    @Test func `Google's keys are stored in the folder once, readable by the owner only`()
        throws
    {
        let place = AuthorityFolder(path: folder.appending(path: "store").path)
        _ = try place.authority()
        #expect(try place.pushAuthority().file == (try place.pushAuthority().file))
        let made = try place.serviceAccount(askingAt: "http://127.0.0.1:9090")
        #expect(made.tokenURL == "http://127.0.0.1:9090/token")
        let kept = try place.serviceAccount(askingAt: "http://127.0.0.1:9191")
        #expect(kept.json == made.json)
        for name in ["push-authority.json", "service-account.json"] {
            let file = "\(place.path)/\(name)"
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
            #expect((mode as? NSNumber)?.intValue == 0o600)
        }
        try Data("{}".utf8).write(to: URL(filePath: place.accountPath))
        #expect(throws: CommandFailure.self) {
            try place.serviceAccount(askingAt: "http://127.0.0.1:9090")
        }
    }
}
