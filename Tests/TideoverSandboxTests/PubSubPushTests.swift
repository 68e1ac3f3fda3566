import Testing
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSandbox
import TideoverSignatures

/// The content of a push, in each format. https://cloud.google.com/pubsub/docs/push
@Suite struct PubSubPushTests {
    private static func push(_ form: PubSubPush.Form) -> PubSubPush {
        var push = PubSubPush(audience: "https://b.example/push", email: "pusher@p.example")
        push.form = form
        return push
    }

    /// Returns the first push of a test notification.
    private func attempt(_ form: PubSubPush.Form) async throws -> SimulatedGooglePlay.Attempt {
        let client = try await PlayClient(push: Self.push(form))
        try await client.store.requestTestNotification()
        return try #require(try await client.store.advance(to: PlayClient.start + 1000))
    }

    @Test func `a wrapped message is in an envelope with both spellings`() async throws {
        let attempt = try await attempt(.wrapped)
        let body = JSONValue(try JSONDocument(attempt.body).root)
        #expect(
            body["subscription"] == "projects/tideover-rehearsal/subscriptions/push"
        )
        let message = try #require(body["message"])
        #expect(message["messageId"] == .string(attempt.message.id))
        #expect(message["message_id"] == message["messageId"])
        #expect(message["publish_time"] == message["publishTime"])
        let data = Base64.decode(Array((message["data"]?.string ?? "").utf8), .standard)
        #expect(data == attempt.message.data)
    }

    @Test func `an unwrapped body is the published message, and metadata is in headers`()
        async throws
    {
        let bare = try await attempt(.unwrapped(writesMetadata: false))
        #expect(bare.body == bare.message.data)
        #expect(bare.headers["x-goog-pubsub-message-id"] == nil)
        let written = try await attempt(.unwrapped(writesMetadata: true))
        #expect(written.headers["x-goog-pubsub-message-id"] == written.message.id)
        #expect(
            written.headers["x-goog-pubsub-publish-time"] == "2026-05-01T10:00:00.000Z"
        )
    }

    @Test func `each attempt has a token of its own`() async throws {
        let client = try await PlayClient()
        try await client.store.requestTestNotification()
        let issued = Locked<[Int64]>([])
        try await client.store.advance(to: PlayClient.start + 12_000) { attempt in
            let bearer = attempt.headers["Authorization"]?.dropFirst("Bearer ".count) ?? ""
            let claims = try JSONDocument(try JWS(Array(bearer.utf8)).payload).root
            issued.withLock { $0.append(claims["iat"]?.int64 ?? 0) }
            #expect(claims["aud"]?.string == "https://b.example/push")
            return 500
        }
        let start = PlayClient.start / 1000
        #expect(issued.withLock { $0 } == [start + 1, start + 11])
    }
}
