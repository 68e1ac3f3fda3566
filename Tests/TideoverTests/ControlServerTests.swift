import Foundation
import Testing
import TideoverCommandLine
import TideoverCore
import TideoverHTTP
import TideoverHTTPServer
import TideoverJSON
import TideoverLocks
import TideoverSandbox
import TideoverTestProcesses

@testable import TideoverNaiveBackEnd
@testable import tideover

/// Tests a simulated store over sockets.
@Suite(.timeLimit(.minutes(20))) final class ControlServerTests: SuiteWithFolder {
    private func file(_ name: String, steps: String) throws -> String {
        let text = """
            { scenario: "A payment fails", source: "a test",
              app: { id: "cards", bundleId: "com.example.cards" },
              products: { "cards.pro": { entitlements: ["premium"], group: "pro", period: "P1M",
                          price: "9.99 USD", grace: "P16D" } },
              customers: { anna: {} }, start: "2026-05-01T10:00:00Z"\(steps) }
            """
        return try write(text, to: name)
    }

    private func naive() throws -> HTTPServer {
        let backEnd = try NaiveBackEnd(.expiry) { request in
            request.headers[ForeignBackEnd.clockHeader]
                .flatMap { Instant(rfc3339: $0) }?.millisecondsSince1970 ?? 0
        }
        return try HTTPServer(port: 0, handler: backEnd.handler)
    }

    private func run(_ words: [String]) async -> (ExitCode, Output) {
        await Tideover.run(["sandbox"] + words)
    }

    @Test func `failures that repeat have one line, and successes a line each`() {
        func push(_ at: String) -> JSONValue {
            [
                "at": .string(at), "customer": "ben", "status": 404, "accepted": false,
                "notificationType": "SUBSCRIPTION_PURCHASED", "passed": false,
            ]
        }
        func renewal(_ at: String) -> JSONValue {
            [
                "at": .string(at), "customer": "anna", "notificationType": "DID_RENEW",
                "passed": true,
            ]
        }
        let moments = [push("1"), push("2"), renewal("3"), push("4"), renewal("5")]
        #expect(
            SandboxControl.lines(of: moments) == [
                "1  ben  SUBSCRIPTION_PURCHASED: not accepted: 404 (3 times, until 4)",
                "3  anna  DID_RENEW", "5  anna  DID_RENEW",
            ]
        )
    }

    @Test func `the help shows that a store that stays needs a back end`() async throws {
        let (code, help) = await run(["serve", "--help"])
        #expect(code == .success)
        #expect(help.results.captured.contains("serve SCENARIO --target URL ["))
        #expect(!help.results.captured.contains("instead of Tideover"))
    }

    @Test func `an external back end is tested over HTTP, and its mistakes are reported`()
        async throws
    {
        let server = try naive()
        let path = try file(
            "a.json5",
            steps: """
                , steps: [{ do: "subscribe", expect: { premium: { state: "active" } } },
                  { do: "failPayments" },
                  { after: "5 weeks", expect: { premium: { state: "grace", rule: "in-grace" } } }]
                """
        )
        let target = [
            "--target", "http://\(server.address)", "--deliver", "/notifications", "--read-back",
            "/customers/{customer}", "--access", "premium",
        ]
        let (code, output) = await run(["run", path] + target)
        #expect(code == .failure)
        let told = output.results.captured
        #expect(told.contains("premium.access is false, expected true"))
        #expect(!told.contains("in-grace"))
        #expect(output.messages.captured.contains("--salt"))
        await server.stop()
        let (absent, silence) = await run(["run", path] + target)
        #expect(absent == .failure)
        #expect(silence.results.captured.contains("0 of 1 scenario passed."))
    }

    @Test func `a scenario skipped for an external back end has a reason and is no failure`()
        async throws
    {
        let path = try file("a.json5", steps: #", steps: [{ do: "openApp" }]"#)
        let report = folder.appending(path: "report.xml")
        let (code, output) = await run([
            "run", path, "--target", "http://127.0.0.1:1", "--junit", report.path,
        ])
        #expect(code == .success)
        let reason = "only Tideover can play a device's actions"
        #expect(output.results.captured.contains("1 was not played: \(reason)."))
        let xml = try String(contentsOf: report, encoding: .utf8)
        #expect(xml.contains(#"failures="0" errors="0" skipped="1""#))
        #expect(xml.contains(#"<skipped message="\#(reason)"/>"#))
    }

    @Test func `a missing file is reported before another one is played`() async throws {
        let path = try file("a.json5", steps: #", steps: [{ do: "subscribe" }]"#)
        let (code, output) = await run(["run", path, "\(folder.path)/none.json5"])
        #expect(code == .noInput)
        #expect(output.results.captured.isEmpty)
    }

    @Test func `an unwritable report is reported before anything is played`() async throws {
        let path = try file("a.json5", steps: #", steps: [{ do: "subscribe" }]"#)
        for report in ["\(folder.path)/none/report.xml", folder.path, "\(path)/report.xml"] {
            let (code, output) = await run(["run", path, "--junit", report])
            #expect(code == .cannotCreate)
            #expect(output.results.captured.isEmpty)
            #expect(output.messages.captured.contains("cannot write \(report): "))
        }
    }

    @Test func `a report changes only at the end of a run`()
        async throws
    {
        let (old, new) = ("\(folder.path)/old.xml", "\(folder.path)/new.xml")
        let asItWas = "\(JUnitReport.beginning)/>"
        try Data(asItWas.utf8).write(to: URL(filePath: old))
        for report in [old, new] {
            let (code, _) = await run(["run", "\(folder.path)/none.json5", "--junit", report])
            #expect(code == .noInput)
        }
        #expect(try String(contentsOfFile: old, encoding: .utf8) == asItWas)
        #expect(!FileManager.default.fileExists(atPath: new))
    }

    @Test func `a report replaces only a report`() async throws {
        let steps = #", steps: [{ do: "subscribe" }]"#
        let path = try file("a.json5", steps: steps)
        let report = try file("b.json5", steps: steps)
        // A pattern after `--junit`: the first scenario is taken as its file.
        let (code, output) = await run(["run", "--junit", report, path])
        #expect(code == .cannotCreate)
        #expect(output.messages.captured.contains("\(report) already exists"))
        #expect(try String(contentsOfFile: report, encoding: .utf8).contains("subscribe"))
        try Data().write(to: URL(filePath: report))
        for _ in 0..<2 {
            #expect(await run(["run", path, "--junit", report]).0 == .success)
            let written = try String(contentsOfFile: report, encoding: .utf8)
            #expect(written.hasPrefix(JUnitReport.beginning))
        }
    }

    @Test(arguments: ["Authorization: Bearer s3cr3t", "x-api-key: s3cr3t", "Cookie: a=s3cr3t"])
    func `a secret is read from a file, never from an argument`(field: String) async throws {
        let path = try file("a.json5", steps: #", steps: [{ do: "subscribe" }]"#)
        let target = ["run", path, "--target", "http://127.0.0.1:1"]
        let (code, output) = await run(target + ["--header", field])
        #expect(code == .usage)
        #expect(output.messages.captured.contains("--header-file"))
        #expect(!output.messages.captured.contains("s3cr3t"))
        let fields = folder.appending(path: "fields.txt").path
        try Data("\(field)\nA: b\n".utf8).write(to: URL(filePath: fields))
        let (taken, said) = await run(target + ["--header-file", fields])
        #expect(taken != .usage && taken != .data)
        #expect(!said.messages.captured.contains("s3cr3t"))
        try Data("no field\n".utf8).write(to: URL(filePath: fields))
        #expect(await run(target + ["--header-file", fields]).0 == .data)
    }

    @Test(
        arguments: [
            ["--access", "premium"], ["--deliver", "/notifications"], ["--header", "A: b"],
            ["--header-file", "none"],
            ["--pull"], ["--wait", "0"], ["--month", "30s"], ["--authority", "none"],
            ["--salt", "1"], ["--store-listen", "127.0.0.1:0"],
        ]
    )
    func `options for an external back end are refused without one`(_ words: [String]) async throws
    {
        let path = try file("a.json5", steps: #", steps: [{ do: "subscribe" }]"#)
        let (code, output) = await run(["run", path] + words)
        #expect(code == .usage)
        #expect(output.messages.captured.contains("`\(words[0])` needs `--target` too"))
    }

    @Test(arguments: ["--deliver", "--deliver-google", "--read-back"])
    func `a back end path begins with a slash`(_ option: String) async throws {
        let path = try file("a.json5", steps: #", steps: [{ do: "subscribe" }]"#)
        let words = ["run", path, "--target", "http://127.0.0.1:1", option, "notifications"]
        let (code, output) = await run(words)
        #expect(code == .usage)
        #expect(output.messages.captured.contains("takes a path that begins with /"))
    }

    @Test func `a long-lived store reports its messages, and shows its clock and customers`()
        async throws
    {
        let server = try naive()
        let stage = try Scenario(
            stage: Array(Data(contentsOf: URL(filePath: try file("stage.json5", steps: ""))))
        ) { _ in [] }
        let visit = try await TargetOptions.made(
            of: [
                "--target", "http://\(server.address)", "--deliver", "/notifications",
                "--read-back", "/customers/{customer}", "--access", "premium", "--authority",
                "\(folder.path)/store",
            ],
            Output(capturingAs: .plain)
        )
        let url = ["--store", try visit.listen()]
        _ = try await ControlServer(stage, visit)
        let (bought, first) = await run(["control", "subscribe"] + url)
        #expect(bought == .success, "\(first.messages.captured)")
        #expect(first.results.captured.contains("anna buys cards.pro"))
        #expect(first.results.captured.contains("SUBSCRIBED (INITIAL_BUY)"))
        let (refused, again) = await run(["control", "subscribe"] + url)
        #expect(refused == .failure)
        #expect(again.results.captured.contains("anna buys cards.pro: refused: alreadySubscribed"))
        _ = await run(["control", "failPayments"] + url)
        let (waited, second) = await run(["control", "after=5 weeks"] + url)
        #expect(waited == .success)
        #expect(second.results.captured.contains("It is 2026-06-05T10:00:01."))
        #expect(second.results.captured.contains("DID_FAIL_TO_RENEW (GRACE_PERIOD)"))
        let (seen, third) = await run(["control"] + url)
        #expect(seen == .success)
        #expect(third.results.captured.contains("grace  2026-06-17T10:00:00.000Z"))
        let (next, fourth) = await run(["control", "nextEvent"] + url)
        #expect(next == .success)
        #expect(fourth.results.captured.contains("GRACE_PERIOD_EXPIRED"))
        let (wrong, fifth) = await run(["control", "subscripe"] + url)
        #expect(wrong == .data)
        #expect(fifth.messages.captured.contains(#"did you mean "subscribe"?"#))
        let past = "to=2020-01-01T00:00:00Z"
        let (back, refusal) = await run(["control", "advance", past] + url)
        #expect(back == .data)
        #expect(refusal.messages.captured.contains("cannot go back to 2020-01-01 00:00:00"))
        let (nearly, order) = await run(["control", "nextEvnt"] + url)
        #expect(nearly == .data)
        #expect(order.messages.captured.contains(#"did you mean "nextEvent"?"#))
        let (unlike, list) = await run(["control", "wait"] + url)
        #expect(unlike == .data)
        #expect(
            list.messages.captured.contains(
                #""wait" is no action; known: nextEvent, advance, speed, subscribe, "#
            )
        )
        // A position in the generated text is useless to a user who typed arguments.
        #expect(!fifth.messages.captured.contains("column"))
        let (unmet, sixth) = await run(
            [
                "control", "cancel", #"expect={premium: {access: true}}"#,
            ] + url
        )
        #expect(unmet == .failure)
        let told = sixth.results.captured
        #expect(told.contains("not as expected: premium.access is false, expected true"))
        // Such a back end is asked about access only, as in `sandbox run`.
        let (held, seventh) = await run(
            [
                "control", #"expect={premium: {state: "hold", rule: "in-retry"}}"#,
            ] + url
        )
        #expect(held == .success, "\(seventh.results.captured)")
        await visit.storeServer.close()
        let (gone, last) = await run(["control"] + url)
        #expect(gone == .unavailable)
        #expect(last.messages.captured.contains("`tideover sandbox serve` runs one."))
        await server.stop()
    }

    @Test func `a step of a running store is at most twenty years long`() async throws {
        let stage = try Scenario(
            stage: Array(Data(contentsOf: URL(filePath: try file("stage.json5", steps: ""))))
        ) { _ in [] }
        let visit = try await TargetOptions.made(
            of: ["--target", "http://127.0.0.1:1"],
            Output(capturingAs: .plain)
        )
        let url = ["--store", try visit.listen()]
        _ = try await ControlServer(stage, visit)
        for step in [["advance", "to=9999-12-31T23:59:59Z"], ["subscribe", "after=21 years"]] {
            let (code, output) = await run(["control"] + step + url)
            #expect(code == .data)
            #expect(output.messages.captured.contains("at most 20 years"))
        }
        let (code, output) = await run(["control", "advance", "by=20 years"] + url)
        #expect(code == .success)
        #expect(output.results.captured.contains("It is 2046-05-01T10:00:00."))
        await visit.storeServer.close()
    }

    @Test func `a message that a back end does not accept is reported once`()
        async throws
    {
        let answers = Locked(500)
        let server = try HTTPServer(port: 0) { _ in Response(status: answers.withLock { $0 }) }
        let stage = try Scenario(
            stage: Array(Data(contentsOf: URL(filePath: try file("stage.json5", steps: ""))))
        ) { _ in [] }
        let visit = try await TargetOptions.made(
            of: ["--target", "http://\(server.address)"],
            Output(capturingAs: .plain)
        )
        let url = ["--store", try visit.listen()]
        let ours = Locked<Int64>(0)
        let controlServer = try await ControlServer(
            stage,
            visit,
            speed: 1,
            ours: { ours.withLock { $0 } }
        )
        var log = MisdeliveryLog()
        func pass(days: Int64) async throws -> [String] {
            ours.withLock { $0 += days * 86_400_000 }
            return log.lines(of: try await controlServer.catchUp())
        }
        // The result of a step is returned to its sender.
        #expect(await run(["control", "subscribe"] + url).0 == .failure)
        let first = try await pass(days: 40)
        // It renews on 1 June, and the store sends the message at the second after.
        let words = "a notification of the App Store was not accepted, answered 500"
        #expect(first.count == 1)
        #expect(first.first?.hasSuffix("  \(words)") == true)
        #expect(first.first?.contains("anna") == false)
        // Apple retries five times, and each renewal is a separate notification.
        #expect(try await pass(days: 40).isEmpty)
        answers.withLock { $0 = 403 }
        #expect(try await pass(days: 40).map { $0.hasSuffix("answered 403") } == [true])
        await server.stop()
        // The connection that is open may end in another way than new ones are refused.
        let silent = try await pass(days: 40)
        #expect((1...2).contains(silent.count))
        #expect(silent.allSatisfy { $0.contains("not accepted, no answer (") })
        #expect(log.sums.first?.hasPrefix("\(words): ") == true)
        #expect(log.sums.allSatisfy { $0.hasSuffix(" times in all") })
        await visit.storeServer.close()
    }

    @Test func `a store's certificates and key are stored in a folder once`() throws {
        let place = AuthorityFolder(path: folder.appending(path: "store").path)
        let made = try place.authority()
        #expect(try place.authority().root == made.root)
        #expect(try Array(Data(contentsOf: URL(filePath: place.rootPath))) == made.root)
        #expect(try place.key().publicKey == (try place.key().publicKey))
        let secret = "\(place.path)/authority.json"
        let mode = try FileManager.default.attributesOfItem(atPath: secret)[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o600)
        try Data("{}".utf8).write(to: URL(filePath: secret))
        #expect(throws: CommandFailure.self) { try place.authority() }
    }
}
