import Foundation
import Testing
import TideoverCommandLine
import TideoverHTTP
import TideoverHTTPServer
import TideoverJSON
import TideoverSandbox
import TideoverTestProcesses

@testable import tideover

/// Tests simulated stores with a state file, and control commands about their time.
@Suite(.timeLimit(.minutes(20))) final class KeptControlServerTests: SuiteWithFolder {
    private var state: StateFile { StateFile(path: folder.appending(path: "state.json").path) }

    private func stage(customers: String = "anna: {}") throws -> Scenario {
        let text = """
            { scenario: "A desk", source: "a test",
              app: { id: "cards", bundleId: "com.example.cards" },
              products: { "cards.pro": { entitlements: ["premium"], group: "pro", period: "P1M",
                          price: "9.99 USD", grace: "P16D" } },
              customers: { \(customers) }, start: "2026-05-01T10:00:00Z" }
            """
        return try Scenario(stage: Array(text.utf8)) { _ in [] }
    }

    private func visit(_ backEnd: HTTPServer) async throws -> TargetOptions {
        try await TargetOptions.made(
            of: [
                "--target", "http://\(backEnd.address)", "--deliver", "/notifications",
                "--read-back", "/customers/{customer}", "--access", "premium",
                "--authority", folder.appending(path: "store").path,
            ],
            Output(capturingAs: .plain)
        )
    }

    private func backEnd() throws -> HTTPServer {
        try HTTPServer(port: 0) { _ in Response(body: Array("{}".utf8)) }
    }

    private func control(_ words: [String], at url: String) async -> (ExitCode, String) {
        let (code, output) = await Tideover.run(["sandbox", "control"] + words + ["--store", url])
        return (code, output.all)
    }

    @Test func `stopped stores continue from their file without losing messages`()
        async throws
    {
        let backEnd = try backEnd()
        let first = try await visit(backEnd)
        let url = try first.listen()
        _ = try await ControlServer(try stage(), first, state: state)
        #expect(await control(["subscribe"], at: url).0 == .success)
        #expect(await control(["failPayments"], at: url).0 == .success)
        #expect(await control(["advance", "by=5 weeks"], at: url).0 == .success)
        let (_, before) = await control([], at: url)
        // No further write happens: the file already contains every answered change.
        await first.storeServer.close()

        let second = try await visit(backEnd)
        let again = try second.listen()
        _ = try await ControlServer(try stage(), second, state: state)
        let (_, after) = await control([], at: again)
        #expect(after == before)
        #expect(after.contains("grace  2026-06-17T10:00:00.000Z"))
        let (next, told) = await control(["nextEvent"], at: again)
        #expect(next == .success)
        #expect(told.contains("2026-06-17T10:00:01"))
        #expect(told.contains("GRACE_PERIOD_EXPIRED"))
        await second.storeServer.close()
        await backEnd.stop()
    }

    @Test func `a damaged message that the back end accepts is reported as that`() async throws {
        let backEnd = try backEnd()
        let visit = try await visit(backEnd)
        let url = try visit.listen()
        _ = try await ControlServer(try stage(), visit)
        #expect(await control(["disturbNotifications", "fault=corrupt"], at: url).0 == .success)
        let (code, told) = await control(["subscribe"], at: url)
        #expect(code == .failure)
        #expect(told.contains("accepted (200), though it must not be believed: corrupted"))
        #expect(!told.contains("not accepted"))
        await visit.storeServer.close()
        await backEnd.stop()
    }

    @Test func `a file of another stage is refused with the difference`() async throws {
        let backEnd = try backEnd()
        let visit = try await visit(backEnd)
        let controlServer = try await ControlServer(try stage(), visit, state: state)
        try await controlServer.keep()
        let refusal = await #expect(throws: CommandFailure.self) {
            _ = try await ControlServer(
                try self.stage(customers: "anna: {}, ben: {}"),
                visit,
                state: self.state
            )
        }
        #expect(refusal?.exitCode == .data)
        let words = refusal?.message ?? ""
        #expect(words.contains("customers of the scenario's head is not the same"))
        #expect(words.contains("--state"))
        try Data(#"{"format": "tideover.simulated-stage.0"}"#.utf8)
            .write(to: URL(filePath: state.path))
        let older = await #expect(throws: CommandFailure.self) {
            _ = try await ControlServer(try self.stage(), visit, state: self.state)
        }
        #expect(older?.message.contains("tideover.simulated-stage.0") == true)
        await visit.storeServer.close()
        await backEnd.stop()
    }

    @Test func `the clock is advanced, and its speed is changed while the stores run`() async throws
    {
        let backEnd = try backEnd()
        let visit = try await visit(backEnd)
        let url = try visit.listen()
        _ = try await ControlServer(try stage(), visit)
        let (_, by) = await control(["advance", "by=3 d"], at: url)
        #expect(by.contains("It is 2026-05-04T10:00:00.000Z in the store."))
        let (_, to) = await control(["advance", "to=2026-06-01T10:00:00Z"], at: url)
        #expect(to.contains("It is 2026-06-01T10:00:00.000Z in the store."))
        let (back, fault) = await control(["advance", "to=2026-05-01T10:00:00Z"], at: url)
        #expect(back == .data, "\(fault)")
        let (both, either) = await control(["advance", "by=3 d", "to=2026-07-01"], at: url)
        #expect(both == .data)
        #expect(either.contains("either a duration"))
        let (ran, faster) = await control(["speed", "factor=86400"], at: url)
        #expect(ran == .success)
        #expect(faster.contains(", 86400 times as fast as here."))
        #expect(await control([], at: url).1.contains(", 86400 times as fast as here."))
        #expect(!(await control(["speed", "factor=0"], at: url).1.contains("as fast")))
        #expect(await control(["speed", "factor=-1"], at: url).0 == .data)
        #expect(
            await control(["speed", "factors=2"], at: url).1.contains(#"does not take "factors""#)
        )
        await visit.storeServer.close()
        await backEnd.stop()
    }

    @Test func `a file is replaced as a whole and readable by its owner only`() async throws {
        let path = folder.appending(path: "a.json").path
        // Another user's file, of any name, is neither written to nor given the name.
        _ = FileManager.default.createFile(
            atPath: "\(path).new",
            contents: nil,
            attributes: [.posixPermissions: 0o666]
        )
        try FileOutput.replace(Array("a long first text".utf8), at: path)
        try FileOutput.replace(Array("second".utf8), at: path)
        #expect(try Data(contentsOf: URL(filePath: path)) == Data("second".utf8))
        #expect(try Data(contentsOf: URL(filePath: "\(path).new")).isEmpty)
        try FileManager.default.removeItem(atPath: "\(path).new")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.json"])
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o600)
        #expect(throws: CommandFailure.self) {
            try FileOutput.replace([], at: "\(self.folder.path)/none/a.json")
        }
    }

    @Test func `a folder in place of a new file is not to be removed`() throws {
        let file = try write("", to: "a.json")
        #expect(FileOutput.failure(file, EEXIST).message.contains("or remove it"))
        let failure = FileOutput.failure(folder.path, EEXIST)
        #expect(failure.message == "\(folder.path) is a folder\nName a file in it.")
    }
}
