import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

/// Each lockout raises one alarm when it becomes known.
@Suite struct LockoutAlarmTests {
    /// Runs one check, like the worker each hour.
    private func look(_ server: TestServer) async {
        await server.service.watchForLockouts(sleep: { _ in throw CancellationError() })
    }

    private func alarms(_ server: TestServer) -> [String] {
        server.logged.filter { $0.contains("customers were locked out") }
    }

    private func seconds(_ server: TestServer) async throws -> [String] {
        try await server.samples().filter {
            $0.hasPrefix("tideover_lockout_seconds_total") && !$0.hasSuffix(" 0")
        }
    }

    @Test func `a message that is three hours late raises one alarm`() async throws {
        let server = try TestServer()
        server.set(Message.start)
        await look(server)
        server.set(Message.start + .hours(3))
        _ = try await server.post(.purchase())
        #expect(alarms(server) == [])
        await look(server)
        #expect(alarms(server).count == 1)
        #expect(alarms(server).allSatisfy { $0.contains("purchases 1, notHeard 180 min") })
        #expect(!alarms(server).contains { $0.contains(TestServer.anna) })
        let series = #"tideover_lockout_seconds_total{app="cards",cause="notHeard"} 10800"#
        #expect(try await seconds(server) == [series])
        await look(server)
        server.set(Message.start + .hours(9))
        await look(server)
        #expect(alarms(server).count == 1)
        #expect(try await seconds(server) == [series])
        await server.close()
    }

    @Test func `prompt messages and earlier lockouts raise no alarm`() async throws {
        let server = try TestServer()
        server.set(Message.start + .hours(3))
        _ = try await server.post(.purchase())
        await look(server)
        server.set(Message.end + .minutes(4))
        #expect(try await server.post(.renewed()).status == 200)
        await look(server)
        #expect(alarms(server) == [])
        await server.close()
    }

    @Test func `a payer denied during an outage of Google Play is reported and raises an alarm`()
        async throws
    {
        let play = TestPlay()
        let server = try TestServer(googlePlay: play.trust())
        await look(server)
        play.answer("token-1", TestPlay.subscription("ACTIVE", until: "2026-06-01T10:00:00Z"))
        let bought = try TestPlay.push(TestPlay.notice(4), messageId: "1", at: server.now)
        #expect(try await server.service.handler(bought).status == 200)
        let asked: Instant = "2026-06-27T10:00:00Z"
        server.set(asked)
        play.set(asked)
        play.answer("token-1", TestPlay.subscription("ACTIVE", until: "2026-07-01T10:00:00Z"))
        let renewed = try TestPlay.push(TestPlay.notice(2), messageId: "2", at: asked)
        #expect(try await server.service.handler(renewed).status == 200)
        let report = try await server.get("/v1/reports/lockouts?app=cards")
        let rows = try #require(JSONDocument(report.body).root["rows"]).elements
        let row = rows.first { $0["environment"]?.string == "sandbox" }
        // Access was presumed for two days after the end; the purchase arrived five seconds late.
        let minutes = Double(24 * 24 * 60) + 5.0 / 60
        #expect(row?["purchases"]?.int64 == 1)
        #expect(row?["ours"]?["minutes"]?.double == minutes)
        #expect(row?["ours"]?["causes"]?["saidLater"]?.double == minutes)
        #expect(row?["expiryCheck"]?["minutes"]?.double == minutes + 2 * 24 * 60)
        await look(server)
        #expect(alarms(server).count == 1)
        await server.close()
    }
}
