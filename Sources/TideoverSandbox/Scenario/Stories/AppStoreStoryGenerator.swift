/// The App Store part of a story: its catalogue, its actions and its faults.
struct AppStoreStoryGenerator {
    let store: AppStoreApp
    private let monthly: AppStoreProduct
    private let yearly: AppStoreProduct
    private static let lifetime = "cards.lifetime"
    private static let coins = "cards.coins"

    init(_ random: inout SeededRandom) {
        let grace = random.choice(BillingGrace.allCases)
        let scope = random.choice(BillingGraceScope.allCases)
        let trial = random.choice(["P1W", nil])
        monthly = Self.product("cards.monthly", "P1M", level: 2, 9_990, grace, scope, trial)
        yearly = Self.product("cards.yearly", "P1Y", level: 1, 99_990, grace, scope, nil)
        store = AppStoreApp(
            bundleId: "com.example.cards",
            products: [monthly, yearly],
            oneTimeProducts: [
                AppStoreOneTimeProduct(
                    id: Self.lifetime,
                    kind: .nonConsumable,
                    price: Self.price(199_990),
                    isFamilyShareable: true
                ),
                AppStoreOneTimeProduct(id: Self.coins, kind: .consumable, price: Self.price(990)),
            ]
        )
    }

    /// Coins unlock nothing.
    var entitlements: [String: [String]] {
        [monthly.id: ["premium"], yearly.id: ["premium"], Self.lifetime: ["premium"]]
    }

    private static func price(_ milliunits: Int64) -> StorePrice {
        StorePrice(milliunits: milliunits, currency: "USD")
    }

    private static func product(
        _ id: String,
        _ period: String,
        level: Int,
        _ milliunits: Int64,
        _ grace: BillingGrace,
        _ scope: BillingGraceScope,
        _ trial: String?
    ) -> AppStoreProduct {
        let period = StorePeriod(ofStory: period)
        func offer(
            _ kind: AppStoreOffer.Kind,
            _ mode: AppStoreOffer.Mode,
            _ name: String
        ) -> AppStoreOffer {
            let half = price(milliunits / 2)
            return AppStoreOffer(kind, mode, identifier: name, period: period, price: half)
        }
        return AppStoreProduct(
            id: id,
            group: "pro",
            level: level,
            period: period,
            trial: trial.map(StorePeriod.init(ofStory:)),
            offers: [
                offer(.promotional, .payAsYouGo, "stay"), offer(.winBack, .payUpFront, "return"),
                offer(.offerCode, .freeTrial, "code"),
            ],
            price: price(milliunits),
            grace: grace,
            graceScope: scope,
            isFamilyShareable: true
        )
    }

    // MARK: Actions

    var beginning: AppStoreAction { .subscribe(product: monthly.id, trial: .ifEligible) }

    func action(_ random: inout SeededRandom) -> AppStoreAction {
        if random.happens(onceIn: 60) { return .buy(product: Self.lifetime, outsideApp: false) }
        return random.choice(subscribing + paying)
    }

    private var subscribing: [AppStoreAction] {
        [
            .cancel(product: nil), .reenable(product: nil), .reenable(product: nil),
            beginning, beginning, .changePlan(to: yearly.id), .changePlan(to: monthly.id),
            .redeem(product: monthly.id, offer: "stay"),
            .redeem(product: monthly.id, offer: "return"),
            .redeem(product: yearly.id, offer: "code"),
            .share(product: nil, with: "ben"), .share(product: nil, with: "ben"),
            .stopSharing(product: nil, with: "ben"),
        ]
    }

    private var paying: [AppStoreAction] {
        [
            .failPayments, .failPayments, .fixPayments, .fixPayments, .fixPayments,
            .allowPurchases(false), .allowPurchases(true), .allowPurchases(true),
            .refund(product: nil, reason: .other), .reverseRefund(product: nil),
            .requestRefund(product: nil, reason: .unsatisfied), .declineRefund(product: nil),
            .extendRenewal(product: nil, days: 7), .buy(product: Self.coins, outsideApp: false),
            .raisePrice(product: nil, to: Self.price(120_000), needsConsent: true),
            .raisePrice(product: nil, to: Self.price(130_000), needsConsent: false),
            .acceptPrice(product: nil),
        ]
    }

    // MARK: Faults

    func disturbances(_ random: inout SeededRandom) -> [ScenarioAction] {
        let faults: [AppStoreWireFault] = [
            .lose, .noAnswer, .duplicate, .delay(6 * StoryGenerator.hour), .reorder, .truncate,
            .corrupt, .wrongEnvironment, .unknownType, .rotateKey, .expiredCertificate,
        ]
        var rules: [ScenarioAction] = []
        for fault in faults where random.number(in: 0...2) > 0 {
            let percent = Int(random.number(in: 5...30))
            let rule = AppStoreWireFaultRule(fault, times: nil, percent: percent)
            rules.append(.disturbNotifications(rule))
        }
        let troubles: [AppStoreFault] = [
            .rateLimited(for: random.number(in: 0...2 * StoryGenerator.hour)),
            .unavailable(status: 503), .noAnswer(after: 1000), .slow(30_000), .truncated,
            .stale(by: random.number(in: StoryGenerator.hour...StoryGenerator.day)),
        ]
        for fault in troubles where random.number(in: 0...2) > 0 {
            rules.append(.disturbServerAPI(AppStoreFaultRule(fault, times: nil, percent: 15)))
        }
        return rules
    }
}
