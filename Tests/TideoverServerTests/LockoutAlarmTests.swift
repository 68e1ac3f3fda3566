import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

/// Lockouts are raised when they become known, and once.
@Suite struct LockoutAlarmTests {
    /// One look, as the worker has it each hour.
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

    @Test func `a message that comes three hours late is raised, once`() async throws {
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

    @Test func `what takes its usual way is not raised, nor what was known before`() async throws {
        let server = try TestServer()
        server.set(Message.start + .hours(3))
        _ = try await server.post(.purchase())
        await look(server)
        var renewed = Message.purchase("n-2", signed: Message.end)
        renewed.type = "DID_RENEW"
        renewed.subtype = nil
        renewed.transaction?["transactionId"] = "2000000000000002"
        renewed.transaction?["webOrderLineItemId"] = "900000002"
        renewed.transaction?["purchaseDate"] = Message.end.wire
        renewed.transaction?["expiresDate"] = (Message.end + .days(30)).wire
        renewed.renewal?["renewalDate"] = (Message.end + .days(30)).wire
        server.set(Message.end + .minutes(4))
        #expect(try await server.post(renewed).status == 200)
        await look(server)
        #expect(alarms(server) == [])
        await server.close()
    }
}
