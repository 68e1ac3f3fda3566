import TideoverCore
import TideoverSandbox
import TideoverSignatures

/// A simulated App Store with half a year of history that no back end has received. Its clock is
/// stopped, so that every query returns the same data.
struct AskedStore: Sendable {
    static let keyId = "2X9R4HXF34"
    static let issuerId = "57246542-96fe-1a63-e053-0824d011072a"
    private static let days: Int64 = 150
    private static let day: Int64 = 86_400_000

    let api: SimulatedAppStore
    let authority: SandboxAuthority
    /// The key of its Server API.
    let key = P256PrivateKey.generate()
    /// The instant of its clock.
    let now: Instant
    /// The account tokens of its customers.
    let customers: [String]
    /// The number of notifications that it sent or tried to send.
    let notifications: Int

    /// Simulates the customers' actions, which follow from the seed.
    init(seed: UInt64, customers count: Int = 16) async throws {
        authority = try SandboxAuthority()
        // Purchases happen at whole days from the beginning, so that nothing is due at the end.
        let end = systemMilliseconds() / Self.day * Self.day
        let begin = end - Self.days * Self.day - Self.day / 4
        now = Instant(millisecondsSince1970: end)
        api = SimulatedAppStore(
            Store.app(in: .production),
            seed: seed,
            now: begin,
            authority: authority,
            keys: [
                AppStoreAPIKey(
                    issuerId: Self.issuerId,
                    keyId: Self.keyId,
                    publicKey: key.publicKey
                )
            ]
        )
        var random = SeededRandom(seed: seed)
        customers = (0..<count).map { _ in random.uuid() }
        for customer in customers {
            try await api.register(StoreCustomer(name: customer, appAccountToken: customer))
        }
        for day in 0..<Self.days {
            try await Self.pass(to: begin + day * Self.day, in: api)
            for (number, customer) in customers.enumerated() {
                let isFirst = day == Int64(number % 9)
                guard isFirst || random.number(in: 0...2) == 0 else { continue }
                let actions = isFirst ? Self.actions.prefix(1) : Self.actions[...]
                let action = actions[Int(random.number(in: 0...Int64(actions.count - 1)))]
                // Actions that the store rejects are skipped.
                do { try await api.perform(action, by: customer) } catch {}
            }
        }
        try await Self.pass(to: end, in: api)
        notifications = await api.letters.count
    }

    private static let actions: [AppStoreAction] = [
        .subscribe(product: Store.listed, trial: .declined), .cancel(product: nil),
        .reenable(product: nil), .failPayments, .fixPayments,
        .refund(product: nil, reason: .other), .reverseRefund(product: nil),
    ]

    /// Advances the clock. The store records every fifth notification as not delivered.
    private static func pass(to instant: Int64, in api: SimulatedAppStore) async throws {
        while let attempt = try await api.advance(to: instant) {
            await api.end(attempt, attempt.number % 5 == 0 ? .noResponse : .success)
        }
    }
}
