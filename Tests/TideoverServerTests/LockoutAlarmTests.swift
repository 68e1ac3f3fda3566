import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Each lockout raises one alarm when it becomes known.
@Suite struct LockoutAlarmTests {
    /// Derives all stale figures, like the worker.
    private func look(_ server: TestServer) async {
        await server.service.work(on: [.figures]) { duration in
            if duration > .seconds(1) { throw CancellationError() }
        }
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

    @Test func `a late message is no lockout of a customer with a grant`() async throws {
        let server = try TestServer()
        server.set(Message.start)
        await look(server)
        let path = "/v1/apps/cards/customers/\(TestServer.anna)"
        let grant = try await server.send(
            "POST",
            "\(path)/grants?environment=sandbox",
            body: Array(#"{"entitlement": "premium", "days": 7, "why": "a gift"}"#.utf8)
        )
        #expect(grant.status == 201)
        server.set(Message.start + .hours(3))
        _ = try await server.post(.purchase())
        await look(server)
        #expect(alarms(server) == [])
        #expect(try await seconds(server) == [])
        let told = try await server.get("\(path)/explain?environment=sandbox")
        let root = try JSONDocument(told.body).root
        let premium = root["lockouts"]?["premium"]
        #expect(premium?["purchases"]?.int64 == 1)
        #expect(premium?["entitledMinutes"]?.double == 180)
        #expect(premium?["ours"]?["minutes"]?.double == 0)
        // The back end with an expiry check has no grants.
        #expect(premium?["expiryCheck"]?["minutes"]?.double == 180)
        let reply = root["entitlements"]?["premium"]?["reply"]
        let sentences = reply?.elements.compactMap(\.string).joined(separator: " ") ?? ""
        #expect(!sentences.contains("without access"))
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

    @Test func `an alarm compares with figures of its own version alone`() async throws {
        for form in [FiguresForm.bytes(of: ReportFigures()), Array("another version".utf8)] {
            let server = try TestServer()
            await look(server)
            _ = try await server.post(.purchase())
            let scope = (app: "cards", environment: Environment.sandbox)
            let stale = try server.storage.staleFigures(
                in: AppScope(scope.app, scope.environment),
                limit: 10
            )
            let lineages = stale.subjects.map(\.subject).filter { $0.kind == .lineage }
            let update = FiguresUpdate(
                app: scope.app,
                environment: scope.environment,
                stamp: 0,
                done: StaleFiguresPage(turn: stale.turn, subjects: []),
                forms: Dictionary(uniqueKeysWithValues: lineages.map { ($0, form) })
            )
            #expect(try await server.storage.keep(update))
            server.set(Message.end + .hours(30))
            #expect(try await server.post(.renewed()).status == 200)
            await look(server)
            let isOwn = FiguresForm.figures(form) != nil
            #expect(alarms(server).count == (isOwn ? 1 : 0))
            await server.close()
        }
    }

    @Test func `a lockout raises no second alarm when figures are derived again`() async throws {
        let server = try TestServer()
        await look(server)
        server.set(Message.start + .hours(3))
        _ = try await server.post(.purchase())
        await look(server)
        let marked = try await server.storage.markFigures(
            in: AppScope("cards", .sandbox),
            otherThan: 0,
            after: nil,
            limit: 1
        )
        #expect(marked != nil)
        await look(server)
        #expect(alarms(server).count == 1)
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
