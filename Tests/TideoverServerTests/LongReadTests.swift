import Foundation
import Glibc
import Testing
import TideoverHTTP
import TideoverJSON
import TideoverServer

@testable import TideoverTestServer

/// Reports read the whole storage without blocking other requests.
@Suite(.timeLimit(.minutes(20))) struct LongReadTests {
    @Test func `more long reads than processors leave the pool free`() async throws {
        let count = ProcessInfo.processInfo.activeProcessorCount + 2
        let begun = DispatchSemaphore(value: 0)
        let end = DispatchSemaphore(value: 0)
        try await withThrowingTaskGroup { group in
            for _ in 0..<count {
                group.addTask {
                    try await onQuietThread { _ in
                        begun.signal()
                        end.wait()
                    }
                }
            }
            // Wait on a separate thread; waiting on Swift's pool would occupy one of its threads.
            try await onQuietThread { _ in for _ in 0..<count { begun.wait() } }
            #expect(try await onPool { 1 } == 1)
            let server = try TestServer()
            #expect(try await server.post(.purchase()).status == 200)
            #expect(try await server.premium() == "active paid access")
            await server.close()
            for _ in 0..<count { end.signal() }
            try await group.waitForAll()
        }
    }

    @Test func `only the thread of a long read has a lower priority`() async throws {
        let process = Int32(PRIO_PROCESS.rawValue)
        let ours = try await onPool { getpriority(process, 0) }
        let theirs = try await onQuietThread { _ in getpriority(process, 0) }
        #expect(theirs == max(ours, 15))
        #expect(try await onPool { getpriority(process, 0) } == ours)
    }

    @Test func `a cancelled long read ends`() async throws {
        let begun = DispatchSemaphore(value: 0)
        let walk = Task {
            try await onQuietThread { read in
                begun.signal()
                while true { try read.goOn() }
            }
        }
        try await onQuietThread { _ in begun.wait() }
        walk.cancel()
        await #expect(throws: CancellationError.self) { try await walk.value }
    }

    @Test(arguments: ["lockouts", "arrival", "drift"])
    func `one report of an app runs, four wait, and further ones are rejected`(
        _ report: String
    ) async throws {
        let server = try TestServer()
        let gate = server.service.longReads["cards"]
        let holder = Holder(gate)
        let path = "/v1/reports/\(report)?app=cards"
        let waiting = (0..<4).map { _ in Task { try await server.get(path) } }
        try await gate.settles { $0.waiting == 4 }
        let waits = #"tideover_reports_waiting{app="cards"} 4"#
        #expect(try await server.samples().contains(waits))

        let putOff = try await server.get(path)
        #expect(putOff.status == 503)
        #expect(putOff.headers["Retry-After"] == "30")
        let problem = try JSONDocument(putOff.body).root
        #expect(problem["type"]?.string == "/problems/reports-busy")
        #expect(try await server.get("/v1/reports/\(report)?app=rehearsal").status == 200)
        #expect(try await server.post(.purchase()).status == 200)
        #expect(try await server.premium() == "active paid access")

        waiting[0].cancel()
        #expect(try await waiting[0].value.status == 503)
        try await holder.release()
        for each in waiting.dropFirst() { #expect(try await each.value.status == 200) }
        #expect(gate.isIdle)
        await server.close()
    }
}
