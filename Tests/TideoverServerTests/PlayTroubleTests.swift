import Testing
import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSQLite
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Failures between Google Play and the server: nothing is lost, and nothing unverified is
/// accepted.
@Suite struct PlayTroubleTests {
    private struct Unreachable: Error {}

    /// Creates Anna's subscription, pushed and read.
    private func bought() async throws -> (TestServer, TestPlay) {
        let play = TestPlay()
        let server = try TestServer(googlePlay: play.trust())
        play.answer("token-1", TestPlay.subscription("ACTIVE", until: "2026-06-01T10:00:00Z"))
        #expect(try await push(server, "1").status == 200)
        return (server, play)
    }

    private func push(_ server: TestServer, _ messageId: String) async throws -> Response {
        try await server.service.handler(
            TestPlay.push(TestPlay.notice(2), messageId: messageId, at: server.now)
        )
    }

    private func inquiries(_ server: TestServer) throws -> [Inquiry.Outcome] {
        try server.storage.lineages(in: AppScope("cards", .sandbox), after: nil, limit: 9)
            .flatMap(\.facts).compactMap { fact in
                if case .inquiry(let inquiry) = fact.assertion { inquiry.outcome } else { nil }
            }
    }

    private static func quota(_ word: String) -> [UInt8] {
        let error: JSONValue = ["error": ["errors": [["reason": .string(word)]]]]
        return error.encoded()
    }

    static let failures: [(Response, Inquiry.Outcome)] = [
        (Response(status: 403, body: quota("quotaExceeded")), .throttled),
        (Response(status: 403, body: quota("rateLimitExceeded")), .throttled),
        (Response(status: 429), .throttled), (Response(status: 403), .refused),
        (Response(status: 500), .unreachable), (Response(status: 502), .unreachable),
        (Response(status: 503), .unreachable), (Response(body: Array("{".utf8)), .unreachable),
    ]

    @Test(arguments: failures)
    func `a failure is recorded with its kind, and the push is repeated`(
        answer: Response,
        outcome: Inquiry.Outcome
    ) async throws {
        let (server, play) = try await bought()
        play.answer("token-1") { answer }
        #expect(try await push(server, "2").status == 503)
        #expect(try inquiries(server) == [outcome])
        #expect(try await server.premium() == "active paid access")
        await server.close()
    }

    @Test func `the next push repeats the request to an unreachable store`() async throws {
        let (server, play) = try await bought()
        play.answer("token-1") { throw Unreachable() }
        #expect(try await push(server, "2").status == 503)
        #expect(try inquiries(server) == [.unreachable])
        await server.close()
    }

    @Test func `the delay that the store requires is returned to Pub/Sub`() async throws {
        let (server, play) = try await bought()
        play.answer("token-1") { Response(status: 429, headers: ["Retry-After": "120"]) }
        #expect(try await push(server, "2").headers["Retry-After"] == "120")
        await server.close()
    }

    @Test(arguments: [
        (Response(status: 503), Inquiry.Outcome.unreachable),
        (
            Response(status: 400, body: Array(#"{"error":"invalid_grant"}"#.utf8)),
            .refused
        ),
    ])
    func `without an access token no request is sent, and the push is repeated`(
        answer: Response,
        outcome: Inquiry.Outcome
    ) async throws {
        let (server, play) = try await bought()
        let asked = play.questions
        // The current one is valid for an hour.
        server.set("2026-05-01T12:00:00Z")
        play.set("2026-05-01T12:00:00Z")
        play.answerAccess(answer)
        #expect(try await push(server, "2").status == 503)
        #expect(try inquiries(server) == [outcome])
        #expect(play.questions == asked)
        play.answerAccess(nil)
        #expect(try await push(server, "2").status == 200)
        await server.close()
    }

    @Test(arguments: [404, 410])
    func `a removed purchase keeps its last state`(
        status: Int
    ) async throws {
        let (server, play) = try await bought()
        play.answer("token-1", status: status)
        #expect(try await push(server, "2").status == 200)
        #expect(try inquiries(server) == [.gone])
        #expect(try await server.premium() == "active paid access")
        await server.close()
    }

    @Test(arguments: ["a b", "..", String(repeating: "x", count: 2000)])
    func `a push about a token that no request can contain is not repeated`(
        token: String
    ) async throws {
        let play = TestPlay()
        let server = try TestServer(googlePlay: play.trust())
        let push = try TestPlay.push(TestPlay.notice(4, token), messageId: "1", at: server.now)
        #expect(try await server.service.handler(push).status == 200)
        #expect(play.questions.isEmpty)
        await server.close()
    }

    @Test func `a push about a token that the store calls invalid is repeated for an hour`()
        async throws
    {
        let (server, play) = try await bought()
        let body = Array(#"{"error": {"code": 400, "status": "INVALID_ARGUMENT"}}"#.utf8)
        for token in ["token-1", "token-2"] {
            play.answer(token) { Response(status: 400, body: body) }
        }
        // A known purchase keeps its last state.
        #expect(try await push(server, "2").status == 200)
        #expect(try await server.premium() == "active paid access")
        var notice = TestPlay.notice(4, "token-2")
        notice["eventTimeMillis"] = .string("\(server.now.millisecondsSince1970)")
        let new = try TestPlay.push(notice, messageId: "3", at: server.now)
        #expect(try await server.service.handler(new).status == 503)
        server.set(server.now + .minutes(59))
        play.set(server.now)
        let repeated = try TestPlay.push(notice, messageId: "3", at: server.now)
        #expect(try await server.service.handler(repeated).status == 503)
        server.set(server.now + .minutes(2))
        play.set(server.now)
        let last = try TestPlay.push(notice, messageId: "3", at: server.now)
        #expect(try await server.service.handler(last).status == 200)
        await server.close()
    }

    @Test func `a message repeated before the store responds is stored once`() async throws {
        let (server, play) = try await bought()
        let gate = Latch()
        let answer = TestPlay.subscription("CANCELED", until: "2026-06-01T10:00:00Z")
        play.answer("token-1") {
            await gate.wait()
            return Response(body: JSONValue.object(answer).encoded())
        }
        let words = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    let response = try await push(server, "2")
                    return try JSONDocument(response.body).root["status"]?.string
                }
            }
            while play.questions.count < 3 { await Task.yield() }
            await gate.open()
            return try await group.reduce(into: [String?]()) { $0.append($1) }
        }
        #expect(Set(words) == ["committed", "duplicate"])
        await server.close()
    }

    // MARK: Senders

    @Test func `many unknown keys cause one fetch of Google's keys in five minutes`() async throws {
        let (server, play) = try await bought()
        #expect(play.keyFetches == 1)
        for number in 0..<50 {
            let request = try TestPlay.push(
                TestPlay.notice(4),
                messageId: "storm-\(number)",
                at: server.now,
                keyId: "key-\(number)"
            )
            #expect(try await server.service.handler(request).status == 401)
        }
        #expect(play.keyFetches == 1)
        for minutes in [Int64(5), 6] {
            let now: Instant = "2026-05-01T10:00:05Z" + .minutes(minutes)
            server.set(now)
            play.set(now)
            let request = try TestPlay.push(
                TestPlay.notice(4),
                messageId: "later",
                at: now,
                keyId: "key-x"
            )
            #expect(try await server.service.handler(request).status == 401)
            #expect(play.keyFetches == 2)
        }
        #expect(play.questions.count == 1)
        await server.close()
    }

    @Test(
        arguments: [
            ["aud": "https://other.example"], ["email": "other@p.example"],
            ["email_verified": false],
            ["exp": 5], ["iss": "https://x.example"], nil,
        ] as [JSONObject?]
    )
    func `a rejected push stores nothing`(claims: JSONObject?) async throws {
        let play = TestPlay()
        let server = try TestServer(googlePlay: play.trust())
        play.answer("token-1", TestPlay.subscription("ACTIVE", until: "2026-06-01T10:00:00Z"))
        var request = try TestPlay.push(
            TestPlay.notice(4),
            messageId: "1",
            at: server.now,
            claims: claims ?? [:]
        )
        if claims == nil { request.headers = [:] }
        #expect(try await server.service.handler(request).status == 401)
        #expect(play.questions.isEmpty)
        for environment in [Environment.sandbox, .simulated] {
            let kept = try server.storage.evidence(
                in: AppScope("cards", environment),
                after: nil,
                limit: 9
            )
            #expect(kept.isEmpty)
        }
        await server.close()
    }
}

/// Blocks callers until it is opened.
private actor Latch {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func wait() async {
        if isOpen { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    func open() {
        isOpen = true
        for continuation in waiting { continuation.resume() }
        waiting = []
    }
}
