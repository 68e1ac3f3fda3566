import Testing
import TideoverSandbox

/// The billing problem message, with grace and without.
@Suite struct AppStoreMessageTests {
    private func failed(_ grace: BillingGrace) throws -> AppStoreMachine {
        let start = try #require(InstantText.read("2026-05-01T10:00:00Z"))
        let app = AppStoreApp(bundleId: "com.example.cards", products: [try .monthly(grace: grace)])
        var store = AppStoreMachine(app: app, seed: 7, now: start)
        try store.register(.anna)
        _ = try store.perform(
            .subscribe(product: "cards.pro.monthly", trial: .declined),
            by: "anna"
        )
        #expect(try store.openApp("anna") == .none)
        _ = try store.perform(.failPayments, by: "anna")
        _ = store.advance(to: try #require(InstantText.read("2026-06-02T10:00:00Z")))
        return store
    }

    @Test(arguments: [BillingGrace.off, .sixteenDays])
    func `a message is shown once when the app is opened`(grace: BillingGrace) throws {
        var store = try failed(grace)
        #expect(try store.openApp("anna") == .shown)
        #expect(try store.openApp("anna") == .none)
    }

    @Test(arguments: [BillingGrace.off, .sixteenDays])
    func `an app can delay a message`(grace: BillingGrace) throws {
        var store = try failed(grace)
        #expect(try store.openApp("anna", delaysMessages: true) == .delayed)
        #expect(try store.openApp("anna", delaysMessages: true) == .delayed)
        #expect(try store.openApp("anna") == .shown)
    }

    @Test(arguments: [BillingGrace.off, .sixteenDays])
    func `a message is dropped once the problem is solved`(grace: BillingGrace) throws {
        var store = try failed(grace)
        #expect(try store.openApp("anna", delaysMessages: true) == .delayed)
        _ = try store.perform(.fixPayments, by: "anna")
        #expect(try store.openApp("anna") == .dropped)
        #expect(try store.openApp("anna") == .none)
    }

    @Test func `a cancellation drops the message`() throws {
        var store = try failed(.off)
        _ = try store.perform(.cancel(product: nil), by: "anna")
        #expect(try store.openApp("anna") == .dropped)
    }

    @Test func `every failure has a message of its own`() throws {
        var store = try failed(.sixteenDays)
        #expect(try store.openApp("anna") == .shown)
        _ = try store.perform(.fixPayments, by: "anna")
        _ = try store.perform(.failPayments, by: "anna")
        _ = store.advance(to: try #require(InstantText.read("2026-07-02T10:00:00Z")))
        #expect(try store.openApp("anna") == .shown)
    }
}
