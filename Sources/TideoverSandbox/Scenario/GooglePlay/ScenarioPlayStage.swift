import TideoverHTTP
import TideoverJSON

/// The Google Play part of a scenario run.
struct ScenarioPlayStage: Sendable {
    let store: SimulatedGooglePlay
    private let path: String
    private let app: String
    private let play: ScenarioGooglePlay

    init(
        _ play: ScenarioGooglePlay,
        of scenario: Scenario,
        _ target: ScenarioPlayTarget,
        _ dial: StoreTimeScale
    ) async {
        store = SimulatedGooglePlay(
            play.app,
            seed: scenario.seed,
            now: scenario.start,
            authority: target.authority ?? PlayAuthority(seed: scenario.seed),
            push: target.push,
            habits: play.habits,
            accounts: target.account.map { [$0] } ?? [],
            tokenURL: target.tokenURL,
            dial: dial,
            // No simulated time passes during a wait.
            wait: { _ in await Task.yield() }
        )
        self.play = play
        (path, app) = (target.deliverPath, scenario.app.id)
        for customer in play.customers {
            do {
                try await store.register(customer)
            } catch {
                preconditionFailure("a scenario names each customer once: \(error)")
            }
        }
        await target.meetGoogle(store.google)
    }

    func request(for attempt: SimulatedGooglePlay.Attempt) -> Request {
        ScenarioTarget.request(
            "POST",
            path,
            ["app": app],
            headers: attempt.headers,
            body: attempt.body
        )
    }

    /// Returns the expiry that a naive check would store for a message; nil if it has none.
    func expiry(told message: PlayMessage) async -> Int64? {
        let content = try? JSONDocument(message.data).root
        let token = content?["subscriptionNotification"]?["purchaseToken"]?.string
        guard let token, let resource = await store.subscription(token: token) else { return nil }
        let items = resource["lineItems"]?.array ?? []
        return items.compactMap { $0["expiryTime"]?.string.flatMap(InstantText.read) }.max()
    }

    /// Returns the store's state of each product of a customer that unlocks an entitlement.
    func truths(of customer: String, by instant: Int64) async -> [AppStoreExpectedState] {
        // This store can be ahead of the other one by events that are still due at this instant.
        await store.holdings(of: customer, at: min(instant, await store.now))
            .filter { !(play.entitlements[$0.product] ?? []).isEmpty }
            .map { AppStoreExpectedState($0.truth) }
    }

    /// Returns the purchases that a device reports for the customer.
    func purchases(of customer: String) async -> [JSONValue] {
        var purchases: [JSONValue] = []
        for token in await store.tokens(of: customer) {
            var purchase: JSONObject = ["store": "google", "purchaseToken": .string(token)]
            if let item = await store.subscription(token: token)?["lineItems"]?.array?.first {
                purchase["productId"] = item["productId"]
                purchase["basePlanIdAndroid"] = item["offerDetails"]?["basePlanId"]
            }
            purchases.append(.object(purchase))
        }
        return purchases
    }

    // MARK: Acting

    /// Performs a step, and returns the reason of the store's refusal, if there is one.
    func perform(
        _ deed: ScenarioPlayAction.Deed,
        by customer: String?
    ) async -> GooglePlayRefusal? {
        do {
            switch deed {
            case .act(let action, let acknowledges):
                guard let customer else { return nil }
                try await store.perform(action, by: customer)
                if acknowledges { try await acknowledge(what: customer) }
            case .write(let write):
                guard let customer else { return nil }
                try await store.write(try await self.write(write, to: customer))
            case .requestTestNotification: try await store.requestTestNotification()
            case .disturbNotifications(let rule): await store.add(rule)
            case .disturb(let rule): await store.add(rule)
            case .disturbPubSub(let habits): await store.setHabits(habits)
            case .endDisturbances:
                await store.clearFaults()
                await store.clearWireFaults()
                await store.setHabits(play.habits)
            case .loseNotifications: break
            }
            return nil
        } catch {
            return error
        }
    }

    /// Acknowledges a customer's purchase, as the app does, unless its payment is still pending.
    private func acknowledge(what customer: String) async throws(GooglePlayRefusal) {
        let holdings = await store.holdings(of: customer, at: await store.now)
        guard let newest = holdings.last, newest.truth.isEntitled else { return }
        try await store.write(.acknowledge(token: newest.token))
    }

    private func write(
        _ write: ScenarioPlayAction.Write,
        to customer: String
    ) async throws(GooglePlayRefusal) -> GooglePlayWrite {
        guard let token = await store.tokens(of: customer).last else {
            throw GooglePlayRefusal(.notBought, customer)
        }
        switch write {
        case .acknowledge: return .acknowledge(token: token)
        case .consume: return .consume(token: token)
        case .cancel: return .cancel(token: token, .userRequestedStopRenewals)
        case .postpone(let length):
            return .deferRenewal(token: token, milliseconds: length, etag: nil)
        case .revoke(let revocation): return .revoke(token: token, revocation)
        case .refundOrder(let revokes):
            return .refund(order: await store.newestOrder(of: token) ?? "", revokes: revokes)
        }
    }
}

extension AppStoreExpectedState {
    /// Converts the state in Google Play to the type that both stores share.
    fileprivate init(_ truth: GooglePlayExpectedState) {
        self =
            switch truth {
            case .never, .pending: .never
            case .active(let until): until.map { .active(until: $0) } ?? .owned
            case .grace(let until): .grace(until: until)
            case .hold(let until), .paused(let until): .retry(until: until)
            case .expired: .expired
            case .revoked: .revoked
            }
    }
}
