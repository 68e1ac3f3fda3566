import TideoverJSON
import TideoverSandbox

/// The simulated Google Play, with an app that acknowledges purchases and reads each one after a
/// notification.
struct MeasuredGooglePlay: MeasuredStore {
    /// A notification, and the purchase as the API returns it then.
    struct Message {
        let notification: GooglePlayNotification
        let resource: JSONObject?
    }

    static let name = "Google Play"
    private static let product = "cards.pro"
    private static let trial = "trial"
    private var machine: GooglePlayMachine

    init(seed: UInt64, now: Int64) {
        guard let month = StorePeriod(iso: "P1M"), let week = StorePeriod(iso: "P1W") else {
            preconditionFailure("a month and a week are periods")
        }
        let price = GooglePlayPrice(StorePrice(milliunits: 9990, currency: "USD"))
        let offer = GooglePlayOffer(
            id: Self.trial,
            phases: [GooglePlayOffer.Phase(period: week)]
        )
        let plan = GooglePlayBasePlan(
            id: "monthly",
            period: month,
            price: price,
            graceDays: 16,
            offers: [offer]
        )
        let app = GooglePlayApp(
            packageName: "com.example.cards",
            subscriptions: [GooglePlaySubscriptionProduct(id: Self.product, basePlans: [plan])]
        )
        machine = GooglePlayMachine(app: app, seed: seed, now: now)
    }

    mutating func register(_ customer: Int) throws {
        try machine.register(GooglePlayCustomer(name: "\(customer)"))
    }

    mutating func perform(_ deed: CustomerYear.Deed, by customer: Int) -> [Message]? {
        do {
            let name = "\(customer)"
            let isFirst = deed == .subscribe && machine.tokens(of: name).isEmpty
            let said = try machine.perform(Self.action(deed, isFirst), by: name)
            if deed == .subscribe { try acknowledge(said) }
            return said.map(message)
        } catch {
            return nil
        }
    }

    mutating func advance(to instant: Int64) -> [Message] {
        machine.advance(to: instant).map(message)
    }

    static func bytes(of message: Message) -> [UInt8] {
        JSONValue.object(message.notification.content).encoded()
            + JSONValue.object(message.resource ?? [:]).encoded()
    }

    static func beginsMonth(_ message: Message) -> Bool {
        guard case .subscription(let type, _) = message.notification.event else { return false }
        switch type {
        case .renewed, .recovered: return true
        // The first purchase begins a trial, not a paid month.
        case .purchased: return message.resource?["linkedPurchaseToken"] != nil
        default: return false
        }
    }

    private func message(_ notification: GooglePlayNotification) -> Message {
        let resource: JSONObject? =
            if case .subscription(_, let token) = notification.event {
                machine.subscription(token: token)
            } else {
                nil
            }
        return Message(notification: notification, resource: resource)
    }

    private mutating func acknowledge(
        _ said: [GooglePlayNotification]
    ) throws(GooglePlayRefusal) {
        for notification in said {
            guard case .subscription(.purchased, let token) = notification.event else { continue }
            _ = try machine.write(.acknowledge(token: token))
        }
    }

    private static func action(_ deed: CustomerYear.Deed, _ isFirst: Bool) -> GooglePlayAction {
        switch deed {
        case .subscribe:
            .subscribe(
                to: [GooglePlayChoice(product, offer: isFirst ? trial : nil)],
                payment: .prompt,
                from: .app
            )
        case .failPayments: .failPayments
        case .fixPayments: .fixPayments
        case .cancel: .cancel(product: nil, survey: nil)
        case .reenable: .restart(product: nil)
        case .refund: .refund(product: nil, .remorse, quantity: nil, revokes: true)
        }
    }
}
