import TideoverSandbox

/// The simulated App Store.
struct MeasuredAppStore: MeasuredStore {
    static let name = "the App Store"
    private static let product = "cards.pro.monthly"
    private var machine: AppStoreMachine

    init(seed: UInt64, now: Int64) {
        guard let month = StorePeriod(iso: "P1M"), let week = StorePeriod(iso: "P1W") else {
            preconditionFailure("a month and a week are periods")
        }
        let product = AppStoreProduct(
            id: Self.product,
            group: "pro",
            period: month,
            trial: week,
            price: StorePrice(milliunits: 9990, currency: "USD"),
            grace: .sixteenDays
        )
        let app = AppStoreApp(bundleId: "com.example.cards", products: [product])
        machine = AppStoreMachine(app: app, seed: seed, now: now)
    }

    mutating func register(_ customer: Int) throws {
        try machine.register(StoreCustomer(name: "\(customer)", appAccountToken: nil))
    }

    mutating func perform(
        _ deed: CustomerYear.Deed,
        by customer: Int
    ) -> [AppStoreNotification]? {
        do {
            return try machine.perform(Self.action(deed), by: "\(customer)")
        } catch {
            return nil
        }
    }

    mutating func advance(to instant: Int64) -> [AppStoreNotification] {
        machine.advance(to: instant)
    }

    static func bytes(of message: AppStoreNotification) -> [UInt8] { message.unsigned }

    static func beginsMonth(_ message: AppStoreNotification) -> Bool {
        switch message.event {
        case .renewed, .recovered: true
        case .subscribed(_, let trial, _): !trial
        default: false
        }
    }

    private static func action(_ deed: CustomerYear.Deed) -> AppStoreAction {
        switch deed {
        case .subscribe: .subscribe(product: product, trial: .ifEligible)
        case .failPayments: .failPayments
        case .fixPayments: .fixPayments
        case .cancel: .cancel(product: nil)
        case .reenable: .reenable(product: nil)
        case .refund: .refund(product: nil, reason: .other)
        }
    }
}
