import Testing
import TideoverCore
import TideoverDoctor
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// The supervision of the server's workers, seen through the log, `/metrics` and `/readyz`.
@Suite(.timeLimit(.minutes(20))) struct SupervisorTests {
    /// An error with personal data.
    private struct Failure: Error {
        let email = "anna@example.com"
    }

    /// Fails each round that is listed; the first is 1.
    private static func worker(
        failing rounds: Set<Int>,
        _ count: Locked<Int> = Locked(0)
    ) -> Worker {
        Worker(.silences, app: "cards", environment: .sandbox, every: .seconds(5)) {
            let round = count.withLock { count in
                count += 1
                return count
            }
            if rounds.contains(round) { throw Failure() }
        }
    }

    /// Runs workers until one has paused a number of times, and returns the pauses.
    private static func pauses(
        _ most: Int,
        of worker: Worker,
        _ server: TestServer,
        meanwhile: @escaping @Sendable () async throws -> Void = {}
    ) async throws -> [Int64] {
        let pauses = Locked<[Int64]>([])
        await server.service.supervise([worker]) { duration in
            let count = pauses.withLock { pauses in
                pauses.append(duration.components.seconds)
                return pauses.count
            }
            try await meanwhile()
            if count == most { throw CancellationError() }
        }
        return pauses.withLock { $0 }
    }

    /// Returns the response of `/readyz`, which matches its schema.
    private static func readiness(_ server: TestServer) async throws -> JSONValue {
        let response = try await server.get("/readyz")
        #expect(response.status == 200)
        let body = try JSONDocument(response.body).root
        let schemas = Schemas(try JSONDocument(try await server.get("/openapi.json").body))
        #expect(schemas.faults(of: body, named: "Readiness") == [])
        return JSONValue(body)
    }

    private static func text(_ findings: JSONValue?) -> String {
        findings.map { String(decoding: $0.encoded(), as: UTF8.self) } ?? "none"
    }

    @Test func `a worker that fails is logged, counted and started again`() async throws {
        let server = try TestServer()
        let rounds = Locked(0)
        let worker = Self.worker(failing: [1, 2], rounds)
        #expect(try await Self.pauses(4, of: worker, server) == [1, 2, 5, 5])
        #expect(rounds.withLock { $0 } == 4)
        #expect(
            try await server.samples().contains(
                #"tideover_worker_restarts_total{worker="silences"} 2"#
            )
        )
        let lines = server.logged.filter { $0.contains(#""event":"worker failed""#) }
        #expect(lines.count == 2)
        let line = try #require(lines.first)
        #expect(line.contains(#""app":"cards","environment":"sandbox","code":"internal""#))
        #expect(line.contains("silences starts again in 1 s: ") && line.contains("Failure"))
        #expect(!line.contains("anna"))
        await server.close()
    }

    @Test func `a worker that returns is started again`() async throws {
        let server = try TestServer()
        let worker = Worker(.counts) { _ in }
        #expect(try await Self.pauses(3, of: worker, server) == [1, 2, 4])
        #expect(server.logged.contains { $0.contains("counts starts again in 4 s: it returned") })
        await server.close()
    }

    @Test func `the pause doubles up to a minute, and is a second again after a long run`()
        async throws
    {
        let disk = Disk()
        let server = try TestServer(probes: disk.probes)
        let runs = Locked(0)
        let worker = Worker(.counts) { _ in
            let run = runs.withLock { runs in
                runs += 1
                return runs
            }
            if run == 8 { disk.advance(by: 599_999_999_999) }
            if run == 9 { disk.advance(by: 600_000_000_000) }
            throw Failure()
        }
        #expect(
            try await Self.pauses(10, of: worker, server) == [1, 2, 4, 8, 16, 32, 60, 60, 1, 2]
        )
        await server.close()
    }

    @Test func `the pause of a worker that works once an hour doubles up to an hour`() async throws
    {
        let server = try TestServer()
        let worker = Worker(.silences, every: .seconds(3_600)) { throw Failure() }
        let pauses = try await Self.pauses(14, of: worker, server)
        #expect(pauses == (0..<12).map { 1 << $0 } + [3_600, 3_600])
        await server.close()
    }

    @Test func `a worker that fails does not stop the others`() async throws {
        let server = try TestServer()
        let rounds = Locked(0)
        let other = Worker(.figures, every: .seconds(5)) { rounds.withLock { $0 += 1 } }
        let running = Task {
            await server.service.supervise([Worker(.counts) { _ in throw Failure() }, other]) {
                _ in try await Task.sleep(for: .milliseconds(1))
            }
        }
        while rounds.withLock({ $0 }) < 3 || server.logged.count < 3 {
            try await Task.sleep(for: .milliseconds(5))
        }
        running.cancel()
        await running.value
        await server.close()
    }

    @Test func `a failing worker is listed until it completes a round, and the server is ready`()
        async throws
    {
        let disk = Disk()
        let server = try TestServer(probes: disk.probes)
        #expect(try await Self.readiness(server)["checks"]?["workers"] == nil)
        let seen = Locked<[String]>([])
        _ = try await Self.pauses(3, of: Self.worker(failing: [1, 2]), server) {
            disk.advance(by: 2_000_000_000)
            let body = try await Self.readiness(server)
            let check = body["checks"]?["workers"]?.string ?? "none"
            seen.withLock { $0 += [check, Self.text(body["workers"])] }
            let failing = #"tideover_workers{worker="silences",state="failing"} "#
            let samples = try await server.samples()
            #expect(samples.contains(failing + (check == "ok" ? "0" : "1")))
            let doctor = Finding.workers(MetricsReading(samples.joined(separator: "\n")))
            #expect(doctor?.verdict == (check == "ok" ? .ok : .warning))
            #expect(doctor?.detail.contains("silences") == (check != "ok"))
        }
        let finding = { (seconds: Int) in
            #"[{"worker":"silences","app":"cards","environment":"sandbox","state":"failing","#
                + #""seconds":\#(seconds)}]"#
        }
        #expect(
            seen.withLock { $0 } == ["failing", finding(2), "failing", finding(4), "ok", "none"]
        )
        // A stopped worker has no state.
        #expect(try await Self.readiness(server)["checks"]?["workers"] == nil)
        await server.close()
    }

    @Test(arguments: Worker.Kind.allCases)
    func `a worker that hangs is listed once its round takes too long`(
        kind: Worker.Kind
    ) async throws {
        let disk = Disk()
        let server = try TestServer(probes: disk.probes)
        let seen = Locked<[String]>([])
        @Sendable func look() async throws {
            let body = try await Self.readiness(server)
            seen.withLock { $0.append(Self.text(body["workers"])) }
        }
        let worker = Worker(kind, every: .seconds(1)) {
            disk.advance(by: kind.longestRound)
            try await look()
            disk.advance(by: 1_000_000_000)
            try await look()
            let seconds = kind.longestRound / 1_000_000_000 + 1
            let samples = try await server.samples()
            #expect(
                samples.contains(
                    #"tideover_worker_round_seconds{worker="\#(kind.rawValue)"} \#(seconds)"#
                )
            )
            let doctor = Finding.workers(MetricsReading(samples.joined(separator: "\n")))
            #expect(doctor?.verdict == .warning)
        }
        _ = try await Self.pauses(1, of: worker, server, meanwhile: look)
        let seconds = kind.longestRound / 1_000_000_000 + 1
        let finding =
            #"[{"worker":"\#(kind.rawValue)","state":"stuck","seconds":\#(seconds)}]"#
        #expect(seen.withLock { $0 } == ["none", finding, "none"])
        await server.close()
    }

    @Test func `a server stops while a worker waits to be started again`() async throws {
        let server = try TestServer()
        let running = Task {
            await server.service.supervise([Worker(.counts) { _ in throw Failure() }]) { _ in
                try await Task.sleep(for: .seconds(3_600))
            }
        }
        while server.logged.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        running.cancel()
        await running.value
        #expect(server.logged.count == 1)
        await server.close()
    }

    @Test func `deadlines that the storage refused are met after it recovers`() async throws {
        let disk = Disk()
        let server = try TestServer(probes: disk.probes, faults: disk.faults)
        #expect(try await server.post(.purchase()).status == 200)
        server.set(Message.end + .days(3))
        let before = try server.events().count
        disk.isFull = true
        let isHeld = Locked(true)
        let running = Task {
            await server.service.work(on: [.deadlines]) { _ in
                repeat { try await Task.sleep(for: .milliseconds(5)) } while isHeld.withLock { $0 }
            }
        }
        while !server.logged.contains(where: { $0.contains("worker failed") }) {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try await server.get("/readyz").status == 503)
        #expect(try server.events().count == before)
        disk.isFull = false
        disk.advance(by: 1_000_000_000)
        // The storage works again, and the worker still waits.
        let waiting = try await Self.readiness(server)
        #expect(waiting["workers"]?[0]?["worker"]?.string == "deadlines")
        #expect(waiting["workers"]?[0]?["state"]?.string == "failing")
        isHeld.withLock { $0 = false }
        while try await Self.readiness(server)["checks"]?["workers"]?.string != "ok" {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try server.events().count > before)
        #expect(
            try await server.samples().contains(
                #"tideover_worker_restarts_total{worker="deadlines"} 1"#
            )
        )
        running.cancel()
        await running.value
        await server.close()
    }
}
