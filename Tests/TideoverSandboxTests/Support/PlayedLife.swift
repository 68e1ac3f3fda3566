import TideoverJSON
import TideoverSandbox

/// A random sequence of actions on a customer in the simulated Google Play, derived from a seed.
/// Actions that the store refuses are skipped.
struct PlayedLife {
    private(set) var store: PlayedStore
    private var random: SeededRandom
    private let isTester: Bool

    init(seed: UInt64) throws {
        random = SeededRandom(seed: seed)
        isTester = random.number(in: 0...5) == 0
        store = try PlayedStore(seed: seed, isTester ? .tester : .anna)
    }

    /// Performs the first possible action of a few by the customer, the developer or the store.
    mutating func act() throws {
        if !isSubscribed, random.number(in: 0...3) > 0 {
            _ = try? store.act(.fixPayments)
            _ = try? store.subscribe(pick(Self.choices))
        } else {
            for _ in 0..<8 where try !isRefused() { break }
        }
        if random.number(in: 0...29) > 0 { acknowledgeAll() }
    }

    private var isSubscribed: Bool {
        store.tokens.contains { token in
            let state = store.machine.subscription(token: token)?["subscriptionState"]?.string
            return state.map { !Self.ended.contains($0) } ?? false
        }
    }

    private static let ended = [
        "SUBSCRIPTION_STATE_EXPIRED", "SUBSCRIPTION_STATE_PENDING_PURCHASE_CANCELED",
    ]

    private mutating func isRefused() throws -> Bool {
        do {
            try random.number(in: 0...5) == 0 ? write() : perform()
            return false
        } catch is GooglePlayRefusal {
            return true
        }
    }

    /// Returns the instant of the next action.
    mutating func nextInstant() -> Int64 {
        let minutes = random.number(in: 1...(24 * 60)) * pick([1, 3, 10, 25])
        return store.machine.now + (isTester ? minutes / 600 + 1 : minutes) * 60_000
    }

    /// Advances the clock up to and including an instant.
    mutating func pass(until instant: Int64) throws {
        try store.pass(until: InstantText.write(instant))
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int(random.number(in: 0...Int64(values.count - 1)))]
    }

    private mutating func acknowledgeAll() {
        for token in store.tokens { _ = try? store.write(.acknowledge(token: token)) }
    }

    private static let choices: [GooglePlayChoice] = [
        .monthly, .plus, .extra, .pro("monthly", "launch"), .pro("monthly", "trial"),
        .pro("yearly"), .pro("nograce"), .pro("nohold"), .pro("prepaid"), .pro("prepaid-3-days"),
        .pro("instalments"), .pro("committed"),
    ]

    private mutating func write() throws {
        guard !store.tokens.isEmpty else { return }
        let token = pick(store.tokens)
        let days = random.number(in: 1...40)
        let writes: [GooglePlayWrite] = [
            .consume(token: token), .cancel(token: token, .userRequestedStopRenewals),
            .cancel(token: token, .developerRequestedStopPayments),
            .deferRenewal(token: token, milliseconds: days * 86_400_000, etag: nil),
            .revoke(token: token, pick([.fullRefund, .proratedRefund])),
            .revoke(token: token, .item(product: "cards.extra")),
        ]
        try store.write(pick(writes))
    }

    private mutating func perform() throws {
        let choice = pick(Self.choices)
        let payment = pick([GooglePlayAction.Payment.prompt, .prompt, .delayed])
        let price = StorePrice(milliunits: random.number(in: 1...30) * 500, currency: "USD")
        let period = pick(["P1M", "P2M", "P3M"].compactMap { StorePeriod(iso: $0) })
        let actions: [GooglePlayAction] = [
            .subscribe(to: [choice], payment: payment, from: pick([.app, .playStore])),
            .subscribe(to: [choice, .extra], payment: .prompt, from: .app),
            .replace(
                product: nil,
                with: choice,
                mode: pick(GooglePlayAction.ReplacementMode.allCases)
            ),
            .changeItems(product: nil, adding: [.extra], removing: []),
            .changeItems(product: nil, adding: [], removing: ["cards.extra"]),
            .topUp(product: nil),
            .buy(
                product: pick(["cards.lifetime", "cards.coins"]),
                quantity: random.number(in: 1...3),
                payment: payment
            ),
            .completePayment(product: nil), .dropPayment(product: nil), .failPayments,
            .failPayments, .failPayments, .fixPayments, .fixPayments, .fixPayments,
            .cancel(product: nil, survey: nil),
            .cancel(product: nil, survey: .init(reason: .costRelated)),
            .cancelBySystem(product: nil), .restart(product: nil),
            .restart(product: nil), .pause(product: nil, period), .pause(product: nil, period),
            .resume(product: nil),
            .changePrice(product: nil, to: price, pick(GooglePlayAction.PriceChangeMode.allCases)),
            .acceptPrice(product: nil),
            .askStepUpConsent(product: nil, deadline: store.machine.now + 86_400_000),
            .acceptStepUp(product: nil), .requestRefund(product: nil),
            .refund(
                product: nil,
                pick(GooglePlayAction.VoidReason.allCases),
                quantity: pick([nil, 1]),
                revokes: pick([true, false])
            ),
        ]
        try store.act(pick(actions))
    }
}
