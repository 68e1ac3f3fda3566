import Testing
import TideoverHTTP
import TideoverJSON
import TideoverSandbox
import TideoverSignatures

/// The simulated App Store with random activity.
struct LivedAppStore: LivedStore {
    private static let start: Int64 = 1_777_629_600_000  // 2026-05-01T10:00:00Z
    private static let day: Int64 = 86_400_000
    private static let names = ["anna", "ben", "cara"]

    private let authority: SandboxAuthority
    private let key = P256PrivateKey.generate()
    private(set) var store: SimulatedAppStore
    private var random: SeededRandom

    init(seed: UInt64) async throws {
        random = SeededRandom(seed: seed)
        authority = try SandboxAuthority()
        let price = try #require(StorePrice("49.99 USD"))
        let app = AppStoreApp(
            bundleId: StoreClient.bundleId,
            products: [try .monthly(trial: "P3D"), try .weekly(grace: .sixteenDays)],
            oneTimeProducts: [
                AppStoreOneTimeProduct(id: "cards.coins", kind: .consumable, price: price)
            ]
        )
        store = SimulatedAppStore(
            app,
            seed: seed,
            now: Self.start,
            authority: authority,
            keys: [Self.apiKey(key)],
            wait: { _ in }
        )
        for name in Self.names {
            try await store.register(StoreCustomer(name: name, appAccountToken: nil))
        }
        let faults: [AppStoreWireFault] = [.noAnswer, .duplicate, .reorder, .delay(90_000), .lose]
        for fault in faults {
            await store.add(AppStoreWireFaultRule(fault, times: nil, percent: 8))
        }
        await store.add(AppStoreFaultRule(.unavailable(status: 503), times: nil, percent: 20))
        await store.add(AppStoreFaultRule(.stale(by: Self.day / 2), times: nil, percent: 20))
    }

    private static func apiKey(_ key: P256PrivateKey) -> AppStoreAPIKey {
        AppStoreAPIKey(
            issuerId: StoreClient.issuer,
            keyId: StoreClient.keyId,
            publicKey: key.publicKey
        )
    }

    var now: Int64 { get async { await store.now } }
    var saved: [UInt8] { get async { await store.saved() } }

    mutating func takeUpAgain() async throws {
        store = try SimulatedAppStore(
            resuming: await store.saved(),
            authority: authority,
            keys: [Self.apiKey(key)],
            wait: { _ in }
        )
    }

    mutating func live() async throws -> [String] {
        switch random.number(in: 0...7) {
        case 0...2: return try await act()
        case 3: return try await ask()
        case 4: return try await look()
        default: return try await pass()
        }
    }

    private mutating func act() async throws -> [String] {
        let name = random.pick(Self.names)
        let actions: [AppStoreAction] = [
            .subscribe(product: "cards.pro.monthly", trial: .ifEligible),
            .subscribe(product: "cards.pro.monthly", trial: .ifEligible),
            .subscribe(product: "cards.pro.weekly", trial: .declined),
            .changePlan(to: "cards.pro.weekly"), .changePlan(to: "cards.pro.monthly"),
            .buy(product: "cards.coins", outsideApp: false),
            .askToBuy(product: "cards.pro.monthly"), .approvePurchase(product: nil),
            .failPayments, .failPayments, .fixPayments, .fixPayments, .fixPayments,
            .cancel(product: nil), .reenable(product: nil),
            .requestRefund(product: nil, reason: .other),
            .refund(product: nil, reason: .appIssue), .reverseRefund(product: nil),
            .share(product: nil, with: random.pick(Self.names)),
            .extendRenewal(product: nil, days: 3),
        ]
        let action = random.pick(actions)
        do {
            try await store.perform(action, by: name)
            return ["\(await store.now) \(name) \(action)"]
        } catch {
            return ["\(await store.now) \(name) \(action): \(error.reason)"]
        }
    }

    /// Reads the device's purchases and the outcome of the store's message.
    private mutating func look() async throws -> [String] {
        let name = random.pick(Self.names)
        let shown = try await store.device(of: name).map { purchase in
            "\(purchase.productId) \(purchase.transactionId) \(purchase.end ?? 0)"
        }
        return shown + ["\(try await store.openApp(name))"]
    }

    /// Records only the status of an answer, because its signatures differ each time.
    private mutating func ask() async throws -> [String] {
        let told = await store.letters.compactMap { $0.notification.transaction }
        guard !told.isEmpty, let id = random.pick(told)["transactionId"]?.string else {
            await store.requestTestNotification()
            return []
        }
        let token = try StoreClient.token(at: await store.now, by: key)
        let target = random.pick([
            "/inApps/v1/subscriptions/\(id)", "/inApps/v2/history/\(id)",
            "/inApps/v2/refund/lookup/\(id)",
        ])
        let request = Request(
            method: "GET",
            target: target,
            headers: ["Authorization": "Bearer \(token)"]
        )
        let answer = try await store.serverAPI(try #require(request))
        return ["\(target): \(answer.status)"]
    }

    private mutating func pass() async throws -> [String] {
        let later = await store.now + random.number(in: 1...4 * Self.day)
        let next = await store.nextEvent.map { min($0, later) } ?? later
        // Usually to the next event, sometimes past many.
        let instant = max(random.number(in: 0...2) == 0 ? later : next, await store.now)
        var heard: [String] = []
        while let attempt = try await store.advance(to: instant) {
            let content = String(decoding: attempt.notification.unsigned, as: UTF8.self)
            let result = random.pick(
                [AppStorePost.SendResult.success, .success, .unsuccessfulStatus]
            )
            heard.append(
                "\(await store.now) \(attempt.number) \(attempt.fault.map { "\($0)" } ?? "") \(content)"
            )
            await store.end(attempt, result)
        }
        return heard
    }
}
