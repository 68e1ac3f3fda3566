import Testing
import TideoverHTTP
import TideoverJSON
import TideoverSandbox

/// A pull subscription. https://cloud.google.com/pubsub/docs/pull
@Suite struct PubSubPullTests {
    private static let path = "/v1/projects/tideover-rehearsal/subscriptions/pull"

    private func pull(_ client: PlayClient, atMost count: Int64 = 10) async throws -> [JSONValue] {
        let body: JSONObject = ["maxMessages": .integer(count)]
        let answer = try await client.answer("POST", "\(Self.path):pull", body, scope: .pubSub)
        return answer["receivedMessages"]?.array ?? []
    }

    private func ids(_ received: [JSONValue]) -> [String?] {
        received.map { $0["message"]?["messageId"]?.string }
    }

    private func tell(
        _ client: PlayClient,
        _ verb: String,
        _ received: [JSONValue],
        _ more: JSONObject = [:]
    ) async throws {
        var body: JSONObject = ["ackIds": .array(received.compactMap { $0["ackId"] })]
        for (name, value) in more { body[name] = value }
        let answer = try await client.answer("POST", "\(Self.path):\(verb)", body, scope: .pubSub)
        #expect(answer == [:])
    }

    private func pass(_ client: PlayClient, seconds: Int64) async throws {
        let instant = await client.store.now + seconds * 1000
        try await client.store.advance(to: instant) { _ in 204 }
    }

    @Test func `a pulled message has the clock's time and waits by the store's time`()
        async throws
    {
        let shown = PlayClient.start + 1_000_000
        let dial = StoreTimeScale(from: PlayClient.start, at: shown, month: StoreTimeScale.month)
        let client = try await PlayClient(dial: dial)
        try await client.store.requestTestNotification()
        try await pass(client, seconds: 2)
        let times = try await pull(client).map { $0["message"]?["publishTime"]?.string }
        #expect(times == [InstantText.write(shown)])
    }

    @Test func `an unpulled message is kept for a week`() async throws {
        let client = try await client()
        try await pass(client, seconds: 8 * 86_400)
        try await client.store.requestTestNotification()
        #expect(await client.store.unacknowledged.count == 1)
    }

    /// Returns a store that has published three messages.
    private func client() async throws -> PlayClient {
        let client = try await PlayClient()
        for _ in 0..<3 { try await client.store.requestTestNotification() }
        try await pass(client, seconds: 1)
        return client
    }

    @Test func `a pulled message returns after its deadline until it is acknowledged`()
        async throws
    {
        let client = try await client()
        let first = try await pull(client, atMost: 2)
        #expect(first.count == 2)
        #expect(try await pull(client).count == 1)
        #expect(try await pull(client).isEmpty)
        try await tell(client, "acknowledge", [first[0]])
        try await pass(client, seconds: 10)
        let again = try await pull(client)
        #expect(again.count == 2)
        #expect(ids(again).first == ids(first)[1])
        #expect(again.first?["ackId"] != first[1]["ackId"])
        // The old id has expired, and that is no error.
        try await tell(client, "acknowledge", [first[1]])
        #expect(await client.store.unacknowledged.count == 2)
        try await tell(client, "acknowledge", again)
        #expect(await client.store.unacknowledged.isEmpty)
    }

    @Test func `a deadline can be moved, and a deadline of zero returns the message`() async throws
    {
        let client = try await client()
        let received = try await pull(client)
        try await tell(client, "modifyAckDeadline", [received[0]], ["ackDeadlineSeconds": 60])
        try await tell(client, "modifyAckDeadline", [received[1]], ["ackDeadlineSeconds": 0])
        #expect(ids(try await pull(client)) == [ids(received)[1]])
        try await pass(client, seconds: 59)
        #expect(!ids(try await pull(client)).contains(ids(received)[0]))
        try await pass(client, seconds: 1)
        #expect(ids(try await pull(client)).contains(ids(received)[0]))
    }

    @Test func `a message has the published content and its metadata`() async throws {
        let client = try await client()
        let message = try #require(try await pull(client).first?["message"])
        let text = Array((message["data"]?.string ?? "").utf8)
        let data = try #require(Base64.decode(text, .standard))
        let notification = try JSONDocument(data).root
        #expect(notification["packageName"]?.string == PlayClient.packageName)
        #expect(notification["testNotification"] != nil)
        #expect(message["publishTime"]?.string == "2026-05-01T10:00:00.000Z")
    }

    @Test func `an unacknowledged message is kept for a week`() async throws {
        let client = try await client()
        try await client.pass(days: 6)
        #expect(try await pull(client).count == 3)
        try await client.pass(days: 1)
        #expect(try await pull(client).isEmpty)
    }

    @Test func `other subscriptions, invalid calls and other tokens are refused`() async throws {
        let client = try await client()
        let one: JSONObject = ["maxMessages": 1]
        let other = "/v1/projects/tideover-rehearsal/subscriptions/other:pull"
        #expect(try await client.error("POST", other, one, scope: .pubSub) == "404 notFound")
        let pull = "\(Self.path):pull"
        #expect(try await client.error("POST", pull, [:], scope: .pubSub) == "400 invalid")
        #expect(try await client.error("POST", pull, one) == "403 insufficientPermissions")
        let acknowledge = "\(Self.path):acknowledge"
        let none: JSONObject = ["ackIds": []]
        #expect(try await client.error("POST", acknowledge, none, scope: .pubSub) == "400 invalid")
        #expect(try await client.answer("POST", pull, one, scope: .cloudPlatform) != [:])
    }
}
