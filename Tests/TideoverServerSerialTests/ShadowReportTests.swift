import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// RevenueCat's responses compared with our answers.
struct ShadowReportTests {
    private static let grace: Instant = "2026-06-17T10:00:00Z"

    private func server(at now: Instant) throws -> TestServer {
        let server = try TestServer(
            revenueCat: TestRevenueCat().trust(),
            environments: [.production, .sandbox]
        )
        server.set(now)
        return server
    }

    private func take(_ server: TestServer, _ answers: [UInt8]...) async throws {
        let response = try await server.send(
            "POST",
            "/v1/apps/cards/imports/revenuecat",
            body: Array(answers.joined(separator: [UInt8(ascii: "\n")]))
        )
        #expect(response.status == 200)
    }

    private func ask(_ server: TestServer, _ target: String) async throws -> JSONValue {
        JSONValue(try JSONDocument(try await server.get(target).body).root)
    }

    private func shadow(_ server: TestServer) async throws -> JSONValue {
        try await ask(
            server,
            "/v1/apps/cards/customers/\(TestServer.anna)/shadow?environment=sandbox"
        )
    }

    /// Returns a payment that failed at the end of the month, with the store's grace period.
    private func failed() -> Message {
        var message = Message.purchase("n-2", signed: TestRevenueCat.end + .seconds(1))
        message.type = "DID_FAIL_TO_RENEW"
        message.subtype = "GRACE_PERIOD"
        message.status = 4
        message.renewal?["isInBillingRetryPeriod"] = true
        message.renewal?["gracePeriodExpiresDate"] = Self.grace.wire
        return message
    }

    @Test func `an equal answer is not a difference`() async throws {
        let server = try server(at: "2026-05-11T00:00:00Z")
        #expect(try await server.post(.purchase()).status == 200)
        try await take(server, TestRevenueCat.answer())
        let shadow = try await shadow(server)
        #expect(shadow["differences"] == [])
        #expect(shadow["lockoutMinutes"]?.double == 0)
        let report = try await ask(server, "/v1/reports/shadow?app=cards&environment=sandbox")
        #expect(report["customers"] == 1)
        #expect(report["differing"] == 0)
        await server.close()
    }

    @Test func `a corrected response is compared, not the one it corrects`() async throws {
        let server = try server(at: "2026-05-11T00:00:00Z")
        #expect(try await server.post(.purchase()).status == 200)
        let wrong: JSONObject = ["expires_date": "2026-05-05T10:00:00Z"]
        try await take(server, TestRevenueCat.answer(TestServer.anna, wrong))
        #expect(try await shadow(server)["differences"]?.array?.isEmpty == false)
        server.set("2026-05-11T01:00:00Z")
        try await take(server, TestRevenueCat.answer())
        let shadow = try await shadow(server)
        #expect(shadow["answers"] == 2)
        #expect(shadow["differences"] == [])
        await server.close()
    }

    @Test func `an imported response whose key names no customer is left out`() async throws {
        let server = try server(at: "2026-05-11T00:00:00Z")
        let text = #"{"n": 1}"#
        let id = EvidenceID(of: Array(text.utf8)).hex
        let lines = """
            {"format": "tideover-export", "version": 1, "app": "cards", "holds": "everything"}
            {"kind": "evidence", "environment": "sandbox", "id": "\(id)", "dedupeKey": \
            "revenuecat-answer:abc", "source": "revenueCatAPI", "signedAt": null, "receivedAt": \
            "2026-05-01T00:00:00Z", "text": "{\\"n\\": 1}"}
            """
        let body = Array(lines.utf8)
        let imported = try await server.send("POST", "/v1/apps/cards/import", body: body)
        #expect(imported.status == 200)
        #expect(try JSONDocument(imported.body).root["refused"]?.elements.map(\.source).count == 0)
        let report = try await server.get("/v1/reports/shadow?app=cards&environment=sandbox")
        #expect(report.status == 200)
        await server.close()
    }

    @Test func `a grace that RevenueCat misses is a difference with rule, evidence and minutes`()
        async throws
    {
        let server = try server(at: "2026-06-05T10:00:00Z")
        #expect(try await server.post(.purchase()).status == 200)
        #expect(try await server.post(failed()).status == 200)
        // The response of 3 June reports that the month ended two days before, without grace.
        try await take(server, TestRevenueCat.answer(at: "2026-06-03T10:00:00Z"))
        let shadow = try await shadow(server)
        let difference = shadow["differences"]?.array?.first
        #expect(difference?["kind"] == "denied-there")
        #expect(difference?["rule"] == "in-grace")
        #expect(difference?["entitlement"] == "premium")
        #expect(difference?["evidence"]?.array?.isEmpty == false)
        #expect(difference?["theirs"]?["access"] == false)
        #expect(difference?["ours"]?["state"] == "grace")
        // Two days, from the response until now.
        #expect(difference?["lockoutMinutes"]?.double == 2880)
        #expect(shadow["lockoutMinutes"]?.double == 2880)
        let report = try await ask(server, "/v1/reports/shadow?app=cards&environment=sandbox")
        #expect(report["differing"] == 1)
        #expect(report["lockoutMinutes"]?.double == 2880)
        await server.close()
    }

    @Test func `an old answer is compared only within its own validity`() async throws {
        let server = try server(at: "2026-06-05T10:00:00Z")
        #expect(try await server.post(.purchase()).status == 200)
        #expect(try await server.post(failed()).status == 200)
        // In May the failure was unknown: the response is valid until the end of the month.
        try await take(server, TestRevenueCat.answer(at: "2026-05-10T10:00:00Z"))
        #expect(try await shadow(server)["lockoutMinutes"]?.double == 0)
        await server.close()
    }

    @Test func `access that only RevenueCat gives is reported with the server's rule`() async throws
    {
        let server = try server(at: "2026-06-05T10:00:00Z")
        #expect(try await server.post(.purchase()).status == 200)
        var expired = Message.purchase("n-2", signed: TestRevenueCat.end + .seconds(1))
        expired.type = "EXPIRED"
        expired.subtype = "VOLUNTARY"
        expired.status = 2
        expired.renewal?["autoRenewStatus"] = 0
        expired.renewal?["expirationIntent"] = 1
        #expect(try await server.post(expired).status == 200)
        let later: JSONObject = [
            "expires_date": "2026-07-01T10:00:00Z", "store_transaction_id": .null,
        ]
        try await take(server, TestRevenueCat.answer(at: "2026-06-03T10:00:00Z", later))
        let difference = try await shadow(server)["differences"]?.array?.first
        #expect(difference?["kind"] == "denied-here")
        #expect(difference?["rule"] == "ended-stated")
        #expect(difference?["lockoutMinutes"]?.double == 0)
        await server.close()
    }

    @Test func `the pages contain every customer once`() async throws {
        let server = try server(at: "2026-05-11T00:00:00Z")
        let names = ["a", "a:b", "a b", "b", "c", "ä"]
        for name in names {
            let id: JSONObject = ["store_transaction_id": .string("7" + name)]
            try await take(
                server,
                TestRevenueCat.answer(name, at: "2026-05-09T10:00:00Z", id),
                TestRevenueCat.answer(name, at: "2026-05-10T10:00:00Z", id)
            )
        }
        var found: Int64 = 0
        var after = ""
        for _ in 0..<names.count {
            let page = try await ask(
                server,
                "/v1/reports/shadow?app=cards&environment=sandbox&limit=2\(after)"
            )
            found += page["customers"]?.int64 ?? 0
            guard page["more"] == true, let next = page["next"]?.string else { break }
            after = "&after=\(PercentEncoding.encode(next))"
        }
        #expect(found == Int64(names.count))
        await server.close()
    }

    @Test func `a report without data to compare is rejected`() async throws {
        let server = try server(at: "2026-05-11T00:00:00Z")
        #expect(try await server.get("/v1/apps/cards/customers/u/shadow").status == 404)
        #expect(try await server.get("/v1/reports/shadow").status == 400)
        #expect(try await server.get("/v1/reports/shadow?app=rehearsal").status == 404)
        #expect(try await server.ask("GET", "/v1/reports/shadow?app=cards").status == 401)
        await server.close()
    }
}
