import Foundation
import Testing
import TideoverCommandLine
import TideoverDoctor
import TideoverHTTP
import TideoverHTTPServer
import TideoverSQLite
import TideoverServer
import TideoverSignatures
import TideoverTestProcesses

@testable import tideover

/// Tests `tideover doctor` on a prepared machine.
@Suite(.timeLimit(.minutes(20))) final class DoctorTests: SuiteWithFolder {
    private var database: String { folder.path + "/tideover.db" }

    private func create(_ text: String, as name: String, rights: Int = 0o600) throws -> String {
        let path = folder.path + "/" + name
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: rights], ofItemAtPath: path)
        return path
    }

    private func configuration(listen: String = "127.0.0.1:0", _ more: String = "") throws -> String
    {
        try create(
            """
            {
              server: { listen: "\(listen)" },
              apps: [{
                id: "cards", environments: ["sandbox"],
                appStore: { bundleId: "com.example.cards" },
                products: { "a": { entitlements: ["premium"], period: "P1M" } },
              }],
              \(more)
            }
            """,
            as: "tideover.json"
        )
    }

    /// Returns the exit code, `check verdict` of each finding, and the rest of `--json`.
    private func diagnose(
        _ path: String,
        _ variables: [String: String] = [:]
    ) async throws -> (ExitCode, [String], String) {
        let arguments = ["doctor", "--config", path, "--json"]
        let (code, output) = await Tideover.run(arguments, variables: variables)
        let text = output.results.captured
        let parsed = try JSONSerialization.jsonObject(with: Data(text.utf8))
        let document = try #require(parsed as? [String: Any])
        let findings = try #require(document["findings"] as? [[String: Any]])
        #expect(document["passed"] as? Bool == (code == .success))
        let lines = findings.map { finding in
            [finding["check"], finding["subject"], finding["verdict"]]
                .compactMap { $0 as? String }.joined(separator: " ")
        }
        return (code, lines, text)
    }

    @Test func `a new server has no problems, and nothing is created`() async throws {
        let path = try configuration()
        let (code, findings, _) = try await diagnose(path)
        #expect(code == .success)
        let expected = [
            "configuration ok", "products cards ok", "public-url ok",
            "notification-url cards warning", "pass ok", "storage ok", "disk ok", "clock ok",
            "listen ok",
            "file-descriptors ok", "tls-roots ok", "store-key cards warning",
        ]
        // Ignores the limits and trust settings of the machine that runs the test.
        func checks(_ lines: [String]) -> [String] {
            lines.filter {
                !$0.hasPrefix("file-") && !$0.hasPrefix("tls-") && !$0.hasPrefix("disk")
            }
        }
        #expect(checks(findings) == checks(expected))
        #expect(findings.count == expected.count)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names == ["tideover.json"])
    }

    @Test func `a terminal shows a table, and a summary on stderr`() async throws {
        let path = try configuration()
        let (code, output) = await Tideover.run(["doctor", "--config", path])
        #expect(code == .success)
        #expect(output.results.captured.hasPrefix("verdict  check"))
        #expect(output.results.captured.contains("\(database) at its first start"))
        #expect(output.messages.captured.hasPrefix("tideover: problems: 0, warnings: "))
    }

    @Test func `a terminal of 80 columns has room for the sentences`() async throws {
        _ = try create("long-enough-to-be-a-secret", as: "hook.txt")
        let path = try configuration(
            #"webhooks: [{ url: "https://example.com/a", secretFile: "hook.txt" }]"#
        )
        let terminal = Terminal(isInteractive: true, usesColour: false, width: 80)
        let output = Output(capturingAs: terminal)
        _ = await Tideover.program.run(["doctor", "--offline", "--config", path], output: output)
        let lines = output.results.captured.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 80 })
        #expect(lines.contains { $0.hasPrefix("ok       secret-file webhooks[0].secretFile:") })
        #expect(lines.contains { $0.count > 60 })
    }

    @Test func `an invalid configuration is the only finding`() async throws {
        let path = try create("{ apps: [], sever: {} }", as: "tideover.json")
        let (code, findings, text) = try await diagnose(path)
        #expect(code == .failure)
        #expect(findings == ["configuration problem", "configuration problem"])
        #expect(text.contains("did you mean `server`?"))
        let (none, missing, _) = try await diagnose(folder.path + "/none.json")
        #expect(none == .failure)
        #expect(missing == ["configuration problem"])
    }

    @Test func `the environment variables of the program are checked`() async throws {
        let path = try configuration()
        let (code, findings, text) = try await diagnose(path, ["TIDEOVER_SERVER_LISTN": "1"])
        #expect(code == .success)
        #expect(findings.prefix(2) == ["configuration ok", "configuration warning"])
        #expect(text.contains("did you mean `TIDEOVER_SERVER_LISTEN`"))
    }

    @Test func `secret files are checked and never shown`() async throws {
        let secret = "whsec_" + Data(repeating: 0x5a, count: 32).base64EncodedString()
        _ = try create(secret, as: "open.txt", rights: 0o644)
        _ = try create(secret, as: "closed.txt", rights: 0o400)
        let hooks = [("open.txt", "[]"), ("closed.txt", #"["10.0.0.0/8"]"#), ("none.txt", "[]")].map
        {
            #"{ url: "https://example.com/\#($0.0)", secretFile: "\#($0.0)", allowNetworks: \#($0.1) }"#
        }
        let path = try configuration("webhooks: [\(hooks.joined(separator: ", "))]")
        let (code, findings, text) = try await diagnose(path)
        // The server does not start with the first, nor without the last.
        #expect(code == .failure)
        #expect(findings.filter { $0 == "configuration problem" }.count == 2)
        #expect(
            findings.filter { $0.hasPrefix("secret-file") } == [
                "secret-file webhooks[0].secretFile warning",
                "secret-file webhooks[1].secretFile ok",
                "secret-file webhooks[2].secretFile warning",
            ]
        )
        #expect(text.contains("chmod go= \(folder.path)/open.txt".replacing("/", with: #"/"#)))
        #expect(!text.contains(secret.dropFirst(6).prefix(8)))
        #expect(
            findings.filter { $0.hasPrefix("allowed-networks") }
                == ["allowed-networks webhooks[1].allowNetworks ok"]
        )
        #expect(text.contains("10.0.0.0"))
    }

    @Test(arguments: [
        ("", #"webhooks: [{ url: "https://example.com/a", secretFile: "key.txt" }]"#, "whsec_"),
        (
            """
            , issuerId: "57246542-96fe-1a63-e053-0824d011072a", keyId: "ABCDEFGHIJ",
            privateKeyFile: "key.txt"
            """,
            "", "the .p8 file from App Store Connect"
        ),
    ])
    func `a secret without which the server does not start is a problem`(
        ofStore: String,
        more: String,
        advice: String
    ) async throws {
        let path = try create(
            """
            { server: { listen: "127.0.0.1:0" },
              apps: [{ id: "cards", environments: ["sandbox"],
                appStore: { bundleId: "com.example.cards"\(ofStore) },
                products: { "a": { entitlements: ["premium"], period: "P1M" } } }],
              \(more) }
            """,
            as: "tideover.json"
        )
        _ = try create("very-secret", as: "key.txt")
        for (isPresent, place) in [(true, ["--offline"]), (true, []), (false, ["--offline"])] {
            if !isPresent { try FileManager.default.removeItem(atPath: folder.path + "/key.txt") }
            let output = Output(capturingAs: .plain)
            let arguments = ["doctor", "--config", path] + place
            #expect(await Tideover.program.run(arguments, output: output) == .failure)
            let told = output.results.captured
            #expect(told.contains("key.txt"))
            #expect(told.contains(isPresent ? advice : "there is no such file"))
            #expect(!told.contains("very-secret"))
            #expect(output.messages.captured.contains("problems: 1, "))
        }
    }

    @Test func `the keys that sign passes are tested and never shown`() async throws {
        let output = Output(capturingAs: .plain)
        #expect(await Tideover.program.run(["keys", "pass"], output: output) == .success)
        let pem = output.results.captured
        _ = try create(pem, as: "pass-key.pem")
        let path = try configuration(#"pass: { keyFile: "pass-key.pem", issuer: "here" }"#)
        let (code, findings, text) = try await diagnose(path)
        #expect(code == .success)
        #expect(findings.contains("pass ok"))
        #expect(findings.contains("secret-file pass.keyFile ok"))
        let id = try Ed25519PrivateKey(pem: pem).publicKey.thumbprint
        #expect(text.contains("here signs with the key \(id)"))
        #expect(output.messages.captured.contains(id))
        let secret = try #require(pem.split(separator: "\n").dropFirst().first)
        #expect(!text.contains(secret))
        #expect(!output.messages.captured.contains(secret))

        _ = try create("no key", as: "pass-key.pem")
        let (failed, problems, why) = try await diagnose(path)
        #expect(failed == .failure)
        #expect(problems.contains("pass problem"))
        #expect(why.contains("does not contain exactly one Ed25519 key in PEM"))
    }

    @Test func `a storage in use is reported with its process and number of files`() async throws {
        let storage = try SQLiteStorage(path: database)
        let (code, findings, text) = try await diagnose(try configuration())
        #expect(code == .success)
        #expect(findings.contains("storage ok"))
        #expect(text.contains("in use by process \(getpid())"))
        #expect(text.contains("process \(getpid()) may have"))
        await storage.close()
        let (_, _, after) = try await diagnose(try configuration())
        #expect(after.contains("is sound, and no process has it open"))
    }

    @Test func `a preflight reads the storage and leaves it unchanged`() async throws {
        let storage = try SQLiteStorage(path: database)
        await storage.close()
        let path = try configuration()
        let bytes = try Data(contentsOf: URL(filePath: database))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let output = Output(capturingAs: .plain)
        let arguments = ["doctor", "--preflight", "--config", path, "--json"]
        #expect(await Tideover.program.run(arguments, output: output) == .success)
        #expect(output.results.captured.contains("nothing was bought yet"))
        #expect(try Data(contentsOf: URL(filePath: database)) == bytes)
        #expect(
            Set(try FileManager.default.contentsOfDirectory(atPath: folder.path)) == Set(names)
        )
    }

    @Test func `a database of another program is a problem`() async throws {
        _ = try create(String(repeating: "not a database\n", count: 500), as: "tideover.db")
        let (code, findings, _) = try await diagnose(try configuration())
        #expect(code == .failure)
        #expect(findings.contains("storage problem"))
    }

    @Test(arguments: [
        (
            #"{"status":"ok","version":"\#(Tideover.version)","time":"2026-05-06T10:00:00Z"}"#,
            "another database"
        ),
        (#"{"status":"ok","version":"0.0.1","time":"2026-05-06T10:00:00Z"}"#, "another database"),
        (#"{"status":"ok"}"#, "does not answer like Tideover"),
        ("hello", "does not answer like Tideover"),
    ])
    func `a listener at the address without the database open is a problem`(
        body: String,
        found: String
    ) async throws {
        let server = try serverOnAPortOfItsOwn { request in
            Response(status: request.path == "/healthz" ? 200 : 404, body: Array(body.utf8))
        }
        let path = try configuration(listen: server.address.description)
        let (code, findings, text) = try await diagnose(path)
        #expect(findings.contains("listen problem"))
        #expect(text.contains(found))
        #expect(code == .failure)
        await server.stop(within: .zero)
        let (_, afterwards, _) = try await diagnose(path)
        #expect(afterwards.contains("listen ok"))
    }

    @Test func `with a database that cannot be reached the running server is not in its way`()
        async throws
    {
        let time = "2026-05-06T10:00:00Z"
        let body = #"{"status":"ok","version":"\#(Tideover.version)","time":"\#(time)"}"#
        let server = try serverOnAPortOfItsOwn { request in
            Response(status: request.path == "/healthz" ? 200 : 404, body: Array(body.utf8))
        }
        let path = try configuration(listen: server.address.description)
        // Nothing listens at port 1.
        let variables = ["TIDEOVER_STORAGE": "postgres://tideover@127.0.0.1:1/tideover"]
        let (code, findings, text) = try await diagnose(path, variables)
        #expect(code == .failure)
        #expect(findings.contains("storage problem"))
        #expect(findings.contains("listen ok"))
        #expect(!text.contains("another database"))
        await server.stop(within: .zero)
    }

    @Test func `the address of RevenueCat's SDKs is checked too`() async throws {
        let server = try serverOnAPortOfItsOwn { _ in
            Response(status: 404, body: Array(#"{"code":7259,"message":"x"}"#.utf8))
        }
        let path = try configuration()
        let variables = ["TIDEOVER_SERVER_SDK_LISTEN": server.address.description]
        let (code, findings, text) = try await diagnose(path, variables)
        #expect(code == .failure)
        #expect(findings.contains("listen server.sdkListen problem"))
        #expect(text.contains("another database"))
        await server.stop(within: .zero)
        let (_, afterwards, _) = try await diagnose(path, variables)
        #expect(afterwards.contains("listen server.sdkListen ok"))
    }

    /// Starts a server on a port that stays free after it. The system assigns ports from 32768 to
    /// other connections and listeners.
    private func serverOnAPortOfItsOwn(_ handler: @escaping Handler) throws -> HTTPServer {
        var last = HTTPServerError.engineFailed
        for port in (28_000..<32_000).shuffled().prefix(50) {
            do throws(HTTPServerError) {
                return try HTTPServer(port: port, handler: handler)
            } catch {
                last = error
            }
        }
        throw last
    }

    @Test func `an address of another machine is a problem`() async throws {
        let (code, findings, text) = try await diagnose(try configuration(listen: "192.0.2.1:80"))
        #expect(code == .failure)
        #expect(findings.contains("listen problem"))
        #expect(text.contains("not an address of this machine"))
    }

    @Test func `files are checked by the permissions of their mode`() throws {
        let path = try create("x", as: "x", rights: 0o604)
        #expect(SystemReadings.file(path) == .readable(rights: 0o604))
        #expect(SystemReadings.file(path + "y") == .missing)
        #expect(SystemReadings.folder(of: path).isWritable)
        #expect(SystemReadings.folder(of: path).freeBytes != nil)
        #expect(SystemReadings.folder(of: folder.path + "/none/x").freeBytes == nil)
    }
}
