import Foundation
import Testing
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverHTTPClient
import TideoverJSON
import TideoverServer
import TideoverStorage
import TideoverTestProcesses

@testable import TideoverTestServer

/// `tideover import revenuecat` and `tideover report shadow` as used by an operator.
@Suite(.withExecutable) final class RevenueCatProgramTests: SuiteWithFolder {
    private func configuration() throws -> String {
        let key = APIKey(.admin) { .random(in: .min ... .max) }
        try Data("\(key.text)\n".utf8).writeSecret(to: folder.appending(path: "admin.key"))
        try Data("Bearer of the dashboard\n".utf8).writeSecret(to: folder.appending(path: "rc.txt"))
        let text = """
            { server: { listen: "127.0.0.1:0", adminKeyFile: "admin.key" }, storage: "sqlite:x.db",
              apps: [{ id: "cards", environments: ["sandbox"],
              revenueCat: { webhookAuthorizationFile: "rc.txt" },
              products: { "cards.pro.monthly": { entitlements: ["premium"], period: "P1M" } } }] }
            """
        return try write(text, to: "tideover.json")
    }

    /// Creates lines of responses, the first of them invalid. They are from 2020, so that no clock
    /// is behind them.
    private func file(_ count: Int) throws -> String {
        let start: Instant = "2020-05-01T10:00:00Z"
        let end: Instant = "2020-06-01T10:00:00Z"
        var lines = [Array("{".utf8)]
        for number in 0..<count {
            lines.append(
                TestRevenueCat.answer(
                    "customer-\(number)",
                    at: start + .days(1),
                    [
                        "purchase_date": .string(start.rfc3339),
                        "expires_date": .string(end.rfc3339),
                        "store_transaction_id": .string("7\(number)"),
                    ]
                )
            )
        }
        let url = folder.appending(path: "answers.jsonl")
        try Data(lines.map { $0 + [UInt8(ascii: "\n")] }.joined()).write(to: url)
        return url.path
    }

    private func arguments(_ file: String, _ configuration: String) -> [String] {
        ["import", "revenuecat", file, "--app", "cards", "--config", configuration]
    }

    private func run(_ arguments: [String]) throws -> (JSONValue, Int32, String) {
        let said = try Executable.run(arguments + ["--json"])
        let root = try JSONDocument(Array(said.results.utf8), limits: .local).root
        return (JSONValue(root), said.code, said.messages)
    }

    @Test func `RevenueCat's SDKs can have a port of their own`() async throws {
        let text = """
            { server: { listen: "127.0.0.1:0", sdkListen: "127.0.0.1:0" },
              storage: "sqlite:sdk.db",
              apps: [{ id: "cards", environments: ["sandbox"],
              revenueCat: { sdk: { appStoreKeys: ["appl_test"] } },
              products: { "cards.pro.monthly": { entitlements: ["premium"], period: "P1M" } } }] }
            """
        let file = try write(text, to: "sdk.json")
        let server = try ServingExecutable(file)
        let sdk = try #require(server.sdkURL)
        func get(_ path: String, _ url: HTTPURL) async throws -> Response {
            try await ServingExecutable.get(path, from: url, key: "appl_test", query: [])
        }
        #expect(try await get("/v1/subscribers/u_1", sdk).status == 200)
        #expect(try await get("/v1/subscribers/u_1", server.url).status == 404)
        #expect(try await get("/healthz", server.url).status == 200)
        for path in ["/healthz", "/v1/apps/cards/customers/u_1", "/dashboard"] {
            let response = try await get(path, sdk)
            #expect(response.status == 404)
            #expect(try JSONDocument(response.body).root["code"]?.int64 != nil, "\(path)")
        }
        try server.askToStop()
    }

    /// Starts an import, and ends it by a signal after it has stored its first batch. Returns false
    /// if it ended before.
    private func isKilledAfterItsFirstBatch(_ arguments: [String]) throws -> Bool {
        let killed = try ChildProcess([Executable.url.path] + arguments)
        // The first line is reported as soon as its batch is stored.
        var told = ""
        while !told.contains("Line 1:") {
            let bytes = killed.messages.next()
            guard !bytes.isEmpty else { break }
            told += String(decoding: bytes, as: UTF8.self)
        }
        killed.terminate()
        let end = killed.wait()
        #expect(told.contains("Line 1:"))
        return end == -SIGTERM
    }

    @Test func `a killed import resumes without duplicates`() throws {
        let configuration = try configuration()
        var (count, arguments) = (Int64(300), [String]())
        // On a busy machine the import can end before it is killed; then there is more to import.
        repeat {
            count *= 2
            arguments = self.arguments(try file(Int(count)), configuration)
        } while try count < 10_000 && !isKilledAfterItsFirstBatch(arguments)
        let (second, _, _) = try run(arguments)
        let before = second["linesBefore"]?.int64 ?? 0
        #expect(before + (second["lines"]?.int64 ?? 0) == count + 1)
        #expect(before > 0)
        let (third, status, messages) = try run(arguments)
        #expect(third["linesBefore"] == 0)
        #expect(third["known"] == .integer(count))
        #expect(third["newFacts"] == 0)
        #expect(third["refused"] == 1)
        #expect(status == 1)
        #expect(!messages.contains("continuing after"))
        #expect(third["told"]?.array?.first?["line"] == 1)
    }

    @Test func `the offerings of two stores are printed for the configuration`() throws {
        var files: [String] = []
        for (name, product, plan) in [
            ("ios", "cards.pro.monthly", ""),
            ("android", "cards_pro", #", "platform_product_plan_identifier": "monthly""#),
        ] {
            let text = """
                {"current_offering_id": "default", "offerings": [{"identifier": "default",
                "description": "Standard", "packages": [{"identifier": "$rc_monthly",
                "platform_product_identifier": "\(product)"\(plan)}]}]}
                """
            let url = try write(text, to: "\(name).json")
            files += ["--offerings", url]
        }
        let printed = try Executable.run(["import", "revenuecat"] + files)
        #expect(printed.code == 0)
        let sdk = try JSONDocument(Array(printed.results.utf8)).root
        let packages = sdk["offerings"]?["default"]?["packages"]?["$rc_monthly"]
        #expect(
            packages?.elements.compactMap(\.string) == ["cards.pro.monthly", "cards_pro:monthly"]
        )
        // What is printed is accepted as it is.
        let file = try configuration()
        let text = try String(contentsOf: URL(filePath: file), encoding: .utf8).replacing(
            "revenueCat: {",
            with: "revenueCat: { sdk: \(printed.results),"
        )
        try Data(text.utf8).write(to: URL(filePath: file))
        #expect(try Executable.run(["config", "--config", file]).code == 0)
        let wrong = try write("{}", to: "wrong.json")
        let refused = try Executable.run(["import", "revenuecat", "--offerings", wrong])
        #expect(refused.code == 65)
        #expect(refused.messages.contains("It is no response with offerings"))
        #expect(try Executable.run(["import", "revenuecat"]).code == 2)
    }

    @Test func `the command runs dry, imports through a server and compares the answers`() throws {
        let configuration = try configuration()
        let file = try file(3)
        let arguments = arguments(file, configuration)
        let server = try ServingExecutable(configuration)
        let asked = ["--server", "\(server.url)"]
        let (dry, _, _) = try run(arguments + asked + ["--dry-run"])
        #expect(dry["known"] == 0)
        #expect(dry["read"] == 3)
        let (first, status, _) = try run(arguments + asked)
        #expect(first["read"] == 3)
        #expect(first["known"] == 0)
        #expect(status == 1)
        let report = [
            "report", "shadow", "--app", "cards", "--config", configuration, "--environment",
            "sandbox",
        ]
        let (shadow, _, _) = try run(report + asked)
        #expect(shadow["customers"] == 3)
        #expect(shadow["differing"] == 0)
        let sheet = try Executable.run(report + asked + ["--csv"])
        let lines = sheet.results.split(separator: "\r\n")
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("app,environment,customer") == true)
        _ = server.stop()
    }
}
