import Testing
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSandbox
import TideoverSignatures

/// The received notifications after a delivery fault.
@Suite struct AppStoreWireFaultTests {
    private let authority: SandboxAuthority
    private let store: SimulatedAppStore
    private let start: Int64
    private let verifier: ChainVerifier

    init() async throws {
        start = try #require(InstantText.read("2026-05-01T10:00:00Z"))
        authority = try SandboxAuthority()
        store = SimulatedAppStore(
            AppStoreApp(bundleId: "com.example.cards", products: [try .monthly()]),
            seed: 7,
            now: start,
            authority: authority
        )
        verifier = ChainVerifier(
            policy: .appStore,
            anchors: [try TrustAnchor(name: "simulated", der: authority.root)]
        )
        try await store.register(.anna)
    }

    /// Sends two notifications: a purchase, and its cancellation an hour later. Returns the bodies
    /// that arrive within the days.
    private func arriving(
        _ fault: AppStoreWireFault,
        within days: Int64 = 1
    ) async throws -> [(at: Int64, body: [UInt8])] {
        await store.add(AppStoreWireFaultRule(fault))
        try await store.perform(
            .subscribe(product: "cards.pro.monthly", trial: .declined),
            by: "anna"
        )
        var heard: [(at: Int64, body: [UInt8])] = []
        try await hear(until: start + 3_600_000, &heard)
        try await store.perform(.cancel(product: nil), by: "anna")
        try await hear(until: start + days * 86_400_000, &heard)
        return heard
    }

    /// Rejects invalid bodies, as a receiver does.
    private func hear(
        until instant: Int64,
        _ heard: inout [(at: Int64, body: [UInt8])]
    ) async throws {
        while let attempt = try await store.advance(to: instant) {
            heard.append((await store.now, attempt.body))
            let isBad = attempt.fault?.mustBeRefused ?? false
            await store.end(attempt, isBad ? .unsuccessfulStatus : .success)
        }
    }

    private func outer(_ body: [UInt8]) throws -> JSONValue {
        let compact = try #require(try JSONDocument(body).root["signedPayload"]?.string)
        let jws = try JWS(Array(compact.utf8))
        let content = JSONValue(try JSONDocument(jws.payload).root)
        _ = try verifier.verify(jws, at: try #require(content["signedDate"]?.int64))
        return content
    }

    private func types(_ heard: [(at: Int64, body: [UInt8])]) throws -> [String?] {
        try heard.map { try outer($0.body)["notificationType"]?.string }
    }

    @Test func `a lost notification is never sent again`() async throws {
        let heard = try await arriving(.lose, within: 8)
        #expect(try types(heard) == ["DID_CHANGE_RENEWAL_STATUS"])
        #expect(await store.letters[0].attempts.map(\.result) == [.success])
    }

    @Test func `an unanswered notification is sent again an hour later`() async throws {
        let heard = try await arriving(.noAnswer)
        #expect(
            try types(heard).sorted { $0 ?? "" < $1 ?? "" } == [
                "DID_CHANGE_RENEWAL_STATUS", "SUBSCRIBED",
            ]
        )
        let attempts = await store.letters[0].attempts
        #expect(attempts.map(\.result) == [.noResponse, .success])
        #expect(attempts[1].at - attempts[0].at == 3_600_000)
    }

    @Test func `a notification sent twice is identical both times`() async throws {
        let heard = try await arriving(.duplicate)
        #expect(try types(heard) == ["SUBSCRIBED", "SUBSCRIBED", "DID_CHANGE_RENEWAL_STATUS"])
        let ids = try heard.map { try outer($0.body)["notificationUUID"]?.string }
        #expect(ids[0] == ids[1])
    }

    @Test func `a delayed notification arrives after the given delay`() async throws {
        let prompt = try await arriving(.delay(600_000))
        #expect(try types(prompt) == ["SUBSCRIBED", "DID_CHANGE_RENEWAL_STATUS"])
        let late = try #require(prompt.first).at - start
        #expect((600_000...602_000).contains(late))
    }

    @Test func `an overtaken notification arrives right after the next`() async throws {
        let heard = try await arriving(.reorder)
        #expect(try types(heard) == ["DID_CHANGE_RENEWAL_STATUS", "SUBSCRIBED"])
        #expect(heard[1].at - heard[0].at == 1)
    }

    @Test func `a truncated notification is invalid and is sent whole an hour later`() async throws
    {
        let heard = try await arriving(.truncate)
        #expect(throws: JSONError.self) { try JSONDocument(heard[0].body) }
        #expect(heard.count == 3)
        #expect(try types(Array(heard.dropFirst())).contains("SUBSCRIBED"))
    }

    @Test func `a corrupted notification does not verify`() async throws {
        let heard = try await arriving(.corrupt)
        #expect(throws: (any Error).self) { try outer(heard[0].body) }
        #expect(try types(Array(heard.dropFirst())).contains("SUBSCRIBED"))
    }

    @Test func `a notification of another environment contradicts its content`() async throws {
        let heard = try await arriving(.wrongEnvironment)
        let outer = try outer(heard[0].body)
        #expect(outer["data"]?["environment"]?.string == "Sandbox")
        let inner = try #require(outer["data"]?["signedTransactionInfo"]?.string)
        let jws = try JWS(Array(inner.utf8))
        let content = JSONValue(try JSONDocument(jws.payload).root)
        #expect(content["environment"]?.string == "Production")
    }

    @Test func `a notification of unknown type keeps its content`() async throws {
        let heard = try await arriving(.unknownType)
        let outer = try outer(heard[0].body)
        #expect(outer["notificationType"]?.string == "TIDES_TURNED")
        #expect(outer["data"]?["signedTransactionInfo"]?.string != nil)
    }

    @Test func `after a rotation another certificate of the same authority signs`() async throws {
        let before = try authority.body(of: await store.requestTestNotification())
        let heard = try await arriving(.rotateKey)
        #expect(try types(heard).count == 3)
        #expect(try leaf(heard[0].body) != leaf(before))
        #expect(try leaf(heard[2].body) == leaf(heard[0].body))
    }

    @Test func `a notification signed with an expired certificate does not verify`() async throws {
        let heard = try await arriving(.expiredCertificate)
        #expect(throws: (any Error).self) { try outer(heard[0].body) }
        #expect(try types(Array(heard.dropFirst())).contains("SUBSCRIBED"))
    }

    private func leaf(_ body: [UInt8]) throws -> String? {
        let compact = try #require(try JSONDocument(body).root["signedPayload"]?.string)
        let header = try #require(compact.split(separator: ".").first)
        let bytes = try #require(Base64.decode(Array(header.utf8), .urlSafe))
        return try JSONDocument(bytes).root["x5c"]?[0]?.string
    }
}
