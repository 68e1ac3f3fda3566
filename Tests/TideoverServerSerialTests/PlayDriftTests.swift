import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

@testable import TideoverTestServer

/// A device that knows a later state of a Google Play purchase than the server.
@Suite struct PlayDriftTests {
    private static let end: Instant = "2026-06-01T10:00:00Z"
    private static let next: Instant = "2026-07-01T10:00:00Z"

    /// Creates a back end that received a purchase, and nothing until two days after its end.
    private func silent() async throws -> PlayBackEnd {
        let google = ScriptedPlay(TestTime(at: PlayBackEnd.start, movesClock: true))
        let (end, next) = (Self.end, Self.next)
        google.play("token-1") { now in
            ScriptedPlay.subscription("ACTIVE", until: now < end ? end : next)
        }
        let backEnd = try PlayBackEnd(google)
        #expect(try await backEnd.push(4, "token-1") == 200)
        backEnd.time.clock.now = end + .hours(49)
        return backEnd
    }

    /// Returns `cause healer` of the drift in the response to a device that reports the next
    /// period.
    private func report(to backEnd: PlayBackEnd) async throws -> [String] {
        let premium: JSONValue = ["access": true, "until": .string(Self.next.rfc3339)]
        let body: JSONValue = ["device": ["entitlements": ["premium": premium]]]
        let response = try await backEnd.service.handler(
            Request(
                method: "POST",
                path: "/v1/apps/cards/customers/\(TestServer.anna)/reconcile",
                query: [QueryItem(name: "environment", value: "production")],
                headers: TestServer.credentials,
                body: body.encoded()
            )
        )
        #expect(response.status == 200)
        let drift = JSONValue(try JSONDocument(response.body).root)["drift"]?.array ?? []
        return drift.map { drift in
            [drift["cause"], drift["healedBy"]].compactMap { $0?.string }.joined(separator: " ")
        }
    }

    @Test func `a read of Google Play heals the drift before the response`() async throws {
        let backEnd = try await silent()
        #expect(try await backEnd.words() == "expired unconfirmed unknown none")
        #expect(try await report(to: backEnd) == ["missed-notification asked"])
        #expect(try await backEnd.words() == "active paid confirmed access")
        #expect(backEnd.google.questions("token-1").count == 2)
        await backEnd.close()
    }

    /// Returns the outcomes of a request to ask the stores about the customer.
    private func refresh(_ backEnd: PlayBackEnd) async throws -> [String] {
        let response = try await backEnd.service.handler(
            Request(
                method: "POST",
                path: "/v1/apps/cards/customers/\(TestServer.anna)/refresh",
                query: [QueryItem(name: "environment", value: "production")],
                headers: TestServer.credentials
            )
        )
        #expect(response.status == 200)
        let asked = try JSONDocument(response.body).root["asked"]?.elements.map(\.self) ?? []
        return asked.compactMap { $0["outcome"]?.string }
    }

    @Test func `asking about a customer reads its purchases from Google Play`() async throws {
        let backEnd = try await silent()
        backEnd.google.fail { _ in Response(status: 503) }
        #expect(try await refresh(backEnd) == ["failed"])
        backEnd.google.fail(nil)
        backEnd.time.clock.now = backEnd.time.clock.now + .minutes(1)
        #expect(try await refresh(backEnd) == ["answered"])
        #expect(try await backEnd.words() == "active paid confirmed access")
        #expect(try await refresh(backEnd) == ["askedRecently"])
        await backEnd.close()
    }

    @Test func `the next report repeats the read when Google Play does not respond`() async throws {
        let backEnd = try await silent()
        backEnd.google.fail { _ in Response(status: 503) }
        #expect(try await report(to: backEnd) == ["missed-notification"])
        backEnd.google.fail(nil)
        backEnd.time.clock.now = backEnd.time.clock.now + .minutes(1)
        #expect(try await report(to: backEnd) == ["missed-notification asked"])
        await backEnd.close()
    }

    @Test func `a store that agrees with the server is not asked twice within a minute`()
        async throws
    {
        let backEnd = try await silent()
        let end = Self.end
        backEnd.google.play("token-1") { _ in ScriptedPlay.subscription("EXPIRED", until: end) }
        _ = try await report(to: backEnd)
        _ = try await report(to: backEnd)
        #expect(backEnd.google.questions("token-1").count == 2)
        #expect(try await backEnd.hasAccess() == false)
        await backEnd.close()
    }
}
