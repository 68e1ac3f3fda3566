import Foundation
import Testing
import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverHTTPClient
import TideoverHTTPServer
import TideoverLocks
import TideoverSandbox
import TideoverServer
import TideoverSignatures

@testable import tideover

/// Tests `serve --clock`: following a store's clock, and refusing to follow it.
@Suite(.timeLimit(.minutes(20))) struct FollowedClockTests {
    /// A store on loopback with an answer that the test sets.
    private final class Store: Sendable {
        let answer = Locked(Response())
        let server: HTTPServer
        let url: HTTPURL

        init(_ first: Response) throws {
            let answer = answer
            answer.withLock { $0 = first }
            server = try HTTPServer(port: 0) { _ in answer.withLock { $0 } }
            url = try HTTPURL("http://\(server.address)/clock")
        }
    }

    private static func says(_ text: String) -> Response {
        Response(body: Array("{\"now\": \"\(text)\"}".utf8))
    }

    private func instant(_ text: String) throws -> Instant {
        try #require(Instant(rfc3339: text))
    }

    private func eventually(_ holds: () -> Bool) async -> Bool {
        for _ in 0..<6_000 {
            if holds() { return true }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return holds()
    }

    // MARK: - Following

    @Test func `the clock shows the store's last time and stops while the store is silent`()
        async throws
    {
        let store = try Store(Self.says("2026-05-06T10:00:00Z"))
        let clock = try await FollowedClock.found(at: store.url, pace: .milliseconds(10))
        #expect(clock.now() == (try instant("2026-05-06T10:00:00Z")))
        let said = Locked<[String]>([])
        let following = Task {
            await clock.run { line in
                said.withLock { $0.append("\(line.event): \(line.detail ?? "")") }
            }
        }
        let later = try instant("2026-06-15T12:00:00.250Z")
        store.answer.withLock { $0 = Self.says("2026-06-15T14:00:00.250+02:00") }
        #expect(await eventually { clock.now() == later })
        store.answer.withLock { $0 = Response(status: 503) }
        #expect(await eventually { said.withLock { $0 }.contains { $0.contains("status 503") } })
        #expect(clock.now() == later)
        let earlier = try instant("2026-01-01T00:00:00Z")
        store.answer.withLock { $0 = Self.says("2026-01-01T00:00:00Z") }
        #expect(await eventually { clock.now() == earlier })
        #expect(await eventually { said.withLock { $0 }.contains { $0.contains("again") } })
        following.cancel()
        await following.value
        await store.server.stop(within: .zero)
    }

    @Test func `a late answer of the store does not undo the time that a request states`()
        async throws
    {
        let (holds, held) = (Locked(false), Locked(0))
        let answers = Locked<[CheckedContinuation<Void, Never>]>([])
        let server = try HTTPServer(port: 0) { _ in
            // The answers after the first reading wait.
            if holds.withLock({ $0 }) {
                held.withLock { $0 += 1 }
                await withCheckedContinuation { answer in answers.withLock { $0.append(answer) } }
            }
            return Self.says("2026-05-06T10:00:00Z")
        }
        let url = try HTTPURL("http://\(server.address)/clock")
        let clock = try await FollowedClock.found(at: url, pace: .milliseconds(1))
        holds.withLock { $0 = true }
        let following = Task { await clock.run { _ in } }
        #expect(await eventually { answers.withLock { !$0.isEmpty } })
        let stated = "2026-06-06T10:00:00Z"
        let handler = clock.hearing { _ in Response() }
        _ = try await handler(Request(path: "/", headers: [ForeignBackEnd.clockHeader: stated]))
        answers.withLock { $0.removeFirst() }.resume()
        #expect(await eventually { held.withLock { $0 } >= 2 })
        #expect(clock.now() == (try instant(stated)))
        following.cancel()
        #expect(await eventually { answers.withLock { !$0.isEmpty } })
        answers.withLock { $0.removeFirst() }.resume()
        await following.value
        await server.stop(within: .zero)
    }

    @Test(arguments: [
        "", "{}", "null", "\"2026-05-06T10:00:00Z\"", "{\"now\": 1778061600000}",
        "{\"now\": \"2026-05-06 10:00:00\"}", "{\"now\": \"2026-05-06T10:00:00Z\",}",
        "{\"now\": \"2026-05-06T10:00:00Z\", \"now\": \"2026-05-07T10:00:00Z\"}",
    ])
    func `an invalid clock is refused`(body: String) async throws {
        let store = try Store(Response(body: Array(body.utf8)))
        await #expect(throws: FollowedClock.Failure.self) { try await FollowedClock(at: store.url) }
        await store.server.stop(within: .zero)
    }

    // MARK: - Serving

    @Test(arguments: [
        (["production", "sandbox"], ExitCode.configuration, "serves production, sandbox"),
        (["simulated", "sandbox"], .configuration, "serves simulated, sandbox"),
        (["simulated"], .unavailable, "no clock at http://127.0.0.1:1: no connection"),
    ])
    func `a configuration that must not or cannot follow a clock fails before serving`(
        environments: [String],
        code: ExitCode,
        sentence: String
    ) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "tideover-clock-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try write(environments, to: folder)
        let path = folder.path + "/tideover.json"
        let configuration = try ConfigurationFile.load(
            path,
            variables: [:],
            telling: Output(capturingAs: .plain)
        )
        // Not the full command, because that handles the signals of the process.
        let failure = await #expect(throws: CommandFailure.self) {
            try await Serve.follow(HTTPURL("http://127.0.0.1:1"), configuration, path)
        }
        #expect(failure?.exitCode == code)
        #expect(failure?.message.contains(sentence) == true)
    }

    @Test func `without a clock option no clock is followed`() async throws {
        let configuration = Configuration(server: .init(), storage: .sqlite(path: "x"), apps: [])
        let clock = try await Serve.follow(nil, configuration, "x")
        #expect(clock == nil)
    }

    private func write(_ environments: [String], to folder: URL) throws {
        var template = CertificateTemplate.root(
            subject: "Root",
            notBefore: 946_684_800_000,
            notAfter: 4_102_444_799_000
        )
        template.basicConstraints = BasicConstraints(isAuthority: true)
        let root = try CertificateAuthority.selfSigned(template, key: .generate(.p256))
        try Data(root.certificate).write(to: folder.appending(path: "root.der"))
        let isSimulated = environments.contains("simulated")
        let store = "simulatedStore: { url: \"http://127.0.0.1:1\", root: \"root.der\" },"
        let text = """
            {
              server: { listen: "127.0.0.1:0" },
              storage: "sqlite:\(folder.path)/tideover.db",
              apps: [{
                id: "cards", environments: [\(environments.map { "\"\($0)\"" }.joined(separator: ","))],
                appStore: { bundleId: "com.example.cards", appAppleId: 1234567890 },
                \(isSimulated ? store : "")
                products: { "cards.pro": { entitlements: ["premium"], group: "pro", period: "P1M" } },
              }],
            }
            """
        try Data(text.utf8).write(to: folder.appending(path: "tideover.json"))
    }

    @Test func `the help lists the option, and a mistyped URL is wrong usage`() async {
        let help = Output(capturingAs: .plain)
        #expect(await Tideover.program.run(["serve", "--help"], output: help) == .success)
        #expect(help.results.captured.contains("--clock URL"))
        let arguments = ["serve", "--config", "x", "--clock", "ftp://a/"]
        let output = Output(capturingAs: .plain)
        #expect(await Tideover.program.run(arguments, output: output) == .usage)
    }
}

extension FollowedClock {
    /// Reads the clock behind a URL again until it answers: on a loaded machine that can take
    /// longer than the first reading waits. The time limit of a suite ends it.
    static func found(at url: HTTPURL, pace: Duration = .seconds(1)) async throws -> FollowedClock {
        while true {
            do throws(Failure) {
                return try await FollowedClock(at: url, pace: pace)
            } catch {
                guard case .noAnswer = error, !Task.isCancelled else { throw error }
            }
        }
    }
}
