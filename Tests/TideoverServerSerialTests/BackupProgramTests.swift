import Foundation
import Testing
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverHTTPClient
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverStorage
import TideoverTestProcesses

@testable import TideoverTestServer

/// `tideover backup` beside a running server.
@Suite(.withExecutable, .timeLimit(.minutes(20))) final class BackupProgramTests: SuiteWithFolder {
    private func configuration(port: UInt16, _ adminKey: Bool = true) throws -> String {
        let named = adminKey ? ", adminKeyFile: \"admin.key\"" : ""
        let text = """
            { server: { listen: "127.0.0.1:\(port)"\(named) }, storage: "sqlite:x.db",
              apps: [{ id: "cards", environments: ["sandbox"],
              appStore: { bundleId: "com.example.cards" } }] }
            """
        let file = try write(text, to: "tideover-\(port).json")
        if !FileManager.default.fileExists(atPath: folder.path + "/admin.key") {
            let key = APIKey(.admin) { .random(in: .min ... .max) }
            try Data("\(key.text)\n".utf8).writeSecret(to: folder.appending(path: "admin.key"))
        }
        return file
    }

    private func backup(_ name: String, _ configuration: String) throws -> ChildProcess.Said {
        try Executable.run(["backup", folder.path + "/" + name, "--config", configuration])
    }

    @Test func `the running server creates the copy, and the command checks it`() async throws {
        let database = folder.appending(path: "x.db").path
        let storage = try SQLiteStorage(path: database)
        try await storage.add([Tally(environment: nil, kind: "k", name: "n"): 7], app: "cards")
        await storage.close()
        let running = try ServingExecutable(try configuration(port: 0))
        let port = running.url.port
        let path = try configuration(port: UInt16(port))
        let made = try backup("copy.db", path)
        #expect(made.code == 0, "\(made.messages)")
        #expect(made.results.contains("copy.db: ") && made.results.contains("KiB, checked"))
        let again = try backup("copy.db", path)
        #expect(again.code != 0)
        #expect(again.messages.contains("already exists"))
        let nowhere = try backup("none/copy.db", path)
        #expect(nowhere.code == 73)
        #expect(nowhere.messages.contains("/none/copy.db: No such file"), "\(nowhere.messages)")
        // Without an admin key it reads the database file directly.
        let other = try backup("other.db", try configuration(port: 1, false))
        #expect(other.code == 0, "\(other.messages)")
        let messages = running.stop()
        #expect(messages.contains("/v1/backup"))
        for name in ["copy.db", "other.db"] {
            let copy = try SQLiteStorage(path: folder.path + "/" + name)
            #expect(try copy.counts(app: "cards").values.contains(7))
            await copy.close()
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(left.filter { $0.contains(".copy-") || $0.contains("unfinished") } == [])
    }

    @Test func `one backup runs at a time, and no request names a path`() async throws {
        let server = try TestServer()
        #expect(try await server.get("/v1/backup").body == Array(#"{"copy":null}"#.utf8))
        let begun = try await server.send("POST", "/v1/backup", body: [])
        #expect(begun.status == 202)
        let file = try JSONDocument(begun.body).root["copy"]?["file"]?.string
        #expect(file?.hasPrefix(server.storage.path + ".copy-") == true)
        let second = try await server.send("POST", "/v1/backup", body: [])
        // The first one may have ended by now.
        #expect(second.status == 409 || second.status == 202)
        await server.close()
    }

    @Test func `a stop cancels a running report`() async throws {
        let count = 4_000
        let storage = try SQLiteStorage(path: folder.appending(path: "x.db").path)
        let now = Instant(millisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1_000))
        let start = now - .days(400)
        for page in 0..<count / 500 {
            let facts = (0..<500).flatMap { Self.life("\(page * 500 + $0)", from: start) }
            let commitRequest = CommitRequest(
                app: "cards",
                environment: .sandbox,
                facts: facts,
                now: start + .days(300)
            )
            _ = try await storage.commit(commitRequest) { _ in
                Derivation(answer: Array("{}".utf8), validUntil: nil, fingerprint: "")
            }
        }
        await storage.close()
        let running = try ServingExecutable(try configuration(port: 0))
        let key = try String(contentsOf: folder.appending(path: "admin.key"), encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let url = running.url
        // One report after the other, because one alone can end before the metric is read.
        let reports = Task {
            while true {
                let answer = try? await ServingExecutable.get(
                    "/v1/reports/lockouts",
                    from: url,
                    key: key,
                    query: []
                )
                guard answer?.status == 200 else { return answer?.status }
            }
        }
        let runs = #"tideover_reports_running{app="cards"} 1"#
        while true {
            let metrics = try await running.get("/metrics", key: key, query: [])
            if String(decoding: metrics.body, as: UTF8.self).contains(runs) { break }
            try await Task.sleep(for: .milliseconds(5))
        }
        let begin = ContinuousClock.now
        #expect(running.stopUnread() == 0)
        let took = begin.duration(to: .now)
        // A stop waits up to ten seconds for running requests.
        #expect(took < .seconds(10))
        // The last report was cancelled; if it had completed, the test would prove nothing.
        #expect(await reports.value != 200)
    }

    /// Returns the facts of ten monthly terms.
    private static func life(_ id: String, from start: Instant) -> [Fact] {
        (0..<10).map { (month: Int64) -> Fact in
            let begin = start + .days(30 * month)
            return Fact(
                lineage: Lineage(store: .appStore, environment: .sandbox, id: id),
                assertion: .term(
                    Term(
                        transactionId: "\(id)-\(month)",
                        productId: "cards.pro.monthly",
                        start: begin,
                        end: begin + .days(30),
                        accountToken: CustomerID("u\(id)")
                    )
                ),
                effectiveAt: begin,
                assertedAt: begin,
                learnedAt: begin + .days(1),
                source: .appStoreNotification,
                evidence: EvidenceID(hex: "00")
            )
        }
    }
}
