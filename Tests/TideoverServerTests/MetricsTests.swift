import Foundation
import Testing
import TideoverConfiguration
import TideoverCore
import TideoverDoctor
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSQLite
import TideoverServer
import TideoverTestProcesses

@testable import TideoverTestServer

/// The content of `/metrics`.
@Suite struct MetricsTests {
    @Test func `requests are counted by template, method and status class`() async throws {
        let server = try TestServer()
        let customer = "/v1/apps/cards/customers/\(TestServer.anna)"
        _ = try await server.get("\(customer)?environment=sandbox")
        _ = try await server.get("\(customer)?environment=sandbox")
        _ = try await server.get(customer)
        _ = try await server.get("/nowhere/\(TestServer.anna)")
        let samples = try await server.samples()
        #expect(
            samples.filter { $0.hasPrefix("tideover_http_requests_total") } == [
                request("/v1/apps/{app}/customers/{customer}", "2xx", 2),
                request("/v1/apps/{app}/customers/{customer}", "4xx", 1),
                request("none", "4xx", 1),
            ]
        )
        await server.close()
    }

    private func request(_ route: String, _ status: String, _ count: Int) -> String {
        #"tideover_http_requests_total{route="\#(route)",method="GET",status="\#(status)"} \#(count)"#
    }

    @Test func `durations are counted in cumulative buckets`() async throws {
        let looks = Counter()
        let server = try TestServer(
            probes: Probes(uptime: { looks.next() * 2_000_000 })
        )
        _ = try await server.get("/healthz")
        _ = try await server.get("/healthz")
        let name = "tideover_http_request_duration_seconds"
        let samples = try await server.samples().filter {
            $0.hasPrefix(name) && $0.contains("/healthz")
        }
        #expect(samples.contains(#"\#(name)_bucket{route="/healthz",le="0.001"} 0"#))
        #expect(samples.contains(#"\#(name)_bucket{route="/healthz",le="0.0025"} 2"#))
        #expect(samples.contains(#"\#(name)_bucket{route="/healthz",le="5"} 2"#))
        #expect(samples.contains(#"\#(name)_bucket{route="/healthz",le="+Inf"} 2"#))
        #expect(samples.contains(#"\#(name)_sum{route="/healthz"} 0.004"#))
        #expect(samples.contains(#"\#(name)_count{route="/healthz"} 2"#))
        await server.close()
    }

    @Test func `notifications are counted by outcome`() async throws {
        let server = try TestServer()
        try await MetricsSample.live(server)
        let samples = try await server.samples()
        for expected in [
            #"tideover_notifications_total{app="cards",outcome="committed"} 3"#,
            #"tideover_notifications_total{app="cards",outcome="duplicate"} 1"#,
            #"tideover_notifications_total{app="cards",outcome="refused"} 1"#,
            #"tideover_notifications_total{app="cards",outcome="failed"} 0"#,
            #"tideover_notification_refusals_total{app="cards",code="untrusted-root"} 1"#,
            #"tideover_unrecognised_words_total{app="cards",field="notificationType"} 1"#,
            #"tideover_unknown_products_total{app="cards"} 1"#,
            #"tideover_storage_commits_total{outcome="committed"} 3"#,
            #"tideover_storage_commits_total{outcome="duplicate"} 1"#,
            "tideover_storage_commit_duration_seconds_count 4",
            #"tideover_verified_chains{app="cards"} 1"#,
            #"tideover_chain_public_key_operations_total{app="cards"} 3"#,
            #"tideover_build_info{version="test"} 1"#,
        ] {
            #expect(samples.contains(expected), "\(expected)")
        }
        #expect(MetricsReading(samples.joined(separator: "\n")).commits?.count == 4)
        await server.close()
    }

    @Test func `known series start at zero`() async throws {
        let server = try TestServer()
        let samples = try await server.samples()
        #expect(
            samples.contains(#"tideover_notifications_total{app="cards",outcome="refused"} 0"#)
        )
        #expect(samples.contains(#"tideover_storage_commits_total{outcome="failed"} 0"#))
        // An alert on an increase misses the first one of a series that does not exist yet.
        for reason in ["full", "io", "corrupt", "unavailable", "unconfirmed", "replaced"] {
            let sample = #"tideover_storage_failures_total{reason="\#(reason)"} 0"#
            #expect(samples.contains(sample))
        }
        for code in ["signed-in-the-future", "wrong-bundle", "too-many-refusals"] {
            let sample = #"tideover_notification_refusals_total{app="cards",code="\#(code)"} 0"#
            #expect(samples.contains(sample))
        }
        #expect(samples.contains("tideover_verifications_waiting 0"))
        await server.close()
    }

    @Test func `injected readings appear, and missing readings have no series`() async throws {
        let bare = try TestServer()
        #expect(try await !bare.samples().contains { $0.contains("_process_") })
        #expect(try await !bare.samples().contains { $0.contains("_connections_") })
        #expect(try await !bare.samples().contains { $0.contains("_repetitions_") })
        await bare.close()
        let server = try TestServer(probes: MetricsSample.probes)
        let samples = try await server.samples()
        #expect(samples.contains("tideover_process_start_time_seconds 1777629600.5"))
        #expect(samples.contains("tideover_process_resident_memory_bytes 50000000"))
        #expect(samples.contains("tideover_http_connections_open 7"))
        #expect(samples.contains("tideover_storage_repetitions_total 2"))
        #expect(samples.contains("tideover_commit_statements_total 40"))
        #expect(samples.contains("tideover_servers 3"))
        #expect(samples.contains("tideover_servers_differing 1"))
        await server.close()
    }

    @Test func `a label can contain any text`() async throws {
        let server = try TestServer()
        let service = try Service(
            apps: [],
            storage: server.storage,
            // With a combining mark behind it, a quotation mark is another `Character`.
            version: "a\"b\\c\nd\"\u{301}\r\n",
            clock: { Message.start },
            log: { _ in }
        )
        let response = try await service.handler(Request(path: "/metrics"))
        let text = String(decoding: response.body, as: UTF8.self)
        let escaped = #"a\"b\\c\nd\""# + "\u{301}\r" + #"\n"#
        #expect(Array(text.utf8).contains(#"tideover_build_info{version="\#(escaped)"} 1"#.utf8))
        await server.close()
    }

    @Test(.enabled(if: Promtool.path != nil, "promtool is missing (Debian package prometheus)"))
    func `promtool finds no problem in the metrics`() async throws {
        let promtool = try #require(Promtool.path)
        let server = try TestServer(probes: MetricsSample.probes)
        let atRest = try await server.get("/metrics")
        #expect(try Promtool.check(atRest.body, promtool) == "0")
        try await MetricsSample.live(server)
        let response = try await server.get("/metrics")
        #expect(response.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(try Promtool.check(response.body, promtool) == "0")
        #expect(try Promtool.check(Array("tideover_x 1 2 3\n".utf8), promtool) != "0")
        await server.close()
    }
}

/// A server that has received every kind of message.
enum MetricsSample {
    static let probes = Probes(
        process: {
            ProcessReading(
                startedAt: Instant(millisecondsSince1970: 1_777_629_600_500),
                residentBytes: 50_000_000,
                openFileDescriptors: 30,
                mostFileDescriptors: 1_024,
                processorMilliseconds: 1_250
            )
        },
        sockets: {
            var reading = SocketReading()
            reading.connectionsOpen = 7
            return reading
        },
        droppedLogLines: { 3 },
        writeAheadLogBytes: { 4_096 },
        transactionRepetitions: { 2 },
        commitStatements: { 40 },
        servers: { ServersReading(running: 3, differing: 1) }
    )

    static func live(_ server: TestServer) async throws {
        for message in [Message.purchase(), .purchase(), odd, unknownProduct] {
            _ = try await server.post(message)
        }
        _ = try await server.post(
            Message.purchase("n-bad").body(server.store, defect: .unknownRoot)
        )
    }

    private static var odd: Message {
        var message = Message.purchase("n-odd")
        message.type = "SPLENDID_NEWS"
        message.subtype = nil
        return message
    }

    private static var unknownProduct: Message {
        var message = Message.purchase("n-gold")
        var transaction = Message.transaction(product: "cards.gold")
        transaction["transactionId"] = "2000000000000009"
        transaction["originalTransactionId"] = "2000000000000009"
        message.transaction = transaction
        message.renewal = nil
        return message
    }
}

/// The check of metrics by Prometheus.
enum Promtool {
    static let path: String? = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]
        .map { "\($0)/promtool" }.first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Returns `0`, or the exit code and the output.
    static func check(_ text: [UInt8], _ path: String) throws -> String {
        let said = try ChildProcess.run([path, "check", "metrics"], input: text)
        return "\(said.code)\(said.results)\(said.messages)"
    }
}

/// The page for operators.
@Suite struct OperatingPageTests {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "docs/operating.md")

    @Test func `the page lists exactly the metrics of the server`() async throws {
        let (disk, list) = (Disk(), RevocationList())
        let server = try TestServer(
            probes: MetricsSample.probes,
            faults: disk.faults,
            googlePlay: TestPlay().trust(asksStore: true),
            revenueCatSDK: RevenueCatSDK(appStoreKeys: ["appl_a"]),
            revocation: (list, RevocationChecks(list: list) { _, _, _ in .forbidden }),
            replica: { _ in nil }
        )
        try await MetricsSample.live(server)
        try await server.service.pruneNow(keeping: Configuration.Retention())
        disk.isFull = true
        _ = try await server.get("/readyz")
        let scraped = Locked<[UInt8]>([])
        await server.service.work(on: [.retention], keeping: Configuration.Retention()) { _ in
            let response = try await server.get("/metrics")
            scraped.withLock { $0 = response.body }
            throw CancellationError()
        }
        let text = String(decoding: scraped.withLock { $0 }, as: UTF8.self)
        let told = Set(
            text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }
                .map { String($0.split(separator: " ")[2]) }
        )
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        let listed = Set(page.matches(of: /`(tideover_[a-z_]+)/).map { String($0.output.1) })
        #expect(listed.subtracting(told) == [])
        #expect(told.subtracting(listed) == [])
        await server.close()
    }

    @Test func `the page lists every field of a log line`() async throws {
        let server = try TestServer()
        try await MetricsSample.live(server)
        _ = try await server.get("/v1/apps/cards/customers/x?environment=sandbox")
        await server.storage.close()
        _ = try await server.get("/readyz")
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        for line in server.logged {
            for (field, _) in try JSONDocument(Array(line.utf8)).root.members {
                #expect(page.contains("| `\(field)` |"), "\(field)")
            }
        }
        await server.close()
    }
}
