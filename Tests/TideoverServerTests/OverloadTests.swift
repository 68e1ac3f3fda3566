import Testing
import TideoverHTTP
import TideoverJSON
import TideoverServer

@testable import TideoverTestServer

/// More notifications than can be verified at once.
@Suite(.timeLimit(.minutes(20))) struct OverloadTests {
    @Test func `excess notifications are rejected for a retry, and reads are still served`()
        async throws
    {
        let server = try TestServer(verifications: WorkLimits(running: 1, waiting: 1))
        let gate = server.service.verifications
        let holder = Holder(gate)
        let waiting = Task { try await server.post(.purchase()) }
        try await gate.settles { $0.waiting == 1 }

        let turnedAway = try await server.post(.purchase("n-2"))
        #expect(turnedAway.status == 503)
        #expect(turnedAway.headers["Retry-After"] == "1")
        let problem = try JSONDocument(turnedAway.body).root
        #expect(problem["type"]?.string == "/problems/overloaded")
        #expect(try await server.premium() == "never unknown none")
        #expect(try await server.get("/readyz").status == 200)

        try await holder.release()
        #expect(try await waiting.value.status == 200)
        #expect(try await server.premium() == "active paid access")
        #expect(try await server.post(.purchase("n-2")).status == 200)
        let samples = try await server.samples()
        #expect(samples.contains("tideover_verifications_turned_away_total 1"))
        #expect(samples.contains(#"tideover_notifications_total{app="cards",outcome="failed"} 1"#))
        #expect(try await server.counts() == [])
        await server.close()
    }

    @Test func `a client that disconnects while it waits cancels its notification`() async throws {
        let server = try TestServer(verifications: WorkLimits(running: 1, waiting: 1))
        let gate = server.service.verifications
        let holder = Holder(gate)
        let waiting = Task { try await server.post(.purchase()) }
        try await gate.settles { $0.waiting == 1 }
        waiting.cancel()
        #expect(try await waiting.value.status == 503)
        #expect(gate.reading.waiting == 0)
        #expect(server.logged.contains { $0.contains(#""code":"interrupted""#) })
        try await holder.release()
        #expect(try await server.premium() == "never unknown none")
        await server.close()
    }
}
