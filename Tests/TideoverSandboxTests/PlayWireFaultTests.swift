import Testing
import TideoverHTTP
import TideoverJSON
import TideoverSandbox
import TideoverSignatures

/// The received pushes after a delivery fault.
@Suite struct PlayWireFaultTests {
    private static let audience = "https://b.example/push"

    private struct Heard {
        let at: Int64
        let message: String
        let body: [UInt8]
        let token: String

        var told: JSONValue? {
            guard let envelope = try? JSONDocument(body).root,
                let data = envelope["message"]?["data"]?.string,
                let bytes = Base64.decode(Array(data.utf8), .standard),
                let told = try? JSONDocument(bytes).root
            else { return nil }
            return JSONValue(told)
        }

        var kind: Int64? { told?["subscriptionNotification"]?["notificationType"]?.int64 }
    }

    /// Pushes two messages: a purchase, and its cancellation a minute later. Returns the pushes
    /// that arrive within the minutes; invalid ones are rejected.
    private func arriving(
        _ fault: PlayWireFault,
        within minutes: Int64 = 30,
        _ client: PlayClient
    ) async throws -> [Heard] {
        await client.store.add(PlayWireFaultRule(fault))
        try await client.store.perform(
            .subscribe(to: [GooglePlayChoice("cards.pro")], payment: .prompt, from: .app),
            by: "anna"
        )
        var heard: [Heard] = []
        try await hear(until: PlayClient.start + 60_000, client, &heard)
        try await client.store.perform(.cancel(product: nil, survey: nil), by: "anna")
        try await hear(until: PlayClient.start + minutes * 60_000, client, &heard)
        return heard
    }

    private func hear(
        until instant: Int64,
        _ client: PlayClient,
        _ heard: inout [Heard]
    ) async throws {
        while let attempt = try await client.store.advance(to: instant) {
            heard.append(
                Heard(
                    at: await client.store.now,
                    message: attempt.message.id,
                    body: attempt.body,
                    token: String(
                        (attempt.headers["Authorization"] ?? "").dropFirst("Bearer ".count)
                    )
                )
            )
            let isBad = attempt.fault?.mustBeRefused ?? false
            await client.store.end(attempt, isBad ? 401 : 204)
        }
    }

    private func arriving(
        _ fault: PlayWireFault,
        within minutes: Int64 = 30
    ) async throws -> [Heard] {
        try await arriving(fault, within: minutes, try await PlayClient(push: Self.push))
    }

    private static let push = PubSubPush(audience: audience, email: "pusher@p.example")

    /// Returns a token's claims, as a receiver with Google's keys reads them.
    private func claims(_ token: String, _ client: PlayClient) async throws -> JSONValue {
        let answer = try await client.store.google(
            Request(method: "GET", path: PlayAuthority.keySetPath)
        )
        let jws = try JWS(Array(token.utf8))
        try jws.verify(with: RSAKeySet(jwkSet: try JSONDocument(answer.body).root))
        return JSONValue(try JSONDocument(jws.payload).root)
    }

    @Test func `a lost push is never sent again`() async throws {
        #expect(try await arriving(.lose, within: 1440).compactMap(\.kind) == [3])
    }

    @Test func `an unanswered push is sent again ten seconds later`() async throws {
        let heard = try await arriving(.noAnswer)
        #expect(heard.map(\.kind) == [4, 3])
        #expect(heard[0].at - PlayClient.start == 11_000)
    }

    @Test func `a push sent twice is identical both times`() async throws {
        let heard = try await arriving(.duplicate)
        #expect(heard.map(\.kind) == [4, 4, 3])
        #expect(heard[0].message == heard[1].message)
    }

    @Test func `a delayed push arrives after the given delay`() async throws {
        let heard = try await arriving(.delay(600_000))
        #expect(heard.map(\.kind) == [3, 4])
        #expect(heard[1].at - PlayClient.start == 601_000)
    }

    @Test func `an overtaken push arrives right after the next`() async throws {
        let heard = try await arriving(.reorder)
        #expect(heard.map(\.kind) == [3, 4])
        #expect(heard[1].at - heard[0].at == 1)
    }

    @Test func `a reordered push is sent once the fault is cleared`()
        async throws
    {
        let client = try await PlayClient(push: Self.push)
        await client.store.add(PlayWireFaultRule(.reorder))
        try await client.store.requestTestNotification()
        var heard: [Heard] = []
        try await hear(until: PlayClient.start + 60_000, client, &heard)
        #expect(heard.isEmpty)
        await client.store.clearWireFaults()
        try await hear(until: PlayClient.start + 120_000, client, &heard)
        #expect(heard.map(\.at) == [PlayClient.start + 60_000])
    }

    @Test func `a truncated push is invalid and is sent whole ten seconds later`() async throws {
        let heard = try await arriving(.truncate)
        #expect(throws: JSONError.self) { try JSONDocument(heard[0].body) }
        #expect(heard.map(\.kind) == [nil, 4, 3])
        #expect(heard[1].at - heard[0].at == 10_000)
    }

    @Test func `a push of another app contains its package`() async throws {
        let heard = try await arriving(.wrongPackage)
        #expect(
            heard.map { $0.told?["packageName"] } == [
                "com.example.elsewhere", "com.example.cards", "com.example.cards",
            ]
        )
    }

    @Test func `a push of unknown type still contains the purchase`() async throws {
        let heard = try await arriving(.unknownType)
        #expect(heard.map(\.kind) == [99, 3])
        let tokens = heard.map { $0.told?["subscriptionNotification"]?["purchaseToken"] }
        #expect(tokens[0] == tokens[1])
    }

    @Test func `a corrupted token does not verify`() async throws {
        let client = try await PlayClient(push: Self.push)
        let heard = try await arriving(.corrupt, client)
        await #expect(throws: (any Error).self) { try await claims(heard[0].token, client) }
        #expect(try await claims(heard[1].token, client)["aud"] == .string(Self.audience))
        #expect(heard.map(\.kind) == [4, 4, 3])
    }

    @Test func `a token signed by another key has a key id that Google does not publish`()
        async throws
    {
        let client = try await PlayClient(push: Self.push)
        let heard = try await arriving(.unknownKey, client)
        await #expect(throws: (any Error).self) { try await claims(heard[0].token, client) }
        #expect(try await claims(heard[1].token, client)["aud"] == .string(Self.audience))
    }

    @Test func `a new key is published beside the previous one`() async throws {
        let client = try await PlayClient(push: Self.push)
        try await client.store.requestTestNotification()
        var before: [Heard] = []
        try await hear(until: PlayClient.start + 1000, client, &before)
        let heard = try await arriving(.rotateKey, client)
        let ids = try (before + heard).map {
            try JWS(Array($0.token.utf8)).header.root["kid"]?.string
        }
        #expect(ids[0] != ids[1])
        #expect(ids[1] == ids[2])
        for one in before + heard { _ = try await claims(one.token, client) }
    }

    @Test func `an expired token ended over an hour ago`() async throws {
        let client = try await PlayClient(push: Self.push)
        let heard = try await arriving(.expiredToken, client)
        let ends = try await claims(heard[0].token, client)["exp"]?.int64
        #expect(ends == heard[0].at / 1000 - 3600)
    }

    @Test func `a token of another account contains that account`() async throws {
        let client = try await PlayClient(push: Self.push)
        let heard = try await arriving(.wrongAccount, client)
        let wrong = try await claims(heard[0].token, client)["email"]
        #expect(wrong == "pusher@elsewhere.iam.gserviceaccount.com")
    }

    @Test func `a token for another audience contains that audience`() async throws {
        let client = try await PlayClient(push: Self.push)
        let heard = try await arriving(.wrongAudience, client)
        let wrong = try await claims(heard[0].token, client)["aud"]
        #expect(wrong == "https://elsewhere.example/push")
    }
}
