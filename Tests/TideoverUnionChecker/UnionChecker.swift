package import TideoverCore
import TideoverJSON

/// Reads a customer info as the decoders of RevenueCat's SDKs do, all at once: it refuses what any
/// of them refuses, drops or crashes on, and computes what each concludes.
package struct UnionChecker {
    package struct Refusal: Error, Hashable, CustomStringConvertible {
        package let description: String

        init(_ place: String, _ fault: String) { description = "\(place): \(fault)" }
    }

    package enum Platform: String, CaseIterable {
        case ios = "purchases-ios"
        case android = "purchases-android"
        case web = "purchases-js"
    }

    package struct Entitlement {
        package let product: String
        package let plan: String?
        package let expires: Instant?
    }

    package struct Subscription {
        package let plan: String?
        package let expires: Instant?
        package let store: String
        package let period: String
        package let ownership: String?
        package let isSandbox: Bool
        package let unsubscribed: Instant?
        package let billingIssue: Instant?
    }

    package let requestDate: Instant
    package private(set) var entitlements: [String: Entitlement] = [:]
    package private(set) var subscriptions: [String: Subscription] = [:]
    package private(set) var purchases: [String: [String]] = [:]
    /// By product: whether Android consumes it.
    package private(set) var consumed: [String: Bool] = [:]

    /// Reads a body and the value of the request-time header, if any.
    package init(_ body: [UInt8], requestTime: String? = nil) throws {
        let root: JSONNode
        do { root = try JSONDocument(body).root } catch { throw Refusal("body", "\(error)") }
        let top = Members(root, "")
        let inBody = try top.date("request_date")
        if let requestTime {
            guard let milliseconds = Int64(requestTime) else {
                throw Refusal("request time", "not decimal digits")
            }
            requestDate = Instant(millisecondsSince1970: milliseconds)
        } else {
            requestDate = inBody
        }
        _ = try top.optional("request_date_ms", \.int64)
        let subscriber = try top.object("subscriber")
        _ = try subscriber.text("original_app_user_id")
        _ = try subscriber.date("first_seen")
        for name in ["management_url", "original_application_version"] {
            _ = try subscriber.optional(name, \.string)
        }
        _ = try subscriber.optionalDate("original_purchase_date")
        for (key, node) in try subscriber.object("subscriptions").node.members {
            subscriptions[key] = try Subscription(Members(node, "subscriptions.\(key)"))
        }
        for (key, list) in try subscriber.object("non_subscriptions").node.members {
            purchases[key] = try list.elements.map {
                try Self.purchase(Members($0, "non_subscriptions.\(key)"))
            }
        }
        try requireDistinctKeys()
        guard let all = subscriber.node["entitlements"], !all.isNull else { return }
        for (name, node) in all.members {
            entitlements[name] = try entitlement(Members(node, "entitlements.\(name)"))
        }
        for (product, node) in root["purchased_products"]?.members.map({ $0 }) ?? [] {
            consumed[product] = try Members(node, product).needed("should_consume", \.bool)
        }
    }

    /// iOS crashes if two keys meet once the base plan is appended. iOS and Android disagree on an
    /// ID that is in both maps.
    private func requireDistinctKeys() throws {
        let keys = subscriptions.map { key, value in
            value.plan.map { "\(key):\($0)" } ?? key
        }
        let all = keys + purchases.keys
        guard Set(all).count == all.count else { throw Refusal("keys", "repeated: \(all)") }
        for key in subscriptions.keys where purchases[key] != nil {
            throw Refusal(key, "in both maps")
        }
        for (key, value) in subscriptions where value.plan != nil && key.contains(":") {
            throw Refusal(key, "a base plan in a key")
        }
    }

    private func entitlement(_ members: Members) throws -> Entitlement {
        let product = try members.text("product_identifier")
        guard subscriptions[product] != nil || purchases[product]?.isEmpty == false else {
            throw Refusal(members.place, "its product \(product) is not listed")
        }
        _ = try members.date("purchase_date")
        _ = try members.optionalDate("grace_period_expires_date")
        return Entitlement(
            product: product,
            plan: try members.textOrAbsent("product_plan_identifier"),
            expires: try members.optionalDate("expires_date")
        )
    }

    /// Returns the store's transaction ID.
    private static func purchase(_ members: Members) throws -> String {
        _ = try members.text("id")
        _ = try members.text("store")
        _ = try members.date("purchase_date")
        _ = try members.date("original_purchase_date")
        _ = try members.needed("is_sandbox", \.bool)
        _ = try members.textOrAbsent("display_name")
        try members.requirePrice()
        return try members.text("store_transaction_id")
    }
}

extension UnionChecker.Subscription {
    fileprivate init(_ members: Members) throws {
        _ = try members.date("purchase_date")
        _ = try members.date("original_purchase_date")
        expires = try members.optionalDate("expires_date")
        store = try members.text("store")
        isSandbox = try members.needed("is_sandbox", \.bool)
        period = try members.word("period_type", ["normal", "intro", "trial", "prepaid"])
        ownership = try members.textOrAbsent("ownership_type")
        if let ownership, !["PURCHASED", "FAMILY_SHARED"].contains(ownership) {
            throw UnionChecker.Refusal(members.place, "ownership \(ownership)")
        }
        unsubscribed = try members.optionalDate("unsubscribe_detected_at")
        billingIssue = try members.optionalDate("billing_issues_detected_at")
        for name in ["grace_period_expires_date", "refunded_at", "auto_resume_date"] {
            _ = try members.optionalDate(name)
        }
        plan = try members.textOrAbsent("product_plan_identifier")
        for name in ["store_transaction_id", "display_name", "management_url"] {
            _ = try members.optional(name, \.string)
        }
        try members.requirePrice()
    }
}

/// An object of a body, with its place for messages.
private struct Members {
    let node: JSONNode
    let place: String

    init(_ node: JSONNode, _ place: String) {
        self.node = node
        self.place = place
    }

    private func fault(_ name: String, _ text: String) -> UnionChecker.Refusal {
        UnionChecker.Refusal("\(place).\(name)", text)
    }

    func object(_ name: String) throws -> Members {
        guard let member = node[name], member.kind == .object else {
            throw fault(name, "not an object")
        }
        return Members(member, name)
    }

    func needed<Value>(_ name: String, _ read: (JSONNode) -> Value?) throws -> Value {
        guard let member = node[name] else { throw fault(name, "absent") }
        guard let value = read(member) else { throw fault(name, "of another type") }
        return value
    }

    func optional<Value>(_ name: String, _ read: (JSONNode) -> Value?) throws -> Value? {
        guard let member = node[name], !member.isNull else { return nil }
        guard let value = read(member) else { throw fault(name, "of another type") }
        return value
    }

    func text(_ name: String) throws -> String { try needed(name, \.string) }

    /// A text that Android reads as "null" if it is null.
    func textOrAbsent(_ name: String) throws -> String? {
        guard node[name] != nil else { return nil }
        return try text(name)
    }

    func word(_ name: String, _ known: [String]) throws -> String {
        let word = try text(name)
        guard known.contains(word) else { throw fault(name, "the word \(word)") }
        return word
    }

    func date(_ name: String) throws -> Instant {
        try needed(name) { $0.string.flatMap { Instant(rfc3339: $0) } }
    }

    func optionalDate(_ name: String) throws -> Instant? {
        try optional(name) { $0.string.flatMap { Instant(rfc3339: $0) } }
    }

    func requirePrice() throws {
        guard let price = node["price"], !price.isNull else { return }
        let members = Members(price, "\(place).price")
        let amount = try members.needed("amount") { $0.kind == .number ? $0.double : nil }
        let currency = try members.text("currency")
        guard amount.isFinite, currency.utf8.count == 3 else { throw fault("price", "malformed") }
    }
}

// MARK: - Conclusions

extension UnionChecker {
    /// The instant that an SDK compares with: the request date while it is at most three days old
    /// by the device's clock, else the device's clock. The web uses only the latter.
    package func reference(on platform: Platform, deviceNow: Instant? = nil) -> Instant {
        let deviceNow = deviceNow ?? requestDate
        if platform == .web { return deviceNow }
        return deviceNow - requestDate > .days(3) ? deviceNow : requestDate
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

    /// The end that an SDK shows.
    package func expirationDate(_ name: String, on platform: Platform) -> Instant? {
        guard let entitlement = entitlements[name] else { return nil }
        return platform == .ios
            ? subscriptions[entitlement.product]?.expires : entitlement.expires
    }

    package func willRenew(_ name: String, on platform: Platform) -> Bool {
        guard let entitlement = entitlements[name] else { return false }
        let end = expirationDate(name, on: platform)
        guard let subscription = subscriptions[entitlement.product] else { return end != nil }
        return subscription.willRenew(until: end, on: platform)
    }

    package func activeSubscriptions(on platform: Platform) -> [String] {
        subscriptions.filter { _, value in
            isRunning(value.expires, at: reference(on: platform), platform)
        }
        .map { key, value in value.plan.map { "\(key):\($0)" } ?? key }.sorted()
    }

    /// What an SDK shows of each subscription, such as `cards.pro.monthly active=true renew=true`.
    package func subscriptionInfos(on platform: Platform) -> [String] {
        subscriptions.map { key, value in
            let isActive = isRunning(value.expires, at: reference(on: platform), platform)
            let renews = value.willRenew(until: value.expires, on: platform)
            return "\(key) active=\(isActive) renew=\(renews)"
        }
        .sorted()
    }
}

extension UnionChecker.Subscription {
    fileprivate func willRenew(until end: Instant?, on platform: UnionChecker.Platform) -> Bool {
        let isPrepaid = period == "prepaid" && platform != .web
        return store != "promotional" && end != nil && unsubscribed == nil && billingIssue == nil
            && !isPrepaid
    }
}
