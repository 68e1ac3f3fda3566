import Glibc
import Synchronization
import Testing
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// The state of the readiness check, as a value.
@Suite struct ReadinessStateTests {
    private let second = ReadinessState.freshness

    @Test func `a result is valid for a second`() {
        var state = ReadinessState()
        #expect([state.asked(at: 0)] == [.check])
        state.checked(isReady: true, at: 10)
        #expect(
            [state.asked(at: 10), state.asked(at: 9 + second), state.asked(at: 10 + second)]
                == [.answer(isReady: true), .answer(isReady: true), .check]
        )
        state.checked(isReady: false, at: 11 + second)
        #expect([state.asked(at: 12 + second)] == [.answer(isReady: false)])
    }

    @Test func `one request checks, and the others get the last result`() {
        var state = ReadinessState()
        #expect([state.asked(at: 0), state.asked(at: 1)] == [.check, .answer(isReady: false)])
        state.checked(isReady: true, at: 2)
        #expect(
            [state.asked(at: 2 + second), state.asked(at: 3 + second)]
                == [.check, .answer(isReady: true)]
        )
    }

    @Test func `a check that does not end is a failure, and its late result counts`() {
        var state = ReadinessState()
        state.checked(isReady: true, at: 0)
        let late = second + ReadinessState.patience
        #expect(
            [state.asked(at: second), state.asked(at: late - 1), state.asked(at: late)]
                == [.check, .answer(isReady: true), .answer(isReady: false)]
        )
        state.checked(isReady: true, at: late + 1)
        #expect([state.asked(at: late + 2)] == [.answer(isReady: true)])
    }

    @Test func `after a commit that did not fit, no small write counts until one fits`() {
        var state = ReadinessState()
        state.commitFailed(at: 0)
        #expect([state.asked(at: second)] == [.check])
        state.checked(isReady: true, at: second)
        state.commitFailed(at: second, isFull: true)
        state.checked(isReady: true, at: 2 * second)
        let end = second + ReadinessState.fullness
        #expect(
            [state.asked(at: 2 * second), state.asked(at: end - 1), state.asked(at: end)]
                == [.answer(isReady: false), .answer(isReady: false), .check]
        )
        state.commitFailed(at: end, isFull: true)
        state.checked(isReady: true, at: end)
        state.committed()
        #expect([state.asked(at: end + 1)] == [.answer(isReady: true)])
    }
}

@Suite struct ReadinessTests {
    @Test func `a server with a working storage is ready, and the check changes no counts`()
        async throws
    {
        let server = try TestServer()
        let answer = try await server.get("/readyz")
        #expect(answer.status == 200)
        #expect(try JSONDocument(answer.body).root["status"]?.string == "ready")
        #expect(try await server.counts() == [])
        await server.close()
    }

    @Test(
        arguments: [
            (nil, nil), (ServersReading(running: 3, differing: 0), "same"),
            (ServersReading(running: 3, differing: 1), "differs"),
        ] as [(ServersReading?, String?)]
    )
    func `a server says whether others have its configuration, and is ready all the same`(
        reading: ServersReading?,
        word: String?
    ) async throws {
        let server = try TestServer(probes: Probes(servers: { reading }))
        let answer = try await server.get("/readyz")
        #expect(answer.status == 200)
        let checks = try JSONDocument(answer.body).root["checks"]
        #expect(checks?["configuration"]?.string == word)
        await server.close()
    }

    @Test func `a server with a closed storage is alive but not ready`() async throws {
        let server = try TestServer()
        await server.storage.close()
        let answer = try await server.get("/readyz")
        #expect(answer.status == 503)
        #expect(answer.headers["Content-Type"] == "application/problem+json")
        let problem = try JSONDocument(answer.body).root
        #expect(problem["type"]?.string == "/problems/not-ready")
        #expect(!String(decoding: answer.body, as: UTF8.self).contains("tideover.db"))
        #expect(server.logged.contains { $0.contains(#""event":"not ready""#) })
        #expect(try await server.get("/healthz").status == 200)
        await server.close()
    }

    @Test func `a stopping server is not ready and still serves all other requests`() async throws {
        let server = try TestServer()
        #expect(try await server.get("/readyz").status == 200)
        server.service.beginDraining()
        let answer = try await server.get("/readyz")
        #expect(answer.status == 503)
        let problem = try JSONDocument(answer.body).root
        #expect(problem["type"]?.string == "/problems/draining")
        #expect(try await server.get("/healthz").status == 200)
        #expect(try await server.post(Message.purchase("n-1")).status == 200)
        await server.close()
    }

    @Test func `frequent checks write once a second`() async throws {
        let disk = Disk()
        let server = try TestServer(probes: disk.probes, faults: disk.faults)
        for _ in 0..<20 { #expect(try await server.get("/readyz").status == 200) }
        #expect(disk.writes == 1)
        disk.advance(by: 1_000_000_000)
        #expect(try await server.get("/readyz").status == 200)
        #expect(disk.writes == 2)
        await server.close()
    }

    @Test func `a full disk and its recovery are detected`() async throws {
        let disk = Disk()
        let server = try TestServer(probes: disk.probes, faults: disk.faults)
        #expect(try await server.get("/readyz").status == 200)
        disk.isFull = true
        disk.advance(by: 1_000_000_000)
        #expect(try await server.get("/readyz").status == 503)
        #expect(
            try await server.samples().contains(
                #"tideover_storage_failures_total{reason="full"} 1"#
            )
        )
        disk.isFull = false
        disk.advance(by: 1_000_000_000)
        #expect(try await server.get("/readyz").status == 200)
        await server.close()
    }

    @Test(.timeLimit(.minutes(10)))
    func `a server whose storage hangs answers before the check ends`() async throws {
        let disk = Disk()
        let server = try TestServer(probes: disk.probes, faults: disk.faults)
        disk.hangs = true
        let answer = try await server.get("/readyz")
        #expect(answer.status == 503)
        #expect(server.logged.contains { $0.contains("no answer within 2 s") })
        // The check has not ended, so there is no other result.
        #expect(try await server.get("/readyz").status == 503)
        #expect(disk.writes == 1)
        disk.hangs = false
        await server.close()
    }

    @Test func `a failed commit ends readiness at once, until a write succeeds`() async throws {
        let disk = Disk()
        let server = try TestServer(probes: disk.probes, faults: disk.faults)
        #expect(try await server.get("/readyz").status == 200)
        disk.isFull = true
        #expect(try await server.post(Message.purchase("n-1")).status == 503)
        // The earlier result would be valid for a second.
        #expect(try await server.get("/readyz").status == 503)
        disk.isFull = false
        #expect(try await server.post(Message.purchase("n-1")).status == 200)
        disk.advance(by: 1_000_000_000)
        #expect(try await server.get("/readyz").status == 200)
        await server.close()
    }
}

@Suite(.timeLimit(.minutes(20))) struct WriteAheadLogAlarmTests {
    @Test func `a large log causes a warning at the limit and at each doubling`() {
        var alarm = WriteAheadLogAlarm()
        let bound = WriteAheadLogAlarm.boundBytes
        let sizes = [0, bound - 1, bound, bound, bound * 2 - 1, bound * 2, bound * 3, 0, bound]
        #expect(
            sizes.map { alarm.observed(bytes: $0) }
                == [false, false, true, false, false, true, false, false, true]
        )
    }

    @Test func `a server logs the warning`() async throws {
        let probes = Probes(writeAheadLogBytes: { WriteAheadLogAlarm.boundBytes })
        let server = try TestServer(probes: probes)
        let running = Task {
            await server.service.work(on: [.counts]) { _ in
                try await Task.sleep(for: .milliseconds(1))
            }
        }
        while !server.logged.contains(where: { $0.contains("write-ahead log is large") }) {
            try await Task.sleep(for: .milliseconds(5))
        }
        running.cancel()
        await running.value
        let sample = "tideover_wal_bytes \(WriteAheadLogAlarm.boundBytes)"
        #expect(try await server.samples().contains(sample))
        await server.close()
    }
}

/// A disk that can be full, and a clock that moves only on request.
final class Disk: Sendable {
    private let now = Atomic<Int64>(0)
    private let full = Atomic(false)
    private let stopped = Atomic(false)
    private let written = Atomic(0)

    var writes: Int { written.load(ordering: .relaxed) }

    var isFull: Bool {
        get { full.load(ordering: .relaxed) }
        set { full.store(newValue, ordering: .relaxed) }
    }

    /// Whether each write waits until this is false again.
    var hangs: Bool {
        get { stopped.load(ordering: .relaxed) }
        set { stopped.store(newValue, ordering: .relaxed) }
    }

    var probes: Probes {
        Probes(uptime: { self.now.load(ordering: .relaxed) })
    }

    var faults: SQLiteFaults {
        SQLiteFaults { _ throws(StorageError) in
            self.written.wrappingAdd(1, ordering: .relaxed)
            while self.hangs { usleep(1_000) }
            if self.isFull { throw StorageError(.full, place: "the disk of a test") }
        }
    }

    func advance(by nanoseconds: Int64) {
        now.wrappingAdd(nanoseconds, ordering: .relaxed)
    }
}
