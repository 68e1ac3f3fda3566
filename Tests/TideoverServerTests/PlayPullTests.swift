import Testing
import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Google Play notifications that are pulled instead of pushed.
@Suite struct PlayPullTests {
    /// A Pub/Sub subscription: its messages, and the requests it received.
    private final class Subscription: Sendable {
        private let state = Locked(State())

        private struct State {
            /// The responses to pulls; afterwards there are no messages.
            var answers: [Response] = []
            var acknowledged: [String] = []
            var putOff: [String: Int64] = [:]
        }

        var acknowledged: [String] { state.withLock { $0.acknowledged.sorted() } }
        var putOff: [String: Int64] { state.withLock { $0.putOff } }

        func answer(_ response: Response) { state.withLock { $0.answers.append(response) } }

        /// Adds messages with their acknowledgement ids.
        func hold(_ messages: [(ackId: String, data: JSONValue, id: String)]) {
            let received = messages.map { message -> JSONValue in
                let data = Base64.encodeString(message.data.encoded(), .standard)
                return [
                    "ackId": .string(message.ackId),
                    "message": ["data": .string(data), "messageId": .string(message.id)],
                ]
            }
            let body: JSONValue = ["receivedMessages": .array(received)]
            answer(Response(body: body.encoded()))
        }

        func respond(to request: Request) throws -> Response {
            let body = try JSONDocument(request.body).root
            let ids = body["ackIds"]?.elements.compactMap(\.string) ?? []
            return state.withLock { state in
                switch request.path {
                case "/v1/projects/p/subscriptions/s:pull":
                    let none = Response(body: Array("{}".utf8))
                    return state.answers.isEmpty ? none : state.answers.removeFirst()
                case "/v1/projects/p/subscriptions/s:acknowledge":
                    state.acknowledged += ids
                case "/v1/projects/p/subscriptions/s:modifyAckDeadline":
                    for id in ids { state.putOff[id] = body["ackDeadlineSeconds"]?.int64 }
                default: return Response(status: 404)
                }
                return Response(body: Array("{}".utf8))
            }
        }
    }

    private static func notice(_ type: Int64, _ token: String, at now: Instant) -> JSONValue {
        [
            "version": "1.0", "packageName": "com.example.cards",
            "eventTimeMillis": .string("\(now.millisecondsSince1970)"),
            "subscriptionNotification": [
                "version": "1.0", "notificationType": .integer(type),
                "purchaseToken": .string(token),
            ],
        ]
    }

    /// Creates a server that pulls until it has paused a number of times, and records each pause.
    private func server(
        _ play: TestPlay,
        _ subscription: Subscription,
        rests: Int = 1,
        _ rested: Locked<[Duration]> = Locked([])
    ) throws -> TestServer {
        try TestServer(
            googlePlay: play.trust(pubSub: { try subscription.respond(to: $0) }),
            sleep: { _ in
                { duration in
                    let count = rested.withLock { all in
                        all.append(duration)
                        return all.count
                    }
                    if count >= rests { throw CancellationError() }
                }
            }
        )
    }

    private static let june = TestPlay.subscription("ACTIVE", until: "2026-06-01T10:00:00Z")

    @Test func `a pulled message is processed like a push and then acknowledged`() async throws {
        let (play, subscription) = (TestPlay(), Subscription())
        let server = try server(play, subscription)
        play.answer("token-1", Self.june)
        subscription.hold([("a", Self.notice(4, "token-1", at: server.now), "7")])
        await server.service.work(on: [.pulls])
        #expect(subscription.acknowledged == ["a"])
        #expect(try await server.premium() == "active paid access")
        let arrivals = try await server.get(
            "/v1/apps/cards/arrivals?environment=sandbox&store=googlePlay"
        )
        let at = try JSONDocument(arrivals.body).root["lastArrivedAt"]?.string
        #expect(at == server.now.rfc3339)
        // The same message, pushed.
        let push = try TestPlay.push(TestPlay.notice(4), messageId: "7", at: server.now)
        let pushed = try await server.service.handler(push)
        #expect(try JSONDocument(pushed.body).root["status"]?.string == "duplicate")
        await server.close()
    }

    @Test func `a message that fails is not acknowledged and is delivered again`() async throws {
        let (play, subscription) = (TestPlay(), Subscription())
        let server = try server(play, subscription)
        play.answer("token-1", Self.june)
        play.answer("token-2") { Response(status: 429, headers: ["Retry-After": "45"]) }
        play.answer("token-3", status: 503)
        var other = Self.notice(4, "token-1", at: server.now).object ?? [:]
        other["packageName"] = "com.example.other"
        subscription.hold([
            ("good", Self.notice(4, "token-1", at: server.now), "1"),
            ("busy", Self.notice(4, "token-2", at: server.now), "2"),
            ("down", Self.notice(4, "token-3", at: server.now), "3"),
            ("other", .object(other), "4"), ("broken", ["version": "1.0"], "5"),
        ])
        await server.service.work(on: [.pulls])
        #expect(subscription.acknowledged == ["good"])
        #expect(
            subscription.putOff == ["busy": 45, "down": 10, "other": 600, "broken": 600]
        )
        let lines = server.logged.filter { $0.contains("pulled message not processed") }
        #expect(lines.count == 4)
        #expect(lines.filter { $0.contains(#""level":"error""#) }.count == 2)
        #expect(lines.contains { $0.contains("wrong-package") })
        await server.close()
    }

    @Test func `an unreadable message does not block the others`() async throws {
        let (play, subscription) = (TestPlay(), Subscription())
        let server = try server(play, subscription)
        let test: JSONValue = [
            "packageName": "com.example.cards", "testNotification": ["version": "1.0"],
            "eventTimeMillis": .integer(server.now.millisecondsSince1970),
        ]
        let data = Base64.encodeString(test.encoded(), .standard)
        let body: JSONValue = [
            "receivedMessages": [
                ["ackId": "a", "message": ["data": "%", "messageId": "1"]], ["ackId": "b"],
                ["ackId": "c", "message": ["data": .string(data), "messageId": "2"]],
            ]
        ]
        subscription.answer(Response(body: body.encoded()))
        await server.service.work(on: [.pulls])
        #expect(subscription.acknowledged == ["c"])
        #expect(subscription.putOff == ["a": 600, "b": 600])
        await server.close()
    }

    @Test func `the pull waits longer after each failure and resets after a response`()
        async throws
    {
        let (play, subscription) = (TestPlay(), Subscription())
        let rested = Locked<[Duration]>([])
        let server = try server(play, subscription, rests: 11, rested)
        for _ in 0..<9 { subscription.answer(Response(status: 503)) }
        await server.service.work(on: [.pulls])
        let seconds = rested.withLock { $0 }.map(\.components.seconds)
        #expect(seconds == [1, 2, 4, 8, 16, 32, 60, 60, 60, 1, 1])
        let told = server.logged.filter { $0.contains("worker failed") }
        #expect(told.count == 9)
        #expect(told.first?.contains("http-503") == true)
        await server.close()
    }

    @Test func `without a subscription nothing is pulled`() async throws {
        let server = try TestServer(googlePlay: TestPlay().trust())
        await server.service.work(on: [.pulls])
        await server.close()
    }

    @Test(arguments: [
        ("projects/p/subscriptions/s", true),
        ("projects/example.com:p-1/subscriptions/a.b_c~d", true),
        ("projects/p/topics/s", false), ("projects//subscriptions/s", false),
        ("projects/p/subscriptions/s/", false), ("projects/p/subscriptions/a b", false),
        ("projects/p/subscriptions/a?b", false), ("s", false),
    ])
    func `a subscription name has the format of Pub/Sub`(text: String, isOne: Bool) {
        #expect((PubSubSubscription(text) != nil) == isOne)
    }
}
