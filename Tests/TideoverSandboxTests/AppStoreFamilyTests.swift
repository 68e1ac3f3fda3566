import Testing
import TideoverCalendar
import TideoverJSON
import TideoverSandbox

/// The shares of a purchaser's family, and the store's notifications about them.
/// https://developer.apple.com/documentation/storekit/supporting-family-sharing-in-your-app
@Suite struct AppStoreFamilyTests {
    private static let day = CivilDate.millisecondsPerDay

    /// Returns a store in which anna has shared with ben since 2 May.
    private func store(
        isFamilyShareable: Bool = true
    ) throws -> AppStoreMachine {
        let products: [AppStoreProduct] = [
            try .make("cards.family", level: 2, isFamilyShareable: isFamilyShareable),
            try .make("cards.all", isFamilyShareable: true), try .make("cards.single"),
        ]
        var store = AppStoreMachine(
            app: AppStoreApp(bundleId: "com.example.cards", products: products),
            seed: 7,
            now: try #require(InstantText.read("2026-05-01T10:00:00Z"))
        )
        try store.register(.anna)
        try store.register(StoreCustomer(name: "ben", appAccountToken: "ben's own token"))
        _ = try store.perform(.subscribe(product: "cards.family", trial: .declined), by: "anna")
        _ = store.advance(to: store.now + Self.day)
        return store
    }

    private func kinds(_ notifications: [AppStoreNotification]) -> [String] {
        notifications.map {
            [$0.customer, $0.event.notificationType, $0.event.subtype].compactMap(\.self)
                .joined(separator: " ")
        }
    }

    @Test func `a share is a transaction of its own that ends with the purchase`() throws {
        var store = try store()
        let heard = try store.perform(.share(product: nil, with: "ben"), by: "anna")
        #expect(kinds(heard) == ["ben SUBSCRIBED INITIAL_BUY"])
        let transaction = try #require(heard.first?.transaction)
        #expect(transaction["inAppOwnershipType"] == "FAMILY_SHARED")
        #expect(transaction["transactionId"] == transaction["originalTransactionId"])
        #expect(transaction["appAccountToken"] == nil)
        #expect(transaction["price"] == 0)
        #expect(transaction["expiresDate"] == 1_780_308_000_000)
        #expect(store.truth(of: "ben", at: store.now) == .active(until: 1_780_308_000_000))
    }

    @Test func `a share changes with the purchase in failure and recovery`() throws {
        var store = try store()
        let shared = try store.perform(.share(product: nil, with: "ben"), by: "anna")
        var heard = store.advance(to: try #require(InstantText.read("2026-06-02T10:00:00Z")))
        heard += try store.perform(.failPayments, by: "anna")
        heard += store.advance(to: try #require(InstantText.read("2026-07-20T10:00:00Z")))
        heard += try store.perform(.fixPayments, by: "anna")
        heard += store.advance(to: store.now + Self.day)
        heard += try store.perform(.cancel(product: nil), by: "anna")
        heard += store.advance(to: try #require(InstantText.read("2026-09-20T10:00:00Z")))
        let bens = heard.filter { $0.customer == "ben" }
        #expect(
            kinds(bens) == [
                "ben DID_RENEW", "ben DID_FAIL_TO_RENEW GRACE_PERIOD", "ben GRACE_PERIOD_EXPIRED",
                "ben DID_RENEW BILLING_RECOVERY", "ben EXPIRED VOLUNTARY",
            ]
        )
        let annas = heard.filter { $0.customer == "anna" }
        for ben in bens {
            let anna = try #require(annas.last { $0.at == ben.at && $0.data == ben.data })
            #expect(anna.event.notificationType == ben.event.notificationType)
            #expect(anna.transaction?["expiresDate"] == ben.transaction?["expiresDate"])
            #expect(anna.transaction?["transactionId"] != ben.transaction?["transactionId"])
            #expect(
                ben.transaction?["originalTransactionId"]
                    == shared.first?.transaction?["transactionId"]
            )
        }
        for instant in stride(from: heard[0].at, through: store.now, by: Int(Self.day)) {
            #expect(store.truth(of: "ben", at: instant) == store.truth(of: "anna", at: instant))
        }
    }

    @Test func `a refund ends the share, and a reversal restores it`() throws {
        var store = try store()
        _ = try store.perform(.share(product: nil, with: "ben"), by: "anna")
        let heard = try store.perform(.refund(product: nil, reason: .appIssue), by: "anna")
        #expect(kinds(heard) == ["anna REFUND", "ben REVOKE"])
        #expect(
            heard.map { $0.transaction?["revocationType"] } == ["REFUND_FULL", "FAMILY_REVOKE"]
        )
        #expect(heard.map { $0.transaction?["revocationReason"] } == [1, 0])
        #expect(heard.map { $0.data["status"] } == [5, 5])
        #expect(store.truth(of: "ben", at: store.now) == .revoked)
        let back = try store.perform(.reverseRefund(product: nil), by: "anna")
        #expect(kinds(back) == ["anna REFUND_REVERSED", "ben REFUND_REVERSED"])
        #expect(store.truth(of: "ben", at: store.now).isEntitled)
    }

    @Test func `a purchase after a refund is shared again`() throws {
        var store = try store()
        _ = try store.perform(.share(product: nil, with: "ben"), by: "anna")
        _ = try store.perform(.refund(product: nil, reason: .other), by: "anna")
        _ = store.advance(to: store.now + Self.day)
        let heard = try store.perform(
            .subscribe(product: "cards.family", trial: .declined),
            by: "anna"
        )
        #expect(kinds(heard) == ["anna SUBSCRIBED RESUBSCRIBE", "ben SUBSCRIBED RESUBSCRIBE"])
        #expect(store.truth(of: "ben", at: store.now).isEntitled)
    }

    @Test func `an upgrade replaces the transaction of the share too`() async throws {
        let client = try await StoreClient([
            .make("cards.family", level: 2, isFamilyShareable: true),
            .make("cards.all", isFamilyShareable: true),
        ])
        try await client.store.register(StoreCustomer(name: "ben", appAccountToken: nil))
        _ = try await client.buy("cards.family")
        let share = AppStoreAction.share(product: nil, with: "ben")
        let shared = try await client.store.perform(share, by: "anna")
        let heard = try await client.store.perform(.changePlan(to: "cards.all"), by: "anna")
        let kind = "DID_CHANGE_RENEWAL_PREF UPGRADE"
        #expect(kinds(heard) == ["anna \(kind)", "ben \(kind)"])
        #expect(heard.map { $0.transaction?["productId"] } == ["cards.all", "cards.all"])
        let old = try #require(shared.first?.transaction?["transactionId"]?.string)
        let answer = try await client.answer("GET", "/inApps/v1/transactions/\(old)")
        let transaction = try client.verified(answer["signedTransactionInfo"])
        #expect(transaction["isUpgraded"] == true)
        #expect(transaction["inAppOwnershipType"] == "FAMILY_SHARED")
    }

    @Test func `a product that cannot be shared ends the share while it is owned`() throws {
        var store = try store()
        _ = try store.perform(.share(product: nil, with: "ben"), by: "anna")
        let upgraded = try store.perform(.changePlan(to: "cards.single"), by: "anna")
        #expect(
            kinds(upgraded) == ["anna DID_CHANGE_RENEWAL_PREF UPGRADE", "ben REVOKE"]
        )
        #expect(upgraded.last?.transaction?["productId"] == "cards.family")
        #expect(store.truth(of: "ben", at: store.now) == .revoked)
        _ = try store.perform(.changePlan(to: "cards.family"), by: "anna")
        let renewed = store.advance(to: store.now + 31 * Self.day)
        #expect(kinds(renewed) == ["anna DID_RENEW", "ben SUBSCRIBED RESUBSCRIBE"])
        #expect(store.truth(of: "ben", at: store.now).isEntitled)
    }

    @Test func `a withdrawn share has ended, whatever the purchase does`() throws {
        var store = try store()
        _ = try store.perform(.share(product: nil, with: "ben"), by: "anna")
        let heard = try store.perform(.stopSharing(product: nil, with: "ben"), by: "anna")
        #expect(kinds(heard) == ["ben REVOKE"])
        let later = store.advance(to: store.now + 40 * Self.day)
        #expect(kinds(later) == ["anna DID_RENEW"])
        #expect(store.truth(of: "ben", at: store.now) == .revoked)
        // Apple's RESUBSCRIBE covers access through Family Sharing that is given again.
        let again = try store.perform(.share(product: nil, with: "ben"), by: "anna")
        #expect(kinds(again) == ["ben SUBSCRIBED RESUBSCRIBE"])
    }

    @Test func `a family member can buy beside a share and cannot manage it`() throws {
        var store = try store()
        _ = try store.perform(.share(product: nil, with: "ben"), by: "anna")
        #expect(throws: AppStoreRefusal.self) {
            _ = try store.perform(.cancel(product: nil), by: "ben")
        }
        let heard = try store.perform(
            .subscribe(product: "cards.family", trial: .declined),
            by: "ben"
        )
        #expect(kinds(heard) == ["ben SUBSCRIBED INITIAL_BUY"])
        #expect(heard.first?.transaction?["inAppOwnershipType"] == "PURCHASED")
        #expect(kinds(try store.perform(.cancel(product: nil), by: "ben")).count == 1)
    }

    @Test func `an unshareable product is refused with a reason`() throws {
        func refusal(
            _ action: AppStoreAction,
            _ store: inout AppStoreMachine
        ) -> AppStoreRefusal.Reason? {
            do {
                _ = try store.perform(action, by: "anna")
                return nil
            } catch {
                return error.reason
            }
        }
        var plain = try store(isFamilyShareable: false)
        #expect(refusal(.share(product: nil, with: "ben"), &plain) == .notShareable)
        var store = try store()
        #expect(refusal(.share(product: nil, with: "anna"), &store) == .notShareable)
        #expect(refusal(.share(product: nil, with: "eve"), &store) == .unknownCustomer)
        #expect(refusal(.stopSharing(product: nil, with: "ben"), &store) == .notShared)
        _ = try store.perform(.share(product: nil, with: "ben"), by: "anna")
        #expect(refusal(.share(product: nil, with: "ben"), &store) == .alreadyShared)
    }
}
