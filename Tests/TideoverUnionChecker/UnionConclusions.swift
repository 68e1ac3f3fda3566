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
        var traps: [Refusal] = []
        var keys: Set<String> = []
        for (product, value) in subscriptions.sorted(by: { $0.key < $1.key }) {
            let place = "subscriptions.\(product)"
            if !keys.insert(Self.key(product, value)).inserted {
                traps.append(Refusal(place, "a key twice"))
            }
            if product.contains(":") { traps.append(Refusal(place, "a base plan in a key")) }
            if purchases[product] != nil { traps.append(Refusal(place, "in both maps")) }
        }
        for (product, list) in purchases where list.map(\.date) != list.map(\.date).sorted() {
            let place = "non_subscriptions.\(product)"
            traps.append(Refusal(place, "the oldest purchase is not the first"))
        }
        return traps
    }

    /// An entitlement vanishes without its product. iOS reads the base plan of the subscription,
    /// Android that of the entitlement.
    private var productTraps: [Refusal] {
        entitlements.compactMap { name, entitlement in
            let (place, product) = ("entitlements.\(name)", entitlement.product)
            guard let subscription = subscriptions[product] else {
                return purchases[product] == nil
                    ? Refusal(place, "its product \(product) is not listed") : nil
            }
            return subscription.plan == entitlement.plan
                ? nil : Refusal(place, "its base plan is not that of \(product)")
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
            let place = "entitlements.\(name)"
            if references.contains(end) { traps.append(Refusal(place, "ends at the request date")) }
            if let grace = value.graceEnd, grace > earliest, end <= earliest {
                traps.append(Refusal(place, "inactive in grace"))
            }
        }
        for (product, value) in subscriptions {
            let place = "subscriptions.\(product)"
            if let end = value.expires, references.contains(end) {
                traps.append(Refusal(place, "ends at the request date"))
            }
            guard let refunded = value.refunded, refunded <= earliest else { continue }
            if value.expires.map({ $0 > earliest }) ?? true {
                traps.append(Refusal(place, "active after a refund"))
            } else if value.unsubscribed == nil {
                traps.append(Refusal(place, "renews after a refund"))
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
            traps.append(Refusal(Self.requestTimeHeader, "another instant than request_date"))
        }
        return traps
    }
}
