import Testing
import TideoverHTTP
import TideoverJSON
import TideoverSandbox

/// A saved store continues as if it had not been interrupted.
@Suite struct SavedStoreTests {
    private static let start = InstantText.read("2026-05-01T10:00:00Z") ?? 0

    private func store(_ authority: SandboxAuthority, seed: UInt64) async throws
        -> SimulatedAppStore
    {
        let price = try #require(StorePrice("49.99 USD"))
        let store = SimulatedAppStore(
            AppStoreApp(
                bundleId: "com.example.cards",
                products: [try .monthly(trial: "P3D")],
                oneTimeProducts: [
                    AppStoreOneTimeProduct(id: "cards.lifetime", kind: .nonConsumable, price: price)
                ]
            ),
            seed: seed,
            now: Self.start,
            authority: authority
        )
        try await store.register(.anna)
        try await store.register(StoreCustomer(name: "ben", appAccountToken: nil))
        await store.add(AppStoreWireFaultRule(.noAnswer, times: nil, percent: 30))
        await store.add(AppStoreWireFaultRule(.reorder, times: nil, percent: 20))
        await store.add(AppStoreFaultRule(.unavailable(status: 503), times: 9, percent: 50))
        return store
    }

    /// Plays the first half of a story, with an example of every kind of data that a store keeps.
    private func begin(_ store: SimulatedAppStore) async throws {
        try await store.perform(
            .subscribe(product: "cards.pro.monthly", trial: .required),
            by: "anna"
        )
        try await pass(store, days: 10)
        try await store.perform(.failPayments, by: "anna")
        try await store.perform(.buy(product: "cards.lifetime", outsideApp: true), by: "ben")
        try await store.perform(
            .requestRefund(product: "cards.lifetime", reason: .other),
            by: "ben"
        )
        try await store.perform(.askToBuy(product: "cards.pro.monthly"), by: "ben")
        try await pass(store, days: 30)
        _ = try await store.device(of: "anna")
        await store.requestTestNotification()
    }

    /// Plays the second half, and returns the deliveries: the instant, the content and the fault.
    private func goOn(_ store: SimulatedAppStore) async throws -> [String] {
        var heard: [String] = []
        try await store.perform(.approvePurchase(product: nil), by: "ben")
        try await store.perform(.fixPayments, by: "anna")
        heard += try await pass(store, days: 20)
        try await store.perform(.refund(product: "cards.lifetime", reason: .appIssue), by: "ben")
        heard += try await pass(store, days: 100)
        return heard
    }

    @discardableResult
    private func pass(_ store: SimulatedAppStore, days: Int64) async throws -> [String] {
        var heard: [String] = []
        let end = await store.now + days * 86_400_000
        while let attempt = try await store.advance(to: end) {
            let content = String(decoding: attempt.notification.unsigned, as: UTF8.self)
            heard.append("\(await store.now) \(attempt.fault.map { "\($0)" } ?? "") \(content)")
            await store.end(attempt, .success)
        }
        return heard
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a restored store sends the same messages as the original`(seed: UInt64) async throws {
        let authority = try SandboxAuthority()
        let store = try await store(authority, seed: seed)
        try await begin(store)
        let saved = await store.saved()
        let resumed = try SimulatedAppStore(resuming: saved, authority: authority)
        #expect(await resumed.saved() == saved)
        #expect(await resumed.now == store.now)
        let expected = try await goOn(store)
        #expect(expected.count > 5)
        #expect(try await goOn(resumed) == expected)
        #expect(await resumed.saved() == store.saved())
    }

    @Test func `a saved store is JSON with the name of its format`() async throws {
        let authority = try SandboxAuthority()
        let store = try await store(authority, seed: 1)
        let saved = JSONValue(try JSONDocument(await store.saved(), limits: .local).root)
        #expect(saved["format"]?.string == "tideover.simulated-app-store.2")
        #expect(saved["machine"]?["now"]?.int64 == Self.start)
        #expect(saved["machine"]?["accounts"]?[0]?["customer"]?["name"]?.string == "anna")
    }

    @Test func `an invalid saved store is refused with a reason`() async throws {
        let authority = try SandboxAuthority()
        let saved = await (try store(authority, seed: 1)).saved()
        let text = String(decoding: saved, as: UTF8.self)
        func refusal(_ text: String) -> SavedStoreError? {
            do {
                _ = try SimulatedAppStore(resuming: Array(text.utf8), authority: authority)
                return nil
            } catch {
                return error
            }
        }
        guard case .syntax = refusal("{") else {
            Issue.record("half an object is no JSON")
            return
        }
        #expect(refusal("{}") == .format(nil))
        #expect(
            refusal(text.replacing("simulated-app-store.2", with: "simulated-app-store.9"))
                == .format("tideover.simulated-app-store.9")
        )
        #expect(
            refusal(text.replacing("\"paymentsFail\":false", with: "\"paymentsFail\":3"))
                == .content("machine.accounts.paymentsFail: this is no Bool")
        )
    }
}
