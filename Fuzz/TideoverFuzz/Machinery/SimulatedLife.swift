import TideoverAppStore
import TideoverCore
import TideoverJSON
import TideoverSandbox

/// The simulated App Store's data about a few lives, before it is signed.
enum SimulatedLife {
    static let bundleId = "com.example.cards"
    static let appAppleId: Int64 = 1_234_567_890
    private static let product = "cards.pro.monthly"
    /// 2026-05-01T00:00:00Z.
    private static let start: Int64 = 1_777_593_600_000
    private static let day: Int64 = 86_400_000

    /// Every notification of these lives as an input.
    static let seeds: [[UInt8]] = notifications.map { notification in
        let payload = notification.payload(
            transaction: notification.transaction.map { _ in .string(Unsealed.placeholders[0]) },
            renewal: notification.renewal.map { _ in .string(Unsealed.placeholders[1]) }
        )
        let contents = [payload, notification.transaction, notification.renewal]
        return Unsealed(parts: contents.map { JSONValue.object($0 ?? [:]).encoded() }).input
    }

    /// The facts of an ordinary life, which can be combined with others.
    static let usualFacts: [Fact] = {
        let reader = AppStoreReader(
            app: AppStoreIdentity(bundleId: bundleId, environments: [.production])
        )
        return unfailing("a simulated notification is refused") {
            try seeds.prefix(2).flatMap { seed in
                try reader.readNotification(body: Unsealed(seed).body, check: Seal.check).facts(
                    learnedAt: Instant(millisecondsSince1970: start + 2 * day),
                    source: .appStoreNotification,
                    evidence: EvidenceID(hex: "01")
                )
            }
        }
    }()

    /// The receipt content of the last life, in both forms.
    static let receiptContents: [[UInt8]] = ReceiptForm.allCases.map(told.receipt.content)

    private static var notifications: [TideoverSandbox.AppStoreNotification] { told.notifications }

    private static let told:
        (notifications: [TideoverSandbox.AppStoreNotification], receipt: StoreReceipt) = unfailing(
            "the simulated store refuses"
        ) {
            guard let month = StorePeriod(iso: "P1M"), let week = StorePeriod(iso: "P1W") else {
                Failure.stop("P1M and P1W are no periods")
            }
            let app = AppStoreApp(
                bundleId: bundleId,
                appAppleId: appAppleId,
                products: [
                    AppStoreProduct(
                        id: product,
                        group: "pro",
                        period: month,
                        trial: week,
                        price: StorePrice(milliunits: 9990, currency: "USD"),
                        grace: .sixteenDays
                    )
                ]
            )
            var store = AppStoreMachine(app: app, seed: 7, now: start)
            try store.register(
                StoreCustomer(name: "anna", appAccountToken: "7e3fb20b-4cdb-47cc-936d-99d65f608138")
            )
            return (try lives(in: &store), try store.receipt(of: "anna"))
        }

    private static func lives(
        in store: inout AppStoreMachine
    ) throws -> [TideoverSandbox.AppStoreNotification] {
        let buy = AppStoreAction.subscribe(product: product, trial: .ifEligible)
        var heard = try store.perform(buy, by: "anna")
        heard += store.advance(to: start + 10 * day)
        for action in [
            AppStoreAction.cancel(product: nil), .reenable(product: nil),
            .refund(product: nil, reason: .appIssue), .reverseRefund(product: nil), .failPayments,
        ] {
            heard += try store.perform(action, by: "anna")
            heard += store.advance(to: store.now + day)
        }
        heard += store.advance(to: start + 45 * day)
        heard += try store.perform(.fixPayments, by: "anna")
        heard += try store.perform(.failPayments, by: "anna")
        heard += store.advance(to: start + 200 * day)
        heard.append(store.requestTestNotification())
        return heard
    }

    /// The store's names and constants.
    static let words: [String] = [
        "$transaction", "$renewal", "\"data\"", "\"summary\"", "\"externalPurchaseToken\"",
        "\"appData\"", "\"signedTransactionInfo\"", "\"signedRenewalInfo\"",
        "\"signedAppTransactionInfo\"", "\"signedDate\"", "\"purchaseDate\"", "\"expiresDate\"",
        "\"revocationDate\"", "\"revocationReason\"", "\"revocationType\"",
        "\"revocationPercentage\"", "\"gracePeriodExpiresDate\"", "\"isInBillingRetryPeriod\"",
        "\"autoRenewStatus\"", "\"autoRenewProductId\"", "\"expirationIntent\"",
        "\"priceIncreaseStatus\"", "\"renewalDate\"", "\"offerType\"", "\"offerDiscountType\"",
        "\"offerPeriod\"", "\"appAccountToken\"", "\"inAppOwnershipType\"", "\"isUpgraded\"",
        "\"commitmentInfo\"", "\"billingPlanType\"", "\"environment\"", "\"Production\"",
        "\"Sandbox\"", "\"FAMILY_SHARED\"", "\"PURCHASED\"", "\"Consumable\"",
        "\"Non-Consumable\"", "\"Non-Renewing Subscription\"", "\"FREE_TRIAL\"",
        "\"REFUND\"", "\"REFUND_REVERSED\"", "\"REVOKE\"", "\"EXPIRED\"", "\"DID_RENEW\"",
        "\"DID_FAIL_TO_RENEW\"", "\"GRACE_PERIOD\"", "\"GRACE_PERIOD_EXPIRED\"",
        "\"PRICE_INCREASE\"", "\"RENEWAL_EXTENDED\"", "\"RENEWAL_EXTENSION\"", "\"SUMMARY\"",
        "\"OFFER_REDEEMED\"", "\"ONE_TIME_CHARGE\"", "\"CONSUMPTION_REQUEST\"",
        "\"EXTERNAL_PURCHASE_TOKEN\"", "\"RESCIND_CONSENT\"", "\"TEST\"", "\"P1M\"", "\"MONTHLY\"",
    ]
}
