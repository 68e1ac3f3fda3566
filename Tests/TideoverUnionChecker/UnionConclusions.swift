package import TideoverCore
package import TideoverJSON

extension UnionChecker {
    /// The instant that an SDK compares with: the request date while it is at most three days old
    /// by the device's clock, else the device's clock. The web uses only the latter.
    package func reference(on platform: Platform, deviceNow: Instant? = nil) -> Instant {
        let asked = platform == .ios && iosUsesBody ? bodyDate : requestDate
        let deviceNow = deviceNow ?? asked
        if platform == .web { return deviceNow }
        return deviceNow - asked > .days(3) ? deviceNow : asked
    }

    /// Whether an SDK shows an entitlement as active; false for one that is not listed.
    package func isActive(_ name: String, on platform: Platform, deviceNow: Instant? = nil) -> Bool
    {
        guard let entitlement = entitlements[name] else { return false }
        if platform == .web, purchases[entitlement.product] != nil { return true }
        return isRunning(
            entitlement.expires,
            at: reference(on: platform, deviceNow: deviceNow),
            platform
        )
    }

    private func isRunning(_ end: Instant?, at instant: Instant, _ platform: Platform) -> Bool {
        guard let end else { return true }
        return platform == .ios ? end >= instant : end > instant
    }

    /// The subscription that an SDK reads for an entitlement; nil for a one-time purchase.
    private func subscription(
        of entitlement: Entitlement,
        on platform: Platform
    ) -> Subscription? {
        if platform == .ios, purchases[entitlement.product] != nil { return nil }
        return subscriptions[entitlement.product]
    }

    /// The end that an SDK shows.
    package func expirationDate(_ name: String, on platform: Platform) -> Instant? {
        guard let entitlement = entitlements[name] else { return nil }
        guard platform == .ios else { return entitlement.expires }
        return subscription(of: entitlement, on: platform)?.expires
    }

    package func willRenew(_ name: String, on platform: Platform) -> Bool {
        guard let entitlement = entitlements[name] else { return false }
        let end = expirationDate(name, on: platform)
        guard let subscription = subscription(of: entitlement, on: platform) else {
            return end != nil && purchases[entitlement.product]?.last?.store != "promotional"
        }
        return subscription.willRenew(until: end, on: platform)
    }

    package func activeSubscriptions(on platform: Platform) -> [String] {
        subscriptions.filter { _, value in
            isRunning(value.expires, at: reference(on: platform), platform)
        }
        .map(Self.key).sorted()
    }

    /// The key of a subscription that apps see.
    private static func key(_ product: String, _ subscription: Subscription) -> String {
        subscription.plan.map { "\(product):\($0)" } ?? product
    }

    /// What an SDK shows of each subscription, such as `active=true renew=true`, by product.
    package func subscriptionInfos(on platform: Platform) -> [String: String] {
        subscriptions.mapValues { value in
            let isActive = isRunning(value.expires, at: reference(on: platform), platform)
            let renews = value.willRenew(until: value.expires, on: platform)
            return "active=\(isActive) renew=\(renews)"
        }
    }
}

extension UnionChecker.Subscription {
    fileprivate func willRenew(until end: Instant?, on platform: UnionChecker.Platform) -> Bool {
        let isPrepaid = period == "prepaid" && platform != .web
        return store != "promotional" && end != nil && unsubscribed == nil && billingIssue == nil
            && !isPrepaid
    }
}

// MARK: - Conclusions in the form of the golden data

extension UnionChecker {
    /// All that iOS or Android concludes, in the form in which the results of their own decoders
    /// are stored. Lists are sorted.
    package func conclusions(on platform: Platform) -> JSONValue {
        var found: JSONObject = ["decode": "ok"]
        var shown = JSONObject()
        for name in entitlements.keys.sorted() { shown[name] = conclusion(name, on: platform) }
        found["entitlements"] = .object(shown)
        found["activeSubscriptions"] = .array(
            activeSubscriptions(on: platform).map(JSONValue.string)
        )
        let infos = subscriptionInfos(on: platform).sorted { $0.key < $1.key }
        if platform == .ios {
            found["subscriptionInfos"] = .object(
                infos.reduce(into: JSONObject()) { $0[$1.key] = .string($1.value) }
            )
        } else {
            found["subscriptionInfos"] = .array(infos.map { .string("\($0.key) \($0.value)") })
            if !consumed.isEmpty { found["shouldConsume"] = .string(consumption) }
        }
        return .object(found)
    }

    private var consumption: String {
        let items = consumed.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return "[\(items.joined(separator: ", "))]"
    }

    private func conclusion(_ name: String, on platform: Platform) -> JSONValue? {
        guard let entitlement = entitlements[name] else { return nil }
        let product = entitlement.product
        guard subscriptions[product] != nil || purchases[product] != nil else { return nil }
        let subscription = subscription(of: entitlement, on: platform)
        let period = subscription?.period ?? "normal"
        let end = expirationDate(name, on: platform)
        return [
            "isActive": .bool(isActive(name, on: platform)),
            "willRenew": .bool(willRenew(name, on: platform)),
            "expirationDate": end.map { .string(Self.text(of: $0)) } ?? .null,
            "product": .string(product),
            "period": .string(platform == .ios ? period : period.uppercased()),
            "ownership": .string(Self.ownership(subscription, on: platform)),
        ]
    }

    private static func ownership(_ subscription: Subscription?, on platform: Platform) -> String {
        guard platform == .ios else { return subscription?.ownership ?? "UNKNOWN" }
        return subscription?.ownership == "FAMILY_SHARED" ? "familyShared" : "purchased"
    }

    /// Returns a date in whole seconds, or in microseconds.
    private static func text(of date: Instant) -> String {
        let text = date.rfc3339
        return text.hasSuffix(".000Z") ? text.dropLast(5) + "Z" : text.dropLast() + "000Z"
    }
}

// MARK: - Traps

extension UnionChecker {
    /// What both decoders accept, and what then misleads an app or the other SDK. `isStored` is
    /// whether the body has the date of an earlier request.
    package func traps(isStored: Bool = false) -> [Refusal] {
        keyTraps + productTraps + dateTraps + requestDateTraps(isStored: isStored)
    }

    /// iOS crashes if two keys meet once the base plan is appended. iOS and Android disagree on an
    /// ID that is in both maps, and the last of a product's purchases represents it.
    private var keyTraps: [Refusal] {
        let keys = subscriptions.map(Self.key)
        var traps: [Refusal] = []
        if Set(keys).count < keys.count { traps.append(Refusal("subscriptions", "a key twice")) }
        for key in subscriptions.keys {
            if key.contains(":") { traps.append(Refusal(key, "a base plan in a key")) }
            if purchases[key] != nil { traps.append(Refusal(key, "in both maps")) }
        }
        for (key, list) in purchases where list.map(\.date) != list.map(\.date).sorted() {
            traps.append(Refusal(key, "the oldest purchase is not the first"))
        }
        return traps
    }

    /// An entitlement vanishes without its product. iOS reads the base plan of the subscription,
    /// Android that of the entitlement.
    private var productTraps: [Refusal] {
        entitlements.compactMap { name, entitlement in
            let product = entitlement.product
            guard let subscription = subscriptions[product] else {
                return purchases[product] == nil
                    ? Refusal(name, "its product \(product) is not listed") : nil
            }
            return subscription.plan == entitlement.plan
                ? nil : Refusal(name, "its base plan is not that of \(product)")
        }
    }

    /// Both SDKs ignore the end of grace and the date of a refund. One of them reads an end at the
    /// request date as past.
    private var dateTraps: [Refusal] {
        let references = [Platform.ios, .android].map { reference(on: $0) }
        let earliest = references.min() ?? requestDate
        var traps: [Refusal] = []
        for (name, value) in entitlements {
            guard let end = value.expires else { continue }
            if references.contains(end) { traps.append(Refusal(name, "ends at the request date")) }
            if let grace = value.graceEnd, grace > earliest, end <= earliest {
                traps.append(Refusal(name, "inactive in grace"))
            }
        }
        for (key, value) in subscriptions {
            if let end = value.expires, references.contains(end) {
                traps.append(Refusal(key, "ends at the request date"))
            }
            guard let refunded = value.refunded, refunded <= earliest else { continue }
            if value.expires.map({ $0 > earliest }) ?? true {
                traps.append(Refusal(key, "active after a refund"))
            } else if value.unsubscribed == nil {
                traps.append(Refusal(key, "renews after a refund"))
            }
        }
        return traps
    }

    private func requestDateTraps(isStored: Bool) -> [Refusal] {
        func isOther(_ instant: Instant) -> Bool {
            let difference = instant - bodyDate
            return difference >= .seconds(1) || difference <= .seconds(-1)
        }
        var traps: [Refusal] = []
        if let milliseconds = statedMilliseconds,
            isOther(Instant(millisecondsSince1970: milliseconds))
        {
            traps.append(Refusal("request_date_ms", "another instant than request_date"))
        }
        if !isStored, isOther(requestDate) {
            traps.append(Refusal("request time", "another instant than request_date"))
        }
        return traps
    }

    /// What keeps an SDK from handling the purchase of a receipt: Android has to know whether to
    /// consume it, and iOS finishes a one-time purchase only if it is listed. `request` is the body
    /// of the request.
    package func receiptTraps(_ request: JSONValue, on platform: Platform) -> [Refusal] {
        let product = request["product_id"]?.string
        let products = request["product_ids"]?.array?.compactMap(\.string)
        let asked = products ?? [product].compactMap(\.self)
        let missing = asked.filter { consumed[$0] == nil }.map {
            Refusal("purchased_products.\($0)", "should_consume is missing")
        }
        guard platform == .ios, let product, subscriptions[product] == nil,
            let transaction = request["transaction_id"]?.string,
            purchases[product]?.contains(where: { $0.transactionId == transaction }) != true
        else { return missing }
        return missing + [Refusal("non_subscriptions.\(product)", "lacks \(transaction)")]
    }
}
